import { tmpdir } from 'node:os';
import { beforeEach, expect, test } from 'vitest';
import type { DataFolder } from '../../../src/data-folder.ts';
import type { EndReason } from '../../../src/landing/page-line.ts';
import { createLandingLog, type LandingLog } from '../../../src/landing/writer.ts';
import { openBuild } from '../../../src/warehouse/build.ts';
import { newRecords } from '../../support/pages.ts';
import { loadLanded, makeFolder, publishLoaded } from '../../support/publish-landed.ts';

const options = { memoryLimit: '256MB', threads: 1, tempDir: tmpdir() };
let folder: DataFolder;

beforeEach(async () => {
  folder = await makeFolder();
});

interface FeedPage {
  /** Slot of the gap that the crawl fills; absent: it begins at the head. */
  from?: number;
  page: number;
  /** Slot the answer reflects. */
  slot: number;
  /** True: the page was asked for without a cursor, like a head. */
  head?: boolean;
  /** Slot of the page's last signature; null: it has none. */
  last: number | null;
  /** How the crawl ended with this page; absent: it goes on. */
  end?: EndReason;
}

/**
 * Lands the pages of one crawl of each target's feed in a segment of their own, loads and publishes them.
 * @param goesBack whether somebody accepts that the source went back
 */
async function receive(
  crawl: string,
  pages: readonly FeedPage[],
  targets = [''],
  goesBack = false,
): Promise<void> {
  const landing = createLandingLog({ dir: folder.landing });
  for (const target of targets)
    for (const page of pages) await landing.appendPage(...describePage(crawl, target, page));
  if (goesBack)
    for (const target of targets)
      await landing.appendAccepted({
        ...{ kind: 'accepted', task: `feed-${target}`, crawl, run: crawl, job: 'signatures', target },
        ...{
          operation: 'getLatestCompressionSignatures',
          shape: 'signature',
          accepted_at: new Date().toISOString(),
        },
        finding: { guard: 'stale', for_job: 'signatures', column_name: null },
      });
  await landing.close();
  await loadLanded(folder);
  await publishLoaded(folder, crawl, async () => undefined);
}

function describePage(
  crawl: string,
  target: string,
  { page, slot, last, end, from, head }: FeedPage,
): Parameters<LandingLog['appendPage']> {
  const cursor = `cursor-${crawl}-${page}`;
  const isHead = head ?? (page === 1 && from === undefined);
  const signature = `${crawl}${page}`.padEnd(88, '1');
  return [
    {
      task: `feed-${target}`,
      crawl,
      run: crawl,
      job: 'signatures',
      target,
      feed: true,
      from_slot: from ?? null,
      params: {},
      carries: [],
      nulls: 0,
      operation: 'getLatestCompressionSignatures',
      shape: 'signature',
      position: { limit: 1000, ...(isHead ? {} : { cursor: `asked-${crawl}-${page}` }) },
      envelope: '{}',
      page,
      slot,
      last_slot: last,
      end: end ?? null,
      next: end === undefined || end === 'covered' ? { limit: 1000, cursor } : null,
      received_at: new Date().toISOString(),
    },
    newRecords(...(last === null ? [] : [JSON.stringify({ signature, slot: last, blockTime: 1 })])),
  ];
}

/** `covered 11–100`, `gap 0–10 at cursor-a-2`, lowest first. */
async function coverage(): Promise<string[]> {
  const build = await openBuild(folder, options);
  const rows = await build.rows<{ state: string; low: bigint; high: bigint; cursor: string | null }>(
    'select distinct state, low_slot as low, high_slot as high, cursor from meta.coverage order by low_slot, state',
  );
  build.close();
  return rows.map(
    ({ state, low, high, cursor }) => `${state} ${low}–${high}${cursor === null ? '' : ` at ${cursor}`}`,
  );
}

test('a feed walked to its end covers everything up to its head', async () => {
  await receive('a', [
    { page: 1, slot: 100, last: 60 },
    { page: 2, slot: 101, last: 10, end: 'exhausted' },
  ]);
  expect(await coverage()).toEqual(['covered 0–100']);
});

test('a feed stopped on its way keeps the rest as a gap with its cursor; going on closes it', async () => {
  await receive('a', [
    { page: 1, slot: 100, last: 60 },
    { page: 2, slot: 101, last: 10 },
  ]);
  expect(await coverage()).toEqual(['gap 0–10 at cursor-a-2', 'covered 11–100']);
  await receive('a', [{ page: 3, slot: 105, last: 2, end: 'exhausted' }]);
  expect(await coverage()).toEqual(['covered 0–100']);
});

test('a new head joins what is covered when it reached it, also within a shared slot', async () => {
  await receive('a', [{ page: 1, slot: 100, last: 10, end: 'since' }]);
  await receive('b', [
    { page: 1, slot: 200, last: 100 },
    { page: 2, slot: 201, last: 99, end: 'covered' },
  ]);
  expect(await coverage()).toEqual(['covered 11–200']);
});

test('a new head that was stopped leaves a gap above what is covered, which keeps its cursor', async () => {
  await receive('a', [{ page: 1, slot: 100, last: 10, end: 'since' }]);
  await receive('b', [{ page: 1, slot: 200, last: 150 }]);
  const gapped = ['covered 11–100', 'gap 101–150 at cursor-b-1', 'covered 151–200'];
  expect(await coverage()).toEqual(gapped);
  await receive('c', [{ page: 1, slot: 300, last: 190, end: 'covered' }]);
  expect(await coverage()).toEqual([...gapped.slice(0, 2), 'covered 151–300']);
  await receive('b', [{ page: 2, slot: 300, last: 95, end: 'covered' }]);
  expect(await coverage()).toEqual(['covered 11–300']);
});

test('a page of a replica that is behind its cursor covers nothing', async () => {
  await receive('a', [
    { page: 1, slot: 100, last: 60 },
    { page: 2, slot: 50, last: 10 },
    { page: 3, slot: 101, last: 5, end: 'exhausted' },
  ]);
  expect(await coverage()).toEqual(['covered 0–10', 'gap 11–60 at cursor-a-1', 'covered 61–100']);
});

test('a crawl that is open stays open when a newer head is complete, night after night', async () => {
  await receive('a', [{ page: 1, slot: 100, last: 60 }]);
  await receive('b', [{ page: 1, slot: 200, last: 90, end: 'covered' }]);
  await receive('a', [{ page: 2, slot: 200, last: 40 }]);
  expect(await coverage()).toEqual(['gap 0–40 at cursor-a-2', 'covered 41–200']);
  const build = await openBuild(folder, options);
  const settled = await build.rows(
    'select bool_or(settled) as any_settled from meta.segments where segment in (select min(segment) from meta.segments)',
  );
  build.close();
  expect(settled).toEqual([{ any_settled: false }]);
});

test('a crawl that fills a gap covers down from the slot of the gap, not from its answer', async () => {
  await receive('a', [{ page: 1, slot: 50, last: 10, end: 'exhausted' }]);
  await receive('b', [{ page: 1, slot: 300, last: 200 }]);
  expect(await coverage()).toEqual(['covered 0–50', 'gap 51–200 at cursor-b-1', 'covered 201–300']);
  await receive('c', [{ page: 1, slot: 400, last: 120, from: 200 }]);
  expect(await coverage()).toEqual(['covered 0–50', 'gap 51–120 at cursor-c-1', 'covered 121–300']);
});

test('an interval that is stored twice does not reach over the gap below it', async () => {
  // One feed alone may be sorted right by chance.
  const targets = Array.from({ length: 200 }, (_, n) => `${n}`);
  await receive('a', [{ page: 1, slot: 71, last: 65, end: 'since' }], targets);
  const second = [
    { page: 1, slot: 78, last: 78 },
    { page: 2, slot: 79, last: 77, end: 'since' as const },
  ];
  await receive('b', second, targets);
  await receive('c', [{ page: 1, slot: 83, last: 78 }, second[1]!], targets);
  expect(await coverage()).toEqual(['covered 66–71', 'gap 72–77', 'covered 78–83']);
});

test('publishing again changes nothing', async () => {
  await receive('a', [
    { page: 1, slot: 100, last: 60 },
    { page: 2, slot: 101, last: 10 },
  ]);
  const before = await coverage();
  await receive('z', []);
  expect(await coverage()).toEqual(before);
});

test('below a lagging page nothing but what it leaves: the gap keeps the cursor that asked for it, until it is answered', async () => {
  await receive('a', [
    { page: 1, slot: 100, last: 60 },
    { page: 2, slot: 50, last: 10, end: 'exhausted' },
  ]);
  expect(await coverage()).toEqual(['gap 0–60 at cursor-a-1', 'covered 61–100']);
  await receive('b', [{ page: 1, slot: 55, last: 20, from: 60 }]);
  expect(await coverage()).toEqual(['gap 0–60 at cursor-a-1', 'covered 61–100']);
  await receive('c', [{ page: 1, slot: 60, last: 30, from: 60 }]);
  expect(await coverage()).toEqual(['gap 0–30 at cursor-c-1', 'covered 31–100']);
});

test('a page within the slot it was asked for in covers nothing new, and hands its cursor on', async () => {
  await receive('a', [
    { page: 1, slot: 100, last: 60 },
    { page: 2, slot: 100, last: 60 },
  ]);
  expect(await coverage()).toEqual(['gap 0–60 at cursor-a-2', 'covered 61–100']);
});

test('a head from behind, all of one slot, is no island in the gap', async () => {
  await receive('a', [{ page: 1, slot: 100, last: 60 }]);
  const before = ['gap 0–60 at cursor-a-1', 'covered 61–100'];
  expect(await coverage()).toEqual(before);
  await receive('b', [{ page: 1, slot: 59, last: 59, end: 'unchanged' }]);
  expect(await coverage()).toEqual(before);
});

test('a page that ends a feed at `since` leaves no gap below it, whatever slots it shares', async () => {
  await receive('a', [
    { page: 1, slot: 100, last: 60 },
    { page: 2, slot: 100, last: 60, end: 'since' },
  ]);
  expect(await coverage()).toEqual(['covered 61–100']);
});

test('a crawl that began again at the head does not follow its own page before', async () => {
  await receive('a', [
    { page: 1, slot: 100, last: 60 },
    { page: 2, slot: 200, last: 150, head: true },
  ]);
  expect(await coverage()).toEqual([
    'gap 0–60 at cursor-a-1',
    'covered 61–100',
    'gap 101–150 at cursor-a-2',
    'covered 151–200',
  ]);
  await receive('a', [
    { page: 3, slot: 201, last: 90 },
    { page: 4, slot: 202, last: 20 },
  ]);
  expect(await coverage()).toEqual(['gap 0–20 at cursor-a-4', 'covered 21–200']);
});

test('a gap crawl whose cursor was refused covers from the head it began again at', async () => {
  await receive('a', [{ page: 1, slot: 50, last: 10, end: 'exhausted' }]);
  await receive('b', [{ page: 1, slot: 300, last: 200 }]);
  await receive('c', [
    { page: 1, slot: 400, last: 250, from: 200, head: true },
    { page: 2, slot: 401, last: 100 },
  ]);
  expect(await coverage()).toEqual(['covered 0–50', 'gap 51–100 at cursor-c-2', 'covered 101–400']);
});

test('a gap that no cursor stands at takes the nearest one above', async () => {
  await receive('a', [{ page: 1, slot: 50, last: 10, end: 'exhausted' }]);
  await receive('b', [{ page: 1, slot: 300, last: 200 }]);
  await receive('c', [{ page: 1, slot: 320, last: 150, from: 180 }]);
  expect(await coverage()).toEqual([
    'covered 0–50',
    'gap 51–150 at cursor-c-1',
    'covered 151–180',
    'gap 181–200 at cursor-b-1',
    'covered 201–300',
  ]);
});

test('a crawl that ended where another went down leaves a gap when that one goes no further', async () => {
  await receive('a', [
    { page: 1, slot: 300, last: 200 },
    { page: 2, slot: 301, last: 100 },
    // Its cursor was refused, and the head it began again at came no further.
    { page: 3, slot: 400, last: 350, head: true },
  ]);
  await receive('b', [
    { page: 1, slot: 401, last: 120, from: 200 },
    { page: 2, slot: 402, last: 80, end: 'covered' },
  ]);
  expect(await coverage()).toEqual([
    'gap 0–80 at cursor-b-2',
    'covered 81–300',
    'gap 301–350 at cursor-a-3',
    'covered 351–400',
  ]);
});

/** Publishes once more: how many crawls that took, and the checkpoints. */
const publishAgain = () =>
  publishLoaded(folder, 'c', async (build, { crawls }) => ({
    crawls,
    checkpoints: await build.rows('select crawl, reason from meta.checkpoints order by crawl'),
  }));

test('two crawls of a feed that end at one slot are each published once', async () => {
  await receive('a', [{ page: 1, slot: 100, last: 60 }]);
  await receive('b', [{ page: 1, slot: 100, last: 60, end: 'covered' }]);
  await receive('a', [{ page: 2, slot: 100, last: 10, end: 'exhausted' }]);
  const again = await publishAgain();
  expect(again).toEqual({
    crawls: 0,
    checkpoints: [
      { crawl: 'a', reason: 'exhausted' },
      { crawl: 'b', reason: 'covered' },
    ],
  });
});

test('an end above what is covered, where records are, covers no further than its last record', async () => {
  await receive('a', [{ page: 1, slot: 100, last: 60, end: 'exhausted' }]);
  await receive('b', [{ page: 1, slot: 200, last: 150, end: 'exhausted' }]);
  const gapped = ['covered 0–100', 'gap 101–150', 'covered 151–200'];
  expect(await coverage()).toEqual(gapped);
  await receive('c', [
    { page: 1, slot: 300, last: 190 },
    { page: 2, slot: 300, last: null, end: 'exhausted' },
  ]);
  expect(await coverage()).toEqual(['covered 0–100', 'gap 101–150 at cursor-c-1', 'covered 151–300']);
  await receive('d', [{ page: 1, slot: 400, last: 120 }]);
  await receive('e', [{ page: 1, slot: 400, last: 90, from: 120, end: 'covered' }]);
  expect(await coverage()).toEqual(['covered 0–400']);
});

test('a feed that is empty above what is covered covers nothing', async () => {
  await receive('a', [{ page: 1, slot: 100, last: 60 }]);
  for (const [crawl, slot] of Object.entries({ b: 200, c: 100, d: 90 }))
    await receive(crawl, [{ page: 1, slot, last: null, end: 'exhausted' }]);
  expect(await coverage()).toEqual(['gap 0–60 at cursor-a-1', 'covered 61–100']);
});

test('a feed that had no record before is believed', async () => {
  await receive('a', [{ page: 1, slot: 100, last: null, end: 'exhausted' }]);
  await receive('b', [{ page: 1, slot: 200, last: null, end: 'exhausted' }]);
  expect(await coverage()).toEqual(['covered 0–200']);
  await receive('c', [{ page: 1, slot: 300, last: 250, end: 'exhausted' }]);
  expect(await coverage()).toEqual(['covered 0–300']);
});

test('a head from behind does not take the place of the crawl before it, which would be published again', async () => {
  await receive('a', [{ page: 1, slot: 100, last: 60, end: 'exhausted' }]);
  await receive('b', [{ page: 1, slot: 90, last: 60, end: 'unchanged' }]);
  const again = await publishAgain();
  expect(again).toEqual({
    crawls: 0,
    checkpoints: [
      { crawl: 'a', reason: 'exhausted' },
      { crawl: 'b', reason: 'unchanged' },
    ],
  });
});

test('what a source covered before it went back is not covered by its old pages, night after night', async () => {
  await receive('a', [
    { page: 1, slot: 50_000, last: 30_000 },
    { page: 2, slot: 50_000, last: 100, end: 'exhausted' },
  ]);
  await receive('b', [{ page: 1, slot: 40_000, last: 39_000, end: 'unchanged' }], [''], true);
  expect(await coverage()).toEqual(['covered 0–40000']);
  // The segment of the first night is still in the log: a crawl in it waits.
  await receive('c', [{ page: 1, slot: 41_000, last: 40_500 }]);
  expect(await coverage()).toEqual([
    'covered 0–40000',
    'gap 40001–40500 at cursor-c-1',
    'covered 40501–41000',
  ]);
});
