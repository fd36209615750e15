import { copyFile, link, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { listSegments, pageFile, recordFile } from '../landing/segment-files.ts';
import { createLoader } from '../load/load.ts';
import { readSql } from '../sql-text.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../warehouse/database.ts';
import { archivedPages, listArchived } from './archive-files.ts';
import type { NeededRecords } from './needed-records.ts';
import { restoreSegment } from './restore-segment.ts';

/** First and last segment of a crawl or run, which is published as a whole. */
export interface Span {
  first: number;
  last: number;
}

/** Cuts segments, in order, wherever no span crosses the cut. Pure. */
export function cutBatches(segments: readonly number[], spans: readonly Span[]): number[][] {
  const batches: number[][] = [];
  const open = [...spans].sort((a, b) => a.first - b.first);
  let last = Number.NEGATIVE_INFINITY;
  for (const segment of segments) {
    if (segment > last) batches.push([]);
    batches.at(-1)?.push(segment);
    while (open[0] !== undefined && open[0].first <= segment) last = Math.max(last, open.shift()?.last ?? 0);
    last = Math.max(last, segment);
  }
  return batches;
}

/**
 * All segments, archived or landed, oldest first, in batches that can be published one after another: no crawl and no run is
 * in two of them.
 * @param database an in-memory one
 */
export async function planBatches(database: Database, folder: DataFolder): Promise<number[][]> {
  const archived = await listArchived(folder.archive);
  const landed = await listSegments(folder.landing);
  const pageFiles = landed.map((segment) => pageFile(folder.landing, segment));
  await database.run(
    'create or replace temp table segment_line (segment bigint, task varchar, crawl varchar, run varchar)',
  );
  if (archived.length > 0)
    await database.run(
      `insert into segment_line
      select distinct regexp_extract(filename, '(\\d+)\\.pages\\.parquet$', 1)::bigint, task, crawl, run
      from read_parquet($files, filename = true) where task is not null`,
      { files: archived.map((segment) => archivedPages(folder.archive, segment)) },
    );
  if (landed.length > 0)
    await database.run(
      `insert into segment_line
      select distinct regexp_extract(filename, '(\\d+)\\.pages\\.ndjson$', 1)::bigint, task, crawl, run
      from read_json(
        $files, format = 'newline_delimited', filename = true, maximum_object_size = 8388608,
        columns = {task: 'VARCHAR', crawl: 'VARCHAR', run: 'VARCHAR'}
      ) where task is not null`,
      { files: pageFiles },
    );
  const rows = await database.rows<{ first: bigint; last: bigint }>(readSql('archive/spans.sql'));
  const spans = rows.map(({ first, last }) => ({ first: Number(first), last: Number(last) }));
  const segments = [...new Set([...archived, ...landed])].sort((a, b) => a - b);
  return cutBatches(segments, spans);
}

/**
 * Restores one batch to a folder of its own and types it, so that nothing else is published with it.
 * @param needed the records to read, if not all of the archived segments'
 * @returns the data folder for publish
 */
export async function openReplay(
  folder: DataFolder,
  batch: readonly number[],
  options: Omit<DatabaseOptions, 'readOnly'>,
  needed?: NeededRecords,
): Promise<DataFolder> {
  await closeReplay(folder);
  const replay = {
    ...folder,
    landing: join(folder.replay, 'landing'),
    staging: join(folder.replay, 'staging'),
  };
  for (const dir of [replay.landing, replay.staging]) await mkdir(dir, { recursive: true, mode: 0o700 });
  const landed = new Set(await listSegments(folder.landing));
  const database = await openDatabase(':memory:', { ...options, threads: 1 });
  try {
    for (const segment of batch) {
      if (landed.has(segment)) await linkSegment(folder.landing, replay.landing, segment);
      else await restoreSegment(database, folder.archive, replay.landing, segment, needed);
    }
    const loader = await createLoader(database, replay);
    for (const segment of batch) await loader.loadSegment(segment);
  } finally {
    database.close();
  }
  return replay;
}

/** Removes the files of a replay, also of one that was killed. */
export async function closeReplay(folder: DataFolder): Promise<void> {
  await rm(folder.replay, { recursive: true, force: true });
}

/**
 * Links a sealed segment's files, which are never written again, to another folder; copies them if the landing log is on another
 * disk.
 */
export async function linkSegment(from: string, to: string, segment: number): Promise<void> {
  for (const nameOf of [recordFile, pageFile])
    await link(nameOf(from, segment), nameOf(to, segment)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EXDEV') throw error;
      return copyFile(nameOf(from, segment), nameOf(to, segment));
    });
}
