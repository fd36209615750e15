import { expect, onTestFinished, type TestContext, test } from 'vitest';
import { bar, level, showFigure } from '../../bars.ts';
import { daily } from '../../levels.ts';
import { readSeed } from '../../support/random.ts';
import {
  checkAskedAgain,
  checkComplete,
  checkEnd,
  checkNight,
  checkRefused,
  type Violation,
} from './check-night.ts';
import {
  drawNights,
  type MovingInstallation,
  type NightEnded,
  openMovingInstallation,
} from './moving-installation.ts';
import type { AssetRow, CoverageRow, SignatureRow, Tables } from './warehouse-rows.ts';

const seeds = bar('seeds');
// Ledgers of small numbers in `make test`, as ever.
const first = level === 'test' && !process.env.LEDGERLAKE_SEED ? 1 : readSeed();
/** Ledgers that share a data folder, each a target of its own. */
const perFolder = 100;

function seedsFrom(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, n) => from + n);
}

/** What went wrong, and how to see it again. */
function report(
  place: MovingInstallation,
  nights: readonly NightEnded[],
  found: readonly Violation[],
): string {
  const own = place.lists.map(({ seed }) => seed);
  const outcomes = nights.flatMap(({ night, code, stderr }) => [
    `${JSON.stringify(night)} ended with ${code}`,
    ...stderr
      .split('\n')
      .slice(0, 20)
      .map((line) => `  ${line}`),
  ]);
  const [worst] = found;
  const ledgers = worst?.of === 'list' ? place.lists : place.feeds;
  const trace = ledgers.find(({ seed }) => seed === worst?.seed)?.trace ?? [];
  return [
    `${found.length} violations; again: LEDGERLAKE_SEED=${own[0]} LEDGERLAKE_BARS=seeds=${own.length} npx vitest run test/chaos/properties`,
    'nights:',
    ...outcomes.map((line) => `  ${line}`),
    ...found.slice(0, 20).map(({ seed, of, what }) => `seed ${seed}, ${of}: ${what}`),
    `what the ${worst?.of} of seed ${worst?.seed} answered:`,
    ...trace.slice(-60).map((line) => `  ${line}`),
  ].join('\n');
}

/** Several nights over moving ledgers, then calm ones; fails at the first that leaves something wrong. */
async function simulate(
  own: readonly number[],
  onTestFinished: TestContext['onTestFinished'],
): Promise<void> {
  const place = await openMovingInstallation({ seeds: own });
  onTestFinished(() => place.close());
  const nights: NightEnded[] = [];
  let before: Tables | null = null;
  const refuse = (found: readonly Violation[]) => {
    if (found.length > 0) expect.fail(report(place, nights, found));
  };
  const runNight = async (night: NightEnded['night']) => {
    const ended = await place.run(night);
    nights.push(ended);
    refuse(checkRefused(ended));
    const tables = await place.read();
    if (tables !== null) refuse(checkNight(place, tables, before));
    before = tables;
    return ended;
  };
  for (const night of drawNights(own[0]!, 5, own.length * 12)) await runNight(night);
  place.server.calm();
  // The first goes on with the round that was left; a crawl whose cursors were refused too often ends in it.
  const rest = await runNight({ kind: 'full' });
  refuse(checkComplete(place, rest, 'expired cursors may fail'));
  refuse(checkComplete(place, await runNight({ kind: 'full' })));
  const began = new Map(place.feeds.map((feed) => [feed, feed.now()]));
  const last = await runNight({ kind: 'full' });
  refuse(checkComplete(place, last));
  expect(last).toMatchObject({ written: 0 });
  refuse([...checkEnd(place, before!, began, rest.code === 0), ...checkAskedAgain(place, nights)]);
  showFigure('seeds', { done: own.length });
}

const folders = Array.from({ length: Math.ceil(seeds / perFolder) }, (_, n) =>
  seedsFrom(first + n * perFolder, Math.min(perFolder, seeds - n * perFolder)),
);

// Side by side: a folder's nights mostly wait, for retries and for replicas to catch up.
test.concurrent.for(folders.map((own) => ({ from: own[0]!, to: own.at(-1)!, own })))(
  'ledgers $from to $to move while they are crawled, killed and cut short',
  { timeout: 600_000 },
  ({ own }, { onTestFinished: atEnd }) => simulate(own, atEnd),
);

daily(
  'a provider that has page numbers only is seen to miss records that were there all the time',
  async () => {
    const place = await openMovingInstallation({ seeds: seedsFrom(first, 60), walks: 'numbers' });
    onTestFinished(() => place.close());
    const missed = new Set<number>();
    for (let night = 0; night < 2; night += 1) {
      // Pages that come back unchanged are taken for a circle: such a target fails.
      expect([0, 3]).toContain((await place.run({ kind: 'full' })).code);
      for (const { seed, what } of checkNight(place, (await place.read())!, null))
        if (what.includes('was listed from')) missed.add(seed);
    }
    console.log(`moving-ledger.test.ts: page numbers missed stable records of ${missed.size} lists in 60`);
    expect(missed.size).toBeGreaterThan(0);
  },
);

/** Whether the row was in its list throughout the crawl: one that was not may be missing. */
function isPromised({ lists }: MovingInstallation, { checkpoints }: Tables, { id }: AssetRow): boolean {
  const list = lists.find((one) => one.has(id))!;
  const own = checkpoints.filter(({ target, range }) => target === list.collection && range === '');
  return own.some(({ min_slot, max_slot }) => list.isListedThroughout(id, min_slot, max_slot));
}

/** A signature, and the covered interval it is in. */
function findCovered({ signatures, coverage }: Tables): { signature: SignatureRow; covered: CoverageRow } {
  for (const signature of signatures) {
    const slot = signature.tx_slot!;
    const covered = coverage.find(
      (row) =>
        row.target === signature.address &&
        row.state === 'covered' &&
        row.low_slot <= slot &&
        row.high_slot >= slot,
    );
    if (covered !== undefined) return { signature, covered };
  }
  throw new Error('no signature is covered');
}

test('the oracle notices one wrong row', async () => {
  const place = await openMovingInstallation({ seeds: seedsFrom(first, 30) });
  onTestFinished(() => place.close());
  expect([0, 3]).toContain((await place.run({ kind: 'full' })).code);
  const tables = (await place.read())!;
  expect(checkNight(place, tables, tables)).toEqual([]);
  const asset = tables.assets.find((row) => isPromised(place, tables, row))!;
  const { signature, covered } = findCovered(tables);
  const version = tables.versions.find(({ id }) => id === asset.id)!;
  const without = <T>(rows: readonly T[], row: T) => rows.filter((other) => other !== row);
  const planted: Record<string, Partial<Tables>> = {
    'a row is lost': { assets: without(tables.assets, asset) },
    'a row is there twice': { assets: [...tables.assets, asset] },
    'a row nobody knows': { assets: [...tables.assets, { ...asset, id: 'stranger' }] },
    'another owner': { assets: [...without(tables.assets, asset), { ...asset, owner: 'somebody' }] },
    'another collection': { assets: [...without(tables.assets, asset), { ...asset, collection: 'other' }] },
    'burnt, it is said': { assets: [...without(tables.assets, asset), { ...asset, burnt: true }] },
    'a slot it was not seen at': {
      assets: [...without(tables.assets, asset), { ...asset, slot: asset.slot + 1 }],
    },
    'a slot of before': { assets: [...without(tables.assets, asset), { ...asset, slot: asset.slot - 1 }] },
    'no version': { versions: without(tables.versions, version) },
    'a version of another owner': {
      versions: [...without(tables.versions, version), { ...version, owner: 'somebody' }],
    },
    'a version that changes nothing': {
      versions: [
        ...without(tables.versions, version),
        { ...version, valid_from_slot: version.valid_from_slot - 1, valid_to_slot: version.valid_from_slot },
        version,
      ],
    },
    'a signature is lost': { signatures: without(tables.signatures, signature) },
    'a signature is there twice': { signatures: [...tables.signatures, signature] },
    'a signature of another slot': {
      signatures: [...without(tables.signatures, signature), { ...signature, tx_slot: 1 }],
    },
    'covered beyond the ledger': {
      coverage: [...without(tables.coverage, covered), { ...covered!, high_slot: covered!.high_slot + 1000 }],
    },
    'covered and then not': { coverage: without(tables.coverage, covered) },
  };
  for (const [what, change] of Object.entries(planted))
    expect(checkNight(place, { ...tables, ...change }, tables), what).not.toEqual([]);
});
