// What must hold, as ratios of medians that were taken in one run: machines differ, ratios hardly do.
import { type BenchResult, medianOf, type Sample } from './results.ts';

export interface Bar {
  says: string;
  /** The measured ratio or amount. */
  measured: number;
  /** `least`: measured must not be below it; `most`: not above. */
  bound: 'least' | 'most';
  limit: number;
  unit: string;
}

export function isMet({ measured, bound, limit }: Bar): boolean {
  return bound === 'least' ? measured >= limit : measured <= limit;
}

/** The bars of the cases that were run. Pure. */
export function listBars({ cases, options }: BenchResult): Bar[] {
  const of = (name: string, contestant: string): Sample => medianOf(cases[name]!.contestants[contestant]!);
  /** How fast `own` is where `other` is 1; both did the same. */
  const speed = (name: string, own: string, other: string) => of(name, other).seconds / of(name, own).seconds;
  const cpu = (name: string, own: string, other: string) =>
    of(name, own).cpuSeconds / of(name, other).cpuSeconds;
  const bars: Record<string, () => Omit<Bar, 'unit'>[]> = {
    assets: () => [
      least('assets, whole run : HTTP + JSON.parse', speed('assets', 'run', 'parse'), 0.45),
      least('assets, whole run : SDK + JSON.parse + appender', speed('assets', 'run', 'peer'), 1.2),
    ],
    accounts: () => [
      least(
        'token accounts, crawl + typed rows : HTTP + JSON.parse',
        speed('accounts', 'rows', 'parse'),
        0.7,
      ),
    ],
    targets: () => [least('many small targets, crawl : HTTP only', speed('targets', 'crawl', 'http'), 0.5)],
    warehouse: () => [
      least(
        `${count(options.warehouse!)} rows in the warehouse, next run : a run into an empty one`,
        speed('warehouse', 'next', 'empty'),
        0.8,
      ),
      most(
        `a night of unchanged assets into ${count(options.warehouse!)} rows, seconds beside HTTP per 1 M`,
        ((of('warehouse', 'night').seconds - of('warehouse', 'http').seconds) / options.next!) * 1e6,
        40,
      ),
    ],
    nights: () => [
      most(
        'CPU of a night in which nothing changed, of a first night',
        cpu('nights', 'second', 'first'),
        0.25,
      ),
      most('CPU of a night with 1 % changed, of a first night', cpu('nights', 'changed', 'first'), 0.28),
      most(
        'archive of a night with 1 % changed, of a first night',
        of('nights', 'changed').diskMb / of('nights', 'first').diskMb,
        0.05,
      ),
    ],
    export: () => [
      least(`export of ${count(options.warehouse!)} rows : COPY`, speed('export', 'export', 'copy'), 0.8),
    ],
    start: () => [most('--version : node -e 0', 1 / speed('start', 'version', 'node'), 3)],
  };
  // Nights are all its own.
  const peaks = Object.entries(cases).flatMap(([key, { contestants }]) =>
    Object.values(contestants)
      .filter(({ name }) => key === 'nights' || name.startsWith('ledgerlake'))
      .flatMap(({ samples }) => samples.map(({ peakMb }) => peakMb)),
  );
  return [
    ...Object.keys(cases)
      .flatMap((name) => bars[name]!())
      .map((bar) => ({ ...bar, unit: '' })),
    ...(peaks.length === 0
      ? []
      : [{ ...most('peak memory of any ledgerlake process', Math.max(...peaks), 512), unit: ' MB' }]),
  ];
}

const least = (says: string, measured: number, limit: number) => ({
  ...{ says, measured, limit },
  bound: 'least' as const,
});
const most = (says: string, measured: number, limit: number) => ({
  ...{ says, measured, limit },
  bound: 'most' as const,
});

/** 1,000,000 as 1 M. */
export function count(rows: number): string {
  return rows >= 1e6 ? `${rows / 1e6} M` : rows.toLocaleString('en-US');
}
