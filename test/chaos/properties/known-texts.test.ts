import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import type { DataFolder } from '../../../src/data-folder.ts';
import type { NewPage } from '../../../src/landing/render-page.ts';
import { createLoader } from '../../../src/load/load.ts';
import { listUnloaded, stagingFile } from '../../../src/load/staged-segments.ts';
import { openBuild } from '../../../src/warehouse/build.ts';
import { openDatabase } from '../../../src/warehouse/database.ts';
import { level } from '../../bars.ts';
import { newPage, newRecords, openLandingLog } from '../../support/pages.ts';
import { makeFolder, publishLoaded } from '../../support/publish-landed.ts';
import { createDraw, type Draw, readSeed } from '../../support/random.ts';

const options = { memoryLimit: '256MB', threads: 1, tempDir: tmpdir() };

/** Less than a slice is to have: every staging file is a slice of its own. */
const oneFileASlice = { memoryLimit: '150MB' };

const idOf = (n: number) => `${'A'.repeat(30)}${String.fromCharCode(97 + n)}1`;

/** One answer: a complete crawl of one page. */
interface Answer {
  of: Partial<NewPage> & Pick<NewPage, 'task' | 'crawl' | 'slot' | 'received_at'>;
  texts: readonly string[];
}

async function land(folder: DataFolder, { of, texts }: Answer): Promise<void> {
  const log = await openLandingLog(folder.landing);
  await log.appendPage(newPage(1, { ...of, next: null, end: 'exhausted' }), newRecords(...texts));
  await log.close();
}

/** Loads what is landed. @param tells whether texts that are known are not read @returns records that were not read */
async function load(folder: DataFolder, tells: boolean): Promise<number> {
  const memory = await openDatabase(':memory:', options);
  try {
    const loader = await createLoader(memory, folder, tells ? { build: folder.build } : {});
    const segments = await listUnloaded(folder);
    for (const segment of segments) await loader.loadOrDefer(segment);
    await loader.loadDeferred();
    return await countUnread(folder, segments);
  } finally {
    memory.close();
  }
}

async function countUnread(folder: DataFolder, segments: readonly number[]): Promise<number> {
  const memory = await openDatabase(':memory:', options);
  const files = segments.map((segment) => stagingFile(folder, segment, 'assets'));
  try {
    const [row] = await memory.rows<{ n: bigint }>('select count(row_hash) as n from read_parquet($files)', {
      files,
    });
    return Number(row?.n);
  } finally {
    memory.close();
  }
}

/** Publishes what is loaded. @returns everything that came of it */
function publishAll(folder: DataFolder, run: string, settings = options) {
  return publishLoaded(
    folder,
    run,
    async (build, { tables, refused }) => ({
      tables: tables.assets,
      refused,
      rows: await build.rows('select * from assets order by id'),
      past: await build.rows('select * from past.assets order by id, valid_to_slot, valid_to, changed_slot'),
      quarantined: await build.rows(
        'select * from meta.quarantine order by task, crawl, page, key, column_name, raw',
      ),
      checkpoints: await build.rows(
        'select * exclude (started_at) from meta.checkpoints order by task, crawl, last_indexed_slot',
      ),
    }),
    settings,
  );
}

async function newFolder(): Promise<DataFolder> {
  const folder = await makeFolder();
  (await openBuild(folder, options)).close();
  return folder;
}

const listed = (n: number, name: string, more = '') =>
  `{"id":"${idOf(n)}","interface":"V1_NFT","content":{"metadata":{"name":"${name}"}}${more}}`;

function answer(slot: number, texts: readonly string[], of: Partial<Answer['of']> = {}): Answer {
  const received_at = new Date(Date.UTC(2026, 0, 1, 0, slot)).toISOString();
  const run = of.crawl ?? `run-${slot}`;
  return { of: { task: 'list', crawl: run, run, slot, received_at, ...of }, texts };
}

/** The same answer, and an empty page behind it, as lists by cursor end. */
async function landInTwo(folder: DataFolder, { of, texts }: Answer): Promise<void> {
  const log = await openLandingLog(folder.landing);
  await log.appendPage(newPage(1, of), newRecords(...texts));
  await log.appendPage(newPage(2, { ...of, next: null, end: 'exhausted' }), []);
  await log.close();
}

/** Lands, loads and publishes one answer. @returns records that were not read, and what came of all */
async function night(folder: DataFolder, one: Answer) {
  await land(folder, one);
  const unread = await load(folder, true);
  return { unread, ...(await publishAll(folder, one.of.crawl)) };
}

test('a text that came before is not read again, and its row is confirmed', async () => {
  const folder = await newFolder();
  const texts = [1, 2, 3].map((n) => listed(n, `name ${n}`));
  expect((await night(folder, answer(1, texts))).unread).toBe(0);
  const second = await night(folder, answer(2, texts));
  expect(second).toMatchObject({ unread: 3, tables: { seen: 3, confirmed: 3, changed: 0, inserted: 0 } });
  expect(second.rows).toMatchObject(
    [1, 2, 3].map((n) => ({ id: idOf(n), name: `name ${n}`, slot: 2n, content_slot: 2n, changed_slot: 1n })),
  );
});

test('of a page some of whose texts are known the others are read, whatever stands behind it', async () => {
  const folder = await newFolder();
  const texts = [1, 2, 3, 4].map((n) => listed(n, `name ${n}`));
  await night(folder, answer(1, texts));
  const [first, , third] = texts as [string, string, string];
  await landInTwo(folder, answer(2, [first, listed(2, 'another'), third, listed(4, 'one more')]));
  expect(await load(folder, true)).toBe(2);
  const { rows } = await publishAll(folder, 'run-2');
  expect(rows.map(({ name }) => name)).toEqual(['name 1', 'another', 'name 3', 'one more']);
});

test('a text that a row was read from before, and is not now, is read again', async () => {
  const folder = await newFolder();
  const [first, second] = [listed(1, 'first'), listed(1, 'second')];
  await night(folder, answer(1, [first]));
  await night(folder, answer(2, [second]));
  const third = await night(folder, answer(3, [first]));
  expect(third).toMatchObject({ unread: 0, tables: { changed: 1 }, rows: [{ name: 'first', slot: 3n }] });
});

test('the same text, in an answer that carries other groups, is read', async () => {
  const folder = await newFolder();
  const bare = `{"id":"${idOf(1)}","interface":"V1_NFT","content":{}}`;
  await night(folder, answer(1, [listed(1, 'named')]));
  await night(folder, answer(2, [bare]));
  expect(await night(folder, answer(3, [bare]))).toMatchObject({ unread: 1, rows: [{ name: 'named' }] });
  // A look-up that brings no content says that there is none.
  const lookup = answer(4, [bare], { task: 'look-up', carries: ['content'] });
  expect(await night(folder, lookup)).toMatchObject({ unread: 0, rows: [{ name: null, content_slot: 4n }] });
});

test('a record with something that does not fit is read, and quarantined, every night', async () => {
  const folder = await newFolder();
  const odd = listed(1, 'odd', ',"mutable":"perhaps"');
  for (const slot of [1, 2, 3]) {
    const { unread, quarantined, checkpoints } = await night(folder, answer(slot, [odd, listed(2, 'fits')]));
    expect(unread).toBe(slot === 1 ? 0 : 1);
    expect(quarantined).toMatchObject([{ key: idOf(1), column_name: 'mutable', raw: 'perhaps' }]);
    expect(checkpoints.at(-1)).toMatchObject({ records: 2n, quarantined: 1n });
  }
});

test('a digest without its row tells nothing', async () => {
  const folder = await newFolder();
  const text = listed(1, 'name');
  await night(folder, answer(1, [text]));
  const build = await openBuild(folder, options);
  await build.run('delete from assets');
  build.close();
  const second = await night(folder, answer(2, [text]));
  expect(second).toMatchObject({ unread: 1, tables: { inserted: 1 }, rows: [{ name: 'name', slot: 2n }] });
});

test('a row that changed after its text was told is read before it is published', async () => {
  const folder = await newFolder();
  const [first, second] = [listed(1, 'first'), listed(1, 'second')];
  await night(folder, answer(1, [first]));
  await land(folder, answer(2, [second], { task: 'other', crawl: 'run-2' }));
  await land(folder, answer(3, [first], { crawl: 'run-3' }));
  expect(await load(folder, true)).toBe(1);
  expect(await publishAll(folder, 'run-3')).toMatchObject({
    tables: { seen: 2, changed: 2 },
    rows: [{ name: 'first', slot: 3n, changed_slot: 3n }],
    past: [{ name: 'first' }, { name: 'second' }],
  });
});

/** Answers of one night: lists and look-ups over some of the ids, whose texts come and go, from slots that go back. */
function drawNight(draw: Draw, nightNumber: number): Answer[] {
  return Array.from({ length: draw.between(1, 3) }, (_, n) => {
    const isLookup = draw.chance(0.3);
    const slot = nightNumber * 10 + draw.between(-12, 9);
    const crawl = `run-${String(nightNumber * 10 + n).padStart(4, '0')}`;
    const ids = Array.from({ length: 8 }, (_, id) => id).filter(() => draw.chance(0.8));
    return answer(
      slot,
      ids.map((id) => drawText(draw, id, slot)),
      {
        ...{ task: `${isLookup ? 'look-up' : 'list'}-${n}`, crawl, run: crawl, wave: 1 },
        carries: isLookup ? ['content', 'token_info'] : [],
        received_at: new Date(Date.UTC(2026, 0, 1, nightNumber, n)).toISOString(),
      },
    );
  });
}

/** Mostly the text that an id always has; some are burnt from the start. */
function drawText(draw: Draw, id: number, slot: number): string {
  if (draw.chance(0.75)) return listed(id, `asset ${id}`, id > 5 ? ',"burnt":true' : '');
  const price = `,"token_info":{"supply":5,"price_info":{"price_per_token":${draw.between(1, 2)}}}`;
  return draw.pick([
    listed(id, `asset ${id}, renamed`),
    listed(id, `asset ${id}`, ',"burnt":true'),
    listed(id, `asset ${id}`, price),
    listed(id, `asset ${id}`, ',"mutable":"perhaps"'),
    listed(id, `asset ${id}`, `,"last_indexed_slot":${draw.pick([5, 50, slot])}`),
    `{"id":"${idOf(id)}","content":{"last_indexed_slot":${draw.between(1, 60)}}}`,
    `{"id":"${idOf(id)}","interface":"V1_NFT","content":{}}`,
    `{"id":"none","interface":"${id}"}`,
  ]);
}

/** A list with that slot did not show a row: what is final is so at that slot, too. */
async function missRow(folder: DataFolder, id: number, slot: number): Promise<void> {
  const build = await openBuild(folder, options);
  await build.run(
    `insert into meta.absent (table_name, key, job, target, task, slot, missed_at)
    values ('assets', $key, 'list', '', 'list', $slot, timestamptz '2026-01-01 00:00:00+00')`,
    { key: idOf(id), slot },
  );
  build.close();
}

test('a final row stands at the slot of the list that missed it, although its text is known', async () => {
  const folder = await newFolder();
  const burnt = [listed(6, 'asset', ',"burnt":true')];
  await night(folder, answer(10, burnt));
  await missRow(folder, 6, 30);
  const { unread, rows } = await night(folder, answer(20, burnt));
  expect(unread).toBe(1);
  expect(rows.map(({ slot }) => slot)).toEqual([30n]);
});

test('whatever is told by its text, the tables and all that is counted are as if every record had been read', async () => {
  const seed = readSeed();
  console.log(`known-texts.test.ts: LEDGERLAKE_SEED=${seed}`);
  let [unread, again] = [0, 0];
  // At least so many worlds, and more until a row changed after its text was told: few worlds have one.
  for (let world = 0; world < (level === 'test' ? 1 : 3) || (again === 0 && world < 12); world += 1) {
    const draw = createDraw(seed + world);
    const [byText, read] = [await newFolder(), await newFolder()];
    for (let n = 1; n <= 7; n += 1) {
      const answers = drawNight(draw, n);
      for (const one of answers) await land(byText, one);
      const segments = await listUnloaded(byText);
      await cp(byText.landing, read.landing, { recursive: true });
      const before = await load(byText, true);
      await load(read, false);
      const missed = n * 10 + draw.between(-5, 20);
      if (n % 3 === 0) for (const folder of [byText, read]) await missRow(folder, 6, missed);
      const run = answers.at(-1)!.of.crawl;
      const settings = draw.chance(0.5) ? { ...options, ...oneFileASlice } : options;
      const published = await publishAll(byText, run, settings);
      expect(published, `seed ${seed}, world ${world}, night ${n}`).toEqual(
        await publishAll(read, run, settings),
      );
      unread += before;
      again += before - (await countUnread(byText, segments));
    }
  }
  // Both ways were gone.
  expect(unread).toBeGreaterThan(20);
  expect(again).toBeGreaterThan(0);
});
