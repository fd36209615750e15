import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DataFolder, dataFolder, makeDataFolder } from '../../src/data-folder.ts';
import { createLandingLog } from '../../src/landing/writer.ts';
import { openBuild } from '../../src/warehouse/build.ts';
import { openDatabase } from '../../src/warehouse/database.ts';
import { createLoader, listUnloaded } from '../../src/warehouse/load.ts';
import { publish } from '../../src/warehouse/publish.ts';
import { newRecords } from '../landing/pages.ts';

const options = { memoryLimit: '256MB', threads: 1, tempDir: tmpdir() };
const id = 'A'.repeat(43);
let folder: DataFolder;

beforeEach(async () => {
  folder = dataFolder(await mkdtemp(join(tmpdir(), 'mixed-')));
  await makeDataFolder(folder);
});
afterEach(() => rm(folder.root, { recursive: true, force: true }));

/** Lands one complete crawl with one page a record, in the given slots; all in one segment. */
async function land(
  crawls: readonly { task: string; crawl: string; slot: number; record: object }[],
): Promise<void> {
  const landing = createLandingLog({ dir: folder.landing });
  for (const { task, crawl, slot, record } of crawls) {
    await landing.appendPage(
      {
        ...{
          task,
          crawl,
          run: crawl,
          job: task,
          target: '',
          params: {},
          carries: [],
          nulls: 0,
          last_slot: null,
        },
        ...{ operation: 'getAssetsByGroup', shape: 'asset', position: { limit: 1 }, envelope: '{}' },
        ...{ page: 1, slot, next: null, end: 'exhausted' as const, received_at: '2026-01-01T00:00:00.000Z' },
      },
      newRecords(JSON.stringify(record)),
    );
  }
  await landing.close();
}

async function publishAll<T>(query: string): Promise<T[]> {
  const memory = await openDatabase(':memory:', options);
  const loader = await createLoader(memory, folder);
  for (const segment of await listUnloaded(folder)) await loader.loadSegment(segment);
  memory.close();
  const build = await openBuild(folder, options);
  await publish(build, folder, { run: 'z', memoryBytes: 256e6, quarantineLimit: 0.01, acceptVanished: [] });
  const rows = await build.rows<T>(query);
  build.close();
  return rows;
}

test('a new row may be put together from two answers, also in an empty table', async () => {
  await land([
    { task: 'a', crawl: 'r1', slot: 10, record: { id, content: { metadata: { name: 'old list' } } } },
    { task: 'b', crawl: 'r1', slot: 20, record: { id, interface: 'V1_NFT' } },
  ]);
  expect(await publishAll('select name, interface, slot, content_slot from assets')).toEqual([
    { name: 'old list', interface: 'V1_NFT', slot: 20n, content_slot: 10n },
  ]);
});

test('two crawls of one task with the same page numbers in one segment keep their own records', async () => {
  await land([
    { task: 'a', crawl: 'r1', slot: 10, record: { id, interface: 'first' } },
    { task: 'a', crawl: 'r2', slot: 20, record: { id: 'B'.repeat(43), interface: 'second' } },
  ]);
  expect(await publishAll('select interface, slot from assets order by slot')).toEqual([
    { interface: 'first', slot: 10n },
    { interface: 'second', slot: 20n },
  ]);
});

test('nothing is published before it is loaded', async () => {
  await land([{ task: 'a', crawl: 'r1', slot: 10, record: { id } }]);
  const build = await openBuild(folder, options);
  const early = publish(build, folder, {
    run: 'z',
    memoryBytes: 256e6,
    quarantineLimit: 0.01,
    acceptVanished: [],
  });
  await expect(early).rejects.toThrow('before it is loaded');
  build.close();
  expect(await publishAll('select count(*) as n from assets')).toEqual([{ n: 1n }]);
});
