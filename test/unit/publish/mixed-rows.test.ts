import { beforeEach, expect, test } from 'vitest';
import type { DataFolder } from '../../../src/data-folder.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { newRecords } from '../../support/pages.ts';
import { loadLanded, makeFolder, publishLoaded } from '../../support/publish-landed.ts';

const id = 'A'.repeat(43);
let folder: DataFolder;

beforeEach(async () => {
  folder = await makeFolder();
});

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
  await loadLanded(folder);
  return publishLoaded(folder, 'z', (build) => build.rows<T>(query));
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
  const early = publishLoaded(folder, 'z', async () => undefined);
  await expect(early).rejects.toThrow('before it is loaded');
  expect(await publishAll('select count(*) as n from assets')).toEqual([{ n: 1n }]);
});
