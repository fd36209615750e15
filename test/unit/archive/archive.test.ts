import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { archiveSegments, removeLanded } from '../../../src/archive/archive.ts';
import { restoreSegment } from '../../../src/archive/restore-segment.ts';
import { type DataFolder, dataFolder, makeDataFolder } from '../../../src/data-folder.ts';
import { listSegments, pageFile, recordFile } from '../../../src/landing/segment-files.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { type Database, openDatabase } from '../../../src/warehouse/database.ts';
import { newRecords } from '../../support/pages.ts';

let folder: DataFolder;
let database: Database;

beforeEach(async () => {
  folder = dataFolder(await mkdtemp(join(tmpdir(), 'archive-')));
  await makeDataFolder(folder);
  database = await openDatabase(':memory:', { memoryLimit: '256MB', threads: 2, tempDir: folder.temp });
});
afterEach(async () => {
  database.close();
  await rm(folder.root, { recursive: true, force: true });
});

/** Lands one segment with these pages of records, each with another slot, and archives it. */
async function landAndArchive(crawl: string, pages: readonly (readonly string[])[]): Promise<number> {
  const landing = createLandingLog({ dir: folder.landing });
  for (const [n, records] of pages.entries()) {
    await landing.appendPage(
      {
        ...{
          task: 'task',
          crawl,
          run: crawl,
          job: 'job',
          target: '',
          params: {},
          carries: [],
          nulls: 0,
          last_slot: null,
        },
        ...{
          operation: 'getAssetsByGroup',
          shape: 'asset',
          position: { limit: 2 },
          next: null,
          end: null,
          envelope: '{}',
        },
        ...{ page: n + 1, slot: Number(crawl) * 100 + n, received_at: '2026-01-01T00:00:00.000Z' },
      },
      newRecords(...records),
    );
  }
  await landing.close();
  const [segment] = await listSegments(folder.landing);
  await archiveSegments(database, folder, [segment as number]);
  await removeLanded(folder, [segment as number]);
  return segment as number;
}

/** Texts of the records of every page of an archived segment, restored for a moment. */
async function readBack(segment: number): Promise<string[][]> {
  await restoreSegment(database, folder.archive, folder.landing, segment);
  const readLines = async (file: string) =>
    (await readFile(file, 'utf8')).split('\n').flatMap((line) => line || []);
  const pages = (await readLines(pageFile(folder.landing, segment))).flatMap(
    (line) => (JSON.parse(line) as { page?: number }).page ?? [],
  );
  const records = await readLines(recordFile(folder.landing, segment));
  await rm(pageFile(folder.landing, segment));
  await rm(recordFile(folder.landing, segment));
  return pages.map((page) =>
    records.flatMap((line) => {
      const [, of, text] =
        /^\{"task":"task","crawl":"\d+","page":(\d+),.*?"record":(.*)\}$/s.exec(line) ?? [];
      return Number(of) === page ? (text as string) : [];
    }),
  );
}

async function countArchived(segment: number): Promise<bigint> {
  const [row] = await database.rows<{ n: bigint }>(
    `select count(*) as n from read_parquet('${folder.archive}/${segment}.parquet')`,
  );
  return row?.n ?? -1n;
}

const odd = '{"id":"é\\u0000 1.50", "n":1.50,"u":18446744073709551615,"e":1E+2}';

test('keeps every record with its own bytes, and nothing in the landing log', async () => {
  const pages = [[odd, '{"b":2}'], [], ['{"c":3}']];
  const segment = await landAndArchive('1', pages);
  expect(await readBack(segment)).toEqual(pages);
  expect(await readdir(folder.landing)).toEqual([]);
});

test('keeps each text once, whatever page it came in, across nights and within one', async () => {
  const pages = [[odd, '{"b":2}'], ['{"c":3}'], ['{"c":3}', '{"d":4}']];
  const first = await landAndArchive('1', pages);
  expect(await countArchived(first)).toBe(4n);
  // An insert moves every record behind it to another place.
  const moved = [['{"a":1}', odd], ['{"b":2}', '{"c":3}'], ['{"d":4}']];
  const second = await landAndArchive('2', moved);
  expect(await countArchived(second)).toBe(1n);
  const third = await landAndArchive('3', pages);
  expect(await readdir(folder.archive)).not.toContain(`${third}.parquet`);
  expect(await readBack(second)).toEqual(moved);
  expect(await readBack(first)).toEqual(pages);
  expect(await readBack(third)).toEqual(pages);
});

test('a night of known texts costs the archive a small part of their digests, and restores all the same', async () => {
  const pages = Array.from({ length: 10 }, (_, page) =>
    Array.from({ length: 1000 }, (_, n) => `{"id":${page * 1000 + n}}`),
  );
  await landAndArchive('1', pages);
  const [first, ...others] = pages;
  const changed = [first!.with(500, '{"id":"changed"}'), ...others];
  const second = await landAndArchive('2', changed);
  const { size } = await stat(join(folder.archive, `${second}.pages.parquet`));
  // Digests are 16 bytes a record, which nothing makes smaller.
  expect(size).toBeLessThan(10_000 * 2);
  expect(await readBack(second)).toEqual(changed);
});

test('a record file that a kill left without its page lines is written again, whatever it holds', async () => {
  const first = await landAndArchive('1', [['{"a":1}', '{"b":2}']]);
  await restoreSegment(database, folder.archive, folder.landing, first);
  await rm(join(folder.archive, `${first}.pages.parquet`));
  await archiveSegments(database, folder, [first]);
  await removeLanded(folder, [first]);
  expect(await countArchived(first)).toBe(2n);
  expect(await readBack(first)).toEqual([['{"a":1}', '{"b":2}']]);
});
