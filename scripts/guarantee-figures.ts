// Figures of `make test`, `make test-daily` and `make test-release` as Markdown, which write-guarantees.ts puts into docs/guarantees.md.

import { type Bar, type BarName, bars, type Figure, type Level, levels } from '../test/bars.ts';
import { type Need, needs } from '../test/support/needs.ts';

/** A run of the large tests, as test/figures.json has it. */
export interface FiguresRun {
  /** Which command it was; their bars differ. */
  kind: Level;
  date: string;
  machine: string;
  minutes: number;
  /** How many runs it was made of, if more than one. */
  parts?: number;
  figures: (Figure & { bar: BarName })[];
  /** What its machine lacked, and tests were skipped for. */
  lacks?: Need[];
}

const commands = { test: '`make test`', daily: '`make test-daily`', release: '`make test-release`' };

/** A table with one row per bar: promise, test, what was to be done, what was done. Pure. */
export function renderFigures({
  kind,
  date,
  machine,
  minutes,
  parts = 1,
  figures,
  lacks = [],
}: FiguresRun): string {
  const inParts = parts === 1 ? '' : ` in ${parts} parts`;
  const head = `${commands[kind]} of ${date} on ${machine},${inParts} ${minutes} minutes. A test that meets one violation fails.`;
  const barsOfKind = Object.entries<Bar>(bars).filter(([, bar]) => bar[kind] > 0);
  const rows = barsOfKind.map(([name, bar]) => {
    const barFigures = figures.filter((figure) => figure.bar === name);
    const done = barFigures.reduce((sum, figure) => sum + figure.done, 0);
    const notes = barFigures.flatMap(({ note }) => note ?? []);
    const seeds = barFigures.flatMap(({ seed }) => (seed === undefined ? [] : [`seed ${seed}`]));
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
  const names = ['promise', 'shown by', 'bar', 'done', 'violations', 'notes'];
  const missing = lacks.map(
    (need) => `${needs[need].what}${needs[need].get === null ? '' : ` (${needs[need].get})`}`,
  );
  const skipped =
    missing.length === 0 ? '' : `\n\nTests were skipped, because the machine lacked: ${missing.join(', ')}.`;
  return `${head}${skipped}\n\n${[line(names), `|${names.map(() => '---|').join('')}`, ...rows.map(line)].join('\n')}`;
}

/** Adds a part to a run of the large tests: for each bar, the part that did most shows it. Pure. */
export function addPart(former: FiguresRun, part: FiguresRun): FiguresRun {
  const figuresOf = (run: FiguresRun, bar: BarName) => run.figures.filter((figure) => figure.bar === bar);
  const done = (figures: FiguresRun['figures']) => figures.reduce((sum, figure) => sum + figure.done, 0);
  const names = [...new Set([...former.figures, ...part.figures].map(({ bar }) => bar))];
  return {
    ...part,
    minutes: former.minutes + part.minutes,
    parts: (former.parts ?? 1) + 1,
    figures: names.flatMap((bar) => {
      const [before, added] = [figuresOf(former, bar), figuresOf(part, bar)];
      return done(added) >= done(before) ? added : before;
    }),
  };
}

/** The newest kept run of each kind, or how to make one. Pure. */
export function renderKept(runs: Partial<Record<Level, FiguresRun>>): string {
  return levels
    .map((kind) => {
      const run = runs[kind];
      const none = `No run of ${commands[kind]} is kept yet: after one, \`npx tsx scripts/write-guarantees.ts --keep\`.`;
      return run === undefined ? none : renderFigures(run);
    })
    .join('\n\n');
}
