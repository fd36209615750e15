// The tables of a benchmark run, as Markdown: printed by run.ts, kept in docs/performance.md by write-performance.ts.
import { isMet, listBars } from './bars.ts';
import { type BenchResult, type CaseResult, medianOf } from './results.ts';

/** Everything that was measured: the bars first. Pure. */
export function renderTables(result: BenchResult): string {
  const { date, command, machine, cases } = result;
  const head = `Measured ${date} with \`${command}\` on ${machine}. Medians, with the fastest and slowest run.`;
  return [head, renderBars(result), ...Object.values(cases).map(renderCase)].join('\n\n');
}

function renderBars(result: BenchResult): string {
  const rows = listBars(result).map((bar) => [
    bar.says,
    `${bar.measured.toFixed(bar.measured >= 10 ? 0 : 2)}${bar.unit}`,
    `${bar.bound === 'least' ? '≥' : '≤'} ${bar.limit}${bar.unit}`,
    isMet(bar) ? 'yes' : '**no**',
  ]);
  return renderTable(['ratio', 'measured', 'bar', 'met'], rows);
}

function renderCase({ title, floor, contestants }: CaseResult): string {
  const floorSeconds = medianOf(contestants[floor]!).seconds;
  const rows = Object.values(contestants).map((contestant) => {
    const { seconds, cpuSeconds, peakMb, rows, requests, receivedMb, diskMb } = medianOf(contestant);
    const all = contestant.samples.map((sample) => sample.seconds);
    return [
      contestant.name,
      `${seconds.toFixed(2)} (${Math.min(...all).toFixed(2)}–${Math.max(...all).toFixed(2)})`,
      rate(rows, seconds),
      rate(requests, seconds),
      (floorSeconds / seconds).toFixed(2),
      cpuSeconds.toFixed(2),
      amount(peakMb),
      amount(receivedMb),
      amount(diskMb),
    ];
  });
  const names = [
    '',
    's',
    'rows/s',
    'requests/s',
    `of ${contestants[floor]!.name}`,
    'CPU s',
    'peak MB',
    'received MB',
    'on disk MB',
  ];
  return `### ${title}\n\n${renderTable(names, rows)}`;
}

const rate = (n: number, seconds: number) => (n === 0 ? '' : Math.round(n / seconds).toLocaleString('en-US'));
const amount = (n: number) => (n === 0 ? '' : Math.round(n).toLocaleString('en-US'));

function renderTable(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(names), `|${names.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}
