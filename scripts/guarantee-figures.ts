// What a run of `make test-nightly` showed, as Markdown: kept in docs/guarantees.md by write-guarantees.ts.
import { type Bar, type BarName, bars, type Figure } from '../test/bars.ts';

/** A run of the large tests, as it is kept. */
export interface FiguresRun {
  date: string;
  machine: string;
  minutes: number;
  figures: (Figure & { bar: BarName })[];
}

/** A row a bar: promise, test, what was to be done, what was done. Pure. */
export function renderFigures({ date, machine, minutes, figures }: FiguresRun): string {
  const head = `\`make test-nightly\` of ${date} on ${machine}, ${minutes} minutes. A test that meets one violation fails.`;
  const rows = Object.entries<Bar>(bars).map(([name, bar]) => {
    const own = figures.filter((figure) => figure.bar === name);
    const done = own.reduce((sum, figure) => sum + figure.done, 0);
    const notes = own.flatMap(({ note }) => note ?? []);
    const seeds = own.flatMap(({ seed }) => (seed === undefined ? [] : [`seed ${seed}`]));
    return [
      bar.promise,
      `\`${bar.shownBy}\``,
      `${bar.nightly.toLocaleString('en-US')} ${bar.counts}`,
      done.toLocaleString('en-US'),
      done < bar.nightly ? '**not shown**' : '0',
      [...new Set([...notes, ...seeds])].join('; '),
    ];
  });
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const names = ['promise', 'shown by', 'bar', 'done', 'violations', 'besides'];
  return `${head}\n\n${[line(names), `|${names.map(() => '---|').join('')}`, ...rows.map(line)].join('\n')}`;
}
