// What runs of `make test` and `make test-nightly` showed, as Markdown: kept in docs/guarantees.md by write-guarantees.ts.
import { type Bar, type BarName, bars, type Figure } from '../test/bars.ts';

/** Whose bars a run had. */
export type RunKind = 'test' | 'nightly';

/** A run of the large tests, as it is kept. */
export interface FiguresRun {
  kind: RunKind;
  date: string;
  machine: string;
  minutes: number;
  /** How many runs it was made of, where it was more than one. */
  parts?: number;
  figures: (Figure & { bar: BarName })[];
}

const commands = { test: '`make test`', nightly: '`make test-nightly`' };

/** A row a bar: promise, test, what was to be done, what was done. Pure. */
export function renderFigures({ kind, date, machine, minutes, parts = 1, figures }: FiguresRun): string {
  const inParts = parts === 1 ? '' : ` in ${parts} parts`;
  const head = `${commands[kind]} of ${date} on ${machine},${inParts} ${minutes} minutes. A test that meets one violation fails.`;
  const asked = Object.entries<Bar>(bars).filter(([, bar]) => bar[kind] > 0);
  const rows = asked.map(([name, bar]) => {
    const own = figures.filter((figure) => figure.bar === name);
    const done = own.reduce((sum, figure) => sum + figure.done, 0);
    const notes = own.flatMap(({ note }) => note ?? []);
    const seeds = own.flatMap(({ seed }) => (seed === undefined ? [] : [`seed ${seed}`]));
    return [
      bar.promise,
      `\`${bar.shownBy}\``,
      `${bar[kind].toLocaleString('en-US')} ${bar.counts}`,
      done.toLocaleString('en-US'),
      done < bar[kind] ? '**not shown**' : '0',
      [...new Set([...notes, ...seeds])].join('; '),
    ];
  });
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const names = ['promise', 'shown by', 'bar', 'done', 'violations', 'besides'];
  return `${head}\n\n${[line(names), `|${names.map(() => '---|').join('')}`, ...rows.map(line)].join('\n')}`;
}

/** A run of the large tests made of parts: of each bar what the part shows that did most. Pure. */
export function addPart(former: FiguresRun, part: FiguresRun): FiguresRun {
  const of = (run: FiguresRun, bar: BarName) => run.figures.filter((figure) => figure.bar === bar);
  const done = (figures: FiguresRun['figures']) => figures.reduce((sum, figure) => sum + figure.done, 0);
  const names = [...new Set([...former.figures, ...part.figures].map(({ bar }) => bar))];
  return {
    ...part,
    minutes: former.minutes + part.minutes,
    parts: (former.parts ?? 1) + 1,
    figures: names.flatMap((bar) => {
      const [before, now] = [of(former, bar), of(part, bar)];
      return done(now) >= done(before) ? now : before;
    }),
  };
}

/** The runs that are kept, of each kind the newest; where there is none, how to make one. Pure. */
export function renderKept(runs: Partial<Record<RunKind, FiguresRun>>): string {
  return (['test', 'nightly'] as const)
    .map((kind) => {
      const run = runs[kind];
      const none = `No run of ${commands[kind]} is kept yet: after one, \`npx tsx scripts/write-guarantees.ts --keep\`.`;
      return run === undefined ? none : renderFigures(run);
    })
    .join('\n\n');
}
