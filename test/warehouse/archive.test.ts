import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DataFolder, dataFolder, makeDataFolder } from '../../src/data-folder.ts';
import { listSegments } from '../../src/landing/segment-files.ts';
import { createLandingLog } from '../../src/landing/writer.ts';
import { archiveSegments, removeLanded } from '../../src/warehouse/archive.ts';
import { type Database, openDatabase } from '../../src/warehouse/database.ts';
import { newRecords } from '../landing/pages.ts';

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

/** Texts of the records of every page of a crawl, found where the page lines say they are kept. */
async function readBack(segment: number): Promise<string[][]> {
  const rows = await database.rows<{ page: bigint; line: string | null }>(`
    select (p.line ->> '$.page')::bigint as page, r.line
    from read_parquet('${folder.archive}/${segment}.pages.parquet') as p
    left join read_parquet('${folder.archive}/*[0-9].parquet', filename = true) as r
      on r.filename = '${folder.archive}/' || p.kept_segment || '.parquet'
      and r.line like '{"task":"' || p.kept_task || '","crawl":"' || p.kept_crawl || '","page":' || p.kept_page || ',%'
    where p.line ->> '$.kind' = 'page'
    order by page, (r.line ->> '$.n')::int`);
  const pages = new Map<bigint, string[]>();
  for (const { page, line } of rows)
    pages.set(page, [
      ...(pages.get(page) ?? []),
      ...(line === null ? [] : [/"record":(.*)\}$/s.exec(line)?.[1] as string]),
    ]);
  return [...pages.values()];
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

test('keeps the records of identical pages once, across nights and within one', async () => {
  const pages = [[odd, '{"b":2}'], ['{"c":3}'], ['{"c":3}']];
  const first = await landAndArchive('1', pages);
  expect(await countArchived(first)).toBe(3n);
  const changed = [[odd, '{"b":2}'], ['{"c":4}'], ['{"c":3}']];
  const second = await landAndArchive('2', changed);
  expect(await countArchived(second)).toBe(1n);
  expect(await readBack(second)).toEqual(changed);
  expect(await readBack(first)).toEqual(pages);
});
