import { appendFileSync } from 'node:fs';

/** How much of one promise a test run shows. docs/guarantees.md has the bars in this order. */
export interface Bar {
  promise: string;
  /** What is counted. */
  counts: string;
  shownBy: string;
  /** In `make test`. */
  test: number;
  /** In `make test-nightly`. */
  nightly: number;
}

/**
 * How much each of the large tests does. The nightly numbers should fit into ninety minutes on two idle cores, at these core-seconds
 * each: a kill 3, a damage 3.5, a step's state 1.5, a real death 2.6, a hundred seeds 35, a thousand
 * mutants 4, a sequence 35. docs/guarantees.md prints what a run of `make test-nightly` did.
 */
export const bars = {
  kills: {
    promise: 'nothing received is lost, nothing is applied twice',
    counts: 'runs killed at random moments',
    shownBy: 'test/chaos/crash/kill.test.ts',
    test: 60,
    nightly: 500,
  },
  cells: {
    promise: 'a network fault never costs correctness',
    counts: 'faults at stages of a run',
    shownBy: 'test/chaos/faults/matrix.test.ts',
    test: 60,
    nightly: 252,
  },
  minutes: {
    promise: 'limits are used and not exceeded',
    counts: 'minutes against a server with a limit',
    shownBy: 'test/unit/api/limits-real.test.ts',
    test: 0,
    nightly: 3,
  },
  steps: {
    promise: 'a run may die at any step',
    counts: 'verbs that died at every step',
    shownBy: 'test/chaos/crash/every-step.test.ts',
    test: 1,
    nightly: 10,
  },
  deaths: {
    promise: 'a run may die at any step',
    counts: 'real SIGKILLs at steps of a night',
    shownBy: 'test/chaos/crash/every-step.test.ts',
    test: 5,
    nightly: 100,
  },
  seeds: {
    promise: 'a crawl of a moving list invents and misses nothing',
    counts: 'simulated ledgers',
    shownBy: 'test/chaos/properties/moving-ledger.test.ts',
    test: 300,
    nightly: 10_000,
  },
  sequences: {
    promise: "any sequence of nights ends with the ledger's rows",
    counts: 'random sequences of nights',
    shownBy: 'test/chaos/sequences/sequences.test.ts',
    test: 2,
    nightly: 100,
  },
  nights: {
    promise: 'nothing grows with age',
    counts: 'nights of a folder that leave no more row groups, files and bytes',
    shownBy: 'test/chaos/aging.test.ts',
    test: 12,
    nightly: 24,
  },
  agedNights: {
    promise: 'nothing grows with age',
    counts: 'nights whose last costs what the fifth did',
    shownBy: 'test/chaos/aging.test.ts',
    test: 0,
    nightly: 60,
  },
  yearNights: {
    promise: 'nothing grows with age',
    counts: 'nights of a year, the last like the fifth',
    shownBy: 'test/chaos/aging.test.ts',
    test: 0,
    nightly: 365,
  },
  amounts: {
    promise: '64-bit numbers are exact',
    counts: 'amounts from 0 to 2^64-1',
    shownBy: 'test/e2e/exact-u64.test.ts',
    test: 10_000,
    nightly: 100_000,
  },
  readerKills: {
    promise: 'readers never see half a night',
    counts: 'runs killed beside a reader',
    shownBy: 'test/chaos/crash/snapshot.test.ts',
    test: 20,
    nightly: 200,
  },
  secondRuns: {
    promise: 'one run at a time',
    counts: 'second runs beside a first',
    shownBy: 'test/e2e/stop.test.ts',
    test: 5,
    nightly: 50,
  },
  stops: {
    promise: 'a run stops cleanly',
    counts: 'runs stopped by SIGTERM',
    shownBy: 'test/e2e/stop.test.ts',
    test: 5,
    nightly: 50,
  },
  controls: {
    promise: 'these tests can fail',
    counts: 'bugs planted, each caught by a test',
    shownBy: 'test/chaos/negative-controls/controls.test.ts',
    test: 0,
    nightly: 32,
  },
  mutants: {
    promise: 'one bad record costs one record',
    counts: 'mutants of real answers',
    shownBy: 'test/chaos/faults/mutations.test.ts',
    test: 1000,
    nightly: 100_000,
  },
  fullDisks: {
    promise: 'a full disk loses nothing',
    counts: 'files without space',
    shownBy: 'test/e2e/disk-full.test.ts',
    test: 3,
    nightly: 7,
  },
  documents: {
    promise: 'splitting a page is exact',
    counts: 'random JSON documents',
    shownBy: 'test/unit/landing/split.test.ts',
    test: 5000,
    nightly: 50_000,
  },
  damages: {
    promise: 'a damaged database is rebuilt',
    counts: 'builds and snapshots damaged',
    shownBy: 'test/chaos/crash/damaged-build.test.ts',
    test: 30,
    nightly: 300,
  },
  records: {
    promise: 'memory is bounded',
    counts: 'records crawled into the tables with at most 512 MB resident',
    shownBy: 'test/e2e/bounded.test.ts',
    test: 200_000,
    nightly: 5_000_000,
  },
} satisfies Record<string, Bar>;

export type BarName = keyof typeof bars;

/** LEDGERLAKE_BARS: `nightly` for all the large ones, `kills=5` for one of them; several with commas between. */
const wanted = (process.env.LEDGERLAKE_BARS ?? '').split(',').filter((word) => word !== '');

/** Whether this is `make test-nightly`: for tests that `make test` leaves out. */
export const isNightly = wanted.includes('nightly');

/** How much the test is to do. @throws when LEDGERLAKE_BARS names an unknown bar */
export function bar(name: BarName): number {
  for (const word of wanted) {
    const [, named = '', value = ''] = /^(\w+)=(\d+)$/.exec(word) ?? [];
    if (named === name) return Number(value);
    if (word !== 'nightly' && !(named in bars))
      throw new Error(`LEDGERLAKE_BARS: ${word} is neither nightly nor <bar>=<number> (test/bars.ts)`);
  }
  return isNightly ? bars[name].nightly : bars[name].test;
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
