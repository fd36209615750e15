import { appendFileSync } from 'node:fs';

/** How much of one promise a test run shows. docs/guarantees.md has the bars in this order. */
export interface Bar {
  promise: string;
  /** What is counted. */
  counts: string;
  shownBy: string;
  /** In `make test`. */
  test: number;
  /** In `make test-daily`. */
  daily: number;
  /** In `make test-release`. */
  release: number;
}

/**
 * How much each of the large tests does. In core-seconds of two cores: a kill 2.4, a cell 3.8, a step's state 1.1, a real death 4,
 * a hundred seeds 65, a damage 4, a thousand mutants 4, a sequence 35. docs/guarantees.md prints what the runs did.
 */
export const bars = {
  kills: {
    promise: 'nothing received is lost, nothing is applied twice',
    counts: 'runs killed at random moments',
    shownBy: 'test/chaos/crash/kill.test.ts',
    test: 6,
    daily: 60,
    release: 500,
  },
  cells: {
    promise: 'a network fault never costs correctness',
    counts: 'faults at stages of a run',
    shownBy: 'test/chaos/faults/matrix.test.ts',
    test: 28,
    daily: 60,
    release: 252,
  },
  minutes: {
    promise: 'limits are used and not exceeded',
    counts: 'minutes against a server with a limit',
    shownBy: 'test/unit/api/limits-real.test.ts',
    test: 0,
    daily: 0,
    release: 3,
  },
  steps: {
    promise: 'a run may die at any step',
    counts: 'verbs that died at every step',
    shownBy: 'test/chaos/crash/every-step.test.ts',
    test: 1,
    daily: 1,
    release: 10,
  },
  deaths: {
    promise: 'a run may die at any step',
    counts: 'real SIGKILLs at steps of a night',
    shownBy: 'test/chaos/crash/every-step.test.ts',
    test: 1,
    daily: 5,
    release: 100,
  },
  seeds: {
    promise: 'a crawl of a moving list invents and misses nothing',
    counts: 'simulated ledgers',
    shownBy: 'test/chaos/properties/moving-ledger.test.ts',
    test: 30,
    daily: 300,
    release: 10_000,
  },
  sequences: {
    promise: "any sequence of nights ends with the ledger's rows",
    counts: 'random sequences of nights',
    shownBy: 'test/chaos/sequences/sequences.test.ts',
    test: 1,
    daily: 2,
    release: 100,
  },
  nights: {
    promise: 'nothing grows with age',
    counts: 'nights of a folder that leave no more row groups, files and bytes',
    shownBy: 'test/chaos/aging.test.ts',
    test: 9,
    daily: 12,
    release: 24,
  },
  agedNights: {
    promise: 'nothing grows with age',
    counts: 'nights whose last costs what the fifth did',
    shownBy: 'test/chaos/aging.test.ts',
    test: 0,
    daily: 0,
    release: 60,
  },
  yearNights: {
    promise: 'nothing grows with age',
    counts: 'nights of a year, the last like the fifth',
    shownBy: 'test/chaos/aging.test.ts',
    test: 0,
    daily: 0,
    release: 365,
  },
  amounts: {
    promise: '64-bit numbers are exact',
    counts: 'amounts from 0 to 2^64-1',
    shownBy: 'test/e2e/exact-u64.test.ts',
    test: 10_000,
    daily: 10_000,
    release: 100_000,
  },
  readerKills: {
    promise: 'readers never see half a night',
    counts: 'runs killed beside a reader',
    shownBy: 'test/chaos/crash/snapshot.test.ts',
    test: 4,
    daily: 20,
    release: 200,
  },
  secondRuns: {
    promise: 'one run at a time',
    counts: 'second runs beside a first',
    shownBy: 'test/e2e/stop.test.ts',
    test: 2,
    daily: 5,
    release: 50,
  },
  stops: {
    promise: 'a run stops cleanly',
    counts: 'runs stopped by SIGTERM',
    shownBy: 'test/e2e/stop.test.ts',
    test: 2,
    daily: 5,
    release: 50,
  },
  controls: {
    promise: 'these tests can fail',
    counts: 'bugs planted, each caught by a test',
    shownBy: 'test/chaos/negative-controls/controls.test.ts',
    test: 0,
    daily: 0,
    release: 35,
  },
  mutants: {
    promise: 'one bad record costs one record',
    counts: 'mutants of real answers',
    shownBy: 'test/chaos/faults/mutations.test.ts',
    test: 1000,
    daily: 1000,
    release: 100_000,
  },
  fullDisks: {
    promise: 'a full disk loses nothing',
    counts: 'files without space',
    shownBy: 'test/e2e/disk-full.test.ts',
    test: 1,
    daily: 3,
    release: 7,
  },
  documents: {
    promise: 'splitting a page is exact',
    counts: 'random JSON documents',
    shownBy: 'test/unit/landing/split.test.ts',
    test: 5000,
    daily: 5000,
    release: 50_000,
  },
  worlds: {
    promise: 'what moves between targets stays',
    counts: 'worlds whose accounts and assets change owner or collection',
    shownBy: 'test/e2e/nights/moved-rows.test.ts',
    test: 20,
    daily: 20,
    release: 1000,
  },
  pairs: {
    promise: 'jobs do not meet',
    counts: 'pairs of operations published together',
    shownBy: 'test/e2e/operations/together.test.ts',
    test: 20,
    daily: 20,
    release: 276,
  },
  damages: {
    promise: 'a damaged database is rebuilt',
    counts: 'builds and snapshots damaged',
    shownBy: 'test/chaos/crash/damaged-build.test.ts',
    test: 9,
    daily: 30,
    release: 300,
  },
  records: {
    promise: 'memory is bounded',
    counts: 'records crawled into the tables with at most 512 MB resident',
    shownBy: 'test/e2e/bounded.test.ts',
    test: 200_000,
    daily: 200_000,
    release: 5_000_000,
  },
  targets: {
    promise: 'memory is bounded',
    counts: 'targets of one job, of which a budget lets a run crawl one',
    shownBy: 'test/e2e/bounded.test.ts',
    test: 40_000,
    daily: 200_000,
    release: 200_000,
  },
} satisfies Record<string, Bar>;

export type BarName = keyof typeof bars;

/** How much a run of the tests shows, from the least: each promise once, every test, or every test with its largest bar. */
export const levels = ['test', 'daily', 'release'] as const;
export type Level = (typeof levels)[number];

/** LEDGERLAKE_BARS: a level for all of them, `kills=5` for one of them; several with commas between. */
const wanted = (process.env.LEDGERLAKE_BARS ?? '').split(',').filter((word) => word !== '');

/** The level of this run: that of `make test`, unless LEDGERLAKE_BARS names another. */
export const level: Level = levels.findLast((one) => wanted.includes(one)) ?? 'test';

/** How much the test is to do. @throws when LEDGERLAKE_BARS names an unknown bar */
export function bar(name: BarName): number {
  for (const word of wanted) {
    const [, named = '', value = ''] = /^(\w+)=(\d+)$/.exec(word) ?? [];
    if (named === name) return Number(value);
    if (!levels.includes(word as Level) && !(named in bars))
      throw new Error(
        `LEDGERLAKE_BARS: ${word} is neither ${levels.join(', ')} nor <bar>=<number> (test/bars.ts)`,
      );
  }
  return bars[name][level];
}

/** What a passed test did. Several figures of one bar add up. */
export interface Figure {
  done: number;
  seed?: number;
  /** A further finding: a sentence without a full stop. */
  note?: string;
}

/**
 * Appends a figure to the file that LEDGERLAKE_FIGURES names. A test calls it last, so a test that found a violation adds no
 * figure, and the bar counts as not shown.
 */
export function showFigure(name: BarName, figure: Figure): void {
  const file = process.env.LEDGERLAKE_FIGURES;
  if (file !== undefined && file !== '')
    appendFileSync(file, `${JSON.stringify({ bar: name, ...figure })}\n`);
}
