import type { SignatureFeed } from './signature-feed.ts';
import type { CoverageRow, SignatureRow } from './warehouse-rows.ts';

/** Everything that is wrong with the rows of one feed, a sentence each. */
export function checkFeed(
  feed: SignatureFeed,
  rows: readonly SignatureRow[],
  coverage: readonly CoverageRow[],
): string[] {
  return [...checkRows(feed, rows), ...checkIntervals(coverage), ...checkCovered(feed, rows, coverage)];
}

function checkRows(feed: SignatureFeed, rows: readonly SignatureRow[]): string[] {
  const truth = new Map(feed.all().map(({ signature, slot }) => [signature, slot]));
  const seen = new Set<string>();
  return rows.flatMap(({ signature, tx_slot }) => {
    const problems: string[] = [];
    if (truth.get(signature) !== tx_slot)
      problems.push(`${signature} is of slot ${tx_slot}, not ${truth.get(signature)}`);
    if (seen.has(signature)) problems.push(`${signature} is there twice`);
    seen.add(signature);
    return problems;
  });
}

/** Covered intervals and gaps lie beside each other. An empty one may stand anywhere: it promises nothing. */
function checkIntervals(coverage: readonly CoverageRow[]): string[] {
  const filled = coverage.filter(({ low_slot, high_slot }) => low_slot <= high_slot);
  return filled.flatMap(({ state, low_slot, high_slot }, n) => {
    const before = filled[n - 1];
    if (before === undefined || before.high_slot < low_slot) return [];
    return [
      `${state} ${low_slot}–${high_slot} overlaps ${before.state} ${before.low_slot}–${before.high_slot}`,
    ];
  });
}

/** What is called covered has every signature. */
function checkCovered(
  feed: SignatureFeed,
  rows: readonly SignatureRow[],
  coverage: readonly CoverageRow[],
): string[] {
  const got = new Set(rows.map(({ signature }) => signature));
  return coverage
    .filter(({ state }) => state === 'covered')
    .flatMap(({ low_slot, high_slot }) => {
      if (high_slot > feed.now()) return [`covered to ${high_slot}, the ledger is at ${feed.now()}`];
      return feed
        .all()
        .filter(({ signature, slot }) => slot >= low_slot && slot <= high_slot && !got.has(signature))
        .map(({ slot }) => `a signature of slot ${slot} is missing, ${low_slot}–${high_slot} is covered`);
    });
}

/** What was covered stays covered. */
export function checkCoverageStays(before: readonly CoverageRow[], after: readonly CoverageRow[]): string[] {
  const covered = after.filter(({ state }) => state === 'covered');
  return before
    .filter(({ state, low_slot, high_slot }) => state === 'covered' && low_slot <= high_slot)
    .filter((old) => !covered.some((now) => now.low_slot <= old.low_slot && now.high_slot >= old.high_slot))
    .map(({ low_slot, high_slot }) => `${low_slot}–${high_slot} was covered and is not any more`);
}

/** After a calm night everything is covered, from the slot asked for to where the night began. */
export function checkWhole(coverage: readonly CoverageRow[], from: number, began: number): string[] {
  const whole = coverage.some(
    ({ state, low_slot, high_slot }) => state === 'covered' && low_slot <= from && high_slot >= began,
  );
  if (whole) return [];
  const text = coverage.map(({ state, low_slot, high_slot }) => `${state} ${low_slot}–${high_slot}`);
  return [`${from}–${began} is not covered: ${text.join(', ') || 'nothing is'}`];
}
