// The tables of a benchmark run, as Markdown: printed by run.ts, kept in docs/performance.md by write-performance.ts.
import { isMet, listBars } from './bars.ts';
import { type BenchResult, type CaseResult, medianOf } from './results.ts';

/** Everything that was measured: the bars first. Pure. */
export function renderTables(result: BenchResult): string {
  const { date, command, machine, cases } = result;
  const head = `Measured ${date} with \`${command}\` on ${machine}. Medians, with the fastest and slowest run.`;
  const month = cases.nights === undefined ? [] : [renderMonth(cases.nights)];
  return [head, renderBars(result), ...Object.values(cases).map(renderCase), ...month].join('\n\n');
}

/** A night's figures alone: docs/what-a-night-costs.md. Pure. */
export function renderNights({ date, command, machine, cases: { nights } }: BenchResult): string {
  if (nights === undefined) throw new Error('the run has no nights: npx tsx bench/run.ts --only nights');
  const head = `Measured ${date} with \`${command}\` on ${machine}, without export.`;
  return [head, renderCase(nights), renderMonth(nights)].join('\n\n');
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

/** What 30 nights of a million assets take on disk, at 1 % changed a night: reckoned from the first night and one such. */
function renderMonth({ contestants }: CaseResult): string {
  const [first, changed] = [medianOf(contestants.first!), medianOf(contestants.changed!)];
  const rows = Object.keys(first.grownMb ?? {}).map((part) => {
    const [once, nightly] = [first.grownMb![part]!, changed.grownMb?.[part] ?? 0].map(
      (mb) => (mb * 1e6) / first.rows,
    );
    return [part, amount(once!), amount(nightly!), amount(once! + 29 * nightly!)];
  });
  const names = ['MB, reckoned for 1 M assets', 'first night', 'a night with 1 % changed', '30 nights'];
  return `### 30 nights on disk\n\n${renderTable(names, rows)}`;
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
