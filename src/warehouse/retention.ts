import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { crawlKey, readLanding } from '../landing/reader.ts';
import { exists, listSegments, syncDirectory, writeSynced } from '../landing/segment-files.ts';
import { archivedPages, archivedRecords, listArchived } from './archive-files.ts';
import { type Database, type DatabaseOptions, openDatabase } from './database.ts';
import { planBatches } from './replay.ts';
import { readSql } from './sql-text.ts';

/** A segment of the archive whose pages have records in another one. */
export interface Reference {
  segment: number;
  kept: number;
}

/**
 * Segments that may go: whole batches, so that no crawl is left with a part of its pages, of which nothing that stays
 * keeps records. Pure.
 * @param mayGo whether a segment is old enough, archived and in the snapshot
 */
export function chooseExpired(
  batches: readonly (readonly number[])[],
  references: readonly Reference[],
  mayGo: (segment: number) => boolean,
): number[] {
  const batchOf = new Map(batches.flatMap((batch) => batch.map((segment) => [segment, batch] as const)));
  const needs = new Map<number, number[]>();
  for (const { segment, kept } of references) needs.set(segment, [...(needs.get(segment) ?? []), kept]);
  const stay = new Set<number>();
  const todo = batches.filter((batch) => !batch.every(mayGo)).flat();
  for (let segment = todo.pop(); segment !== undefined; segment = todo.pop()) {
    if (stay.has(segment)) continue;
    stay.add(segment);
    todo.push(...(batchOf.get(segment) ?? []), ...(needs.get(segment) ?? []));
  }
  return batches.flat().filter((segment) => !stay.has(segment));
}

/**
 * Archived segments that are older than a moment (Unix ms) and that nothing needs.
 * @param settled segments that the snapshot holds and nothing waits for
 */
export async function listExpired(
  folder: DataFolder,
  options: Omit<DatabaseOptions, 'readOnly'>,
  settled: ReadonlySet<number>,
  before: number,
): Promise<number[]> {
  const archived = await listArchived(folder.archive);
  const old = new Set(archived.filter((segment) => segment < before && settled.has(segment)));
  if (old.size === 0) return [];
  const database = await openDatabase(':memory:', options);
  try {
    const references = await readReferences(database, folder, archived);
    return chooseExpired(await planBatches(database, folder), references, (segment) => old.has(segment));
  } finally {
    database.close();
  }
}

async function readReferences(
  database: Database,
  { archive }: DataFolder,
  archived: readonly number[],
): Promise<Reference[]> {
  const rows = await database.rows<{ segment: bigint; kept: bigint }>(
    `select distinct regexp_extract(filename, '(\\d+)\\.pages\\.parquet$', 1)::bigint as segment, kept_segment as kept
    from read_parquet($files, filename = true) where kept_segment is not null`,
    { files: archived.map((segment) => archivedPages(archive, segment)) },
  );
  return rows.map(({ segment, kept }) => ({ segment: Number(segment), kept: Number(kept) }));
}

/** Bytes of a segment's archived files. */
export async function sizeArchived(archive: string, segment: number): Promise<number> {
  const files = [archivedPages(archive, segment), archivedRecords(archive, segment)];
  const sizes = files.map((file) =>
    stat(file).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Removes segments from the archive, and notes that it does not reach back to the first any more. */
export async function removeArchived(archive: string, segments: readonly number[]): Promise<void> {
  const last = Math.max(...segments, (await readRemoved(archive)) ?? 0);
  const note = removedNote(archive);
  await writeSynced(`${note}.tmp`, JSON.stringify({ last }));
  await rename(`${note}.tmp`, note);
  await syncDirectory(archive);
  for (const segment of segments) {
    // Without its page lines a segment is not archived: what a kill leaves of it is a leftover.
    await rm(archivedPages(archive, segment), { force: true });
    await rm(archivedRecords(archive, segment), { force: true });
  }
  await syncDirectory(archive);
}

/** The newest segment that was ever removed from the archive; null when it holds all there was. */
export async function readRemoved(archive: string): Promise<number | null> {
  const note = removedNote(archive);
  if (!(await exists(note))) return null;
  return (JSON.parse(await readFile(note, 'utf8')) as { last: number }).last;
}

/** The highest number that a segment has or had, in the landing log or the archive; 0 where there is none. */
export async function findNewestSegment({ landing, archive }: DataFolder): Promise<number> {
  const [landed, archived] = [await listSegments(landing), await listArchived(archive)];
  return Math.max(landed.at(-1) ?? 0, archived.at(-1) ?? 0, (await readRemoved(archive)) ?? 0);
}

function removedNote(archive: string): string {
  return join(archive, 'removed.json');
}

/**
 * Complete checkpoints before a moment that a later one of the same target, range and kind has replaced, and whose
 * crawl has no line in the landing log: publish would take that for one that was never applied.
 * @returns places, for `removeCheckpoints`
 */
export async function listOldCheckpoints(
  build: Database,
  folder: DataFolder,
  before: number,
): Promise<bigint[]> {
  const old = await build.rows<{ place: bigint; task: string; crawl: string }>(
    readSql('retention/checkpoints.sql'),
    { before: new Date(before).toISOString() },
  );
  if (old.length === 0) return [];
  const landed = await readLanding(folder.landing);
  return old.flatMap((checkpoint) => (landed.has(crawlKey(checkpoint)) ? [] : checkpoint.place));
}

export async function removeCheckpoints(build: Database, places: readonly bigint[]): Promise<void> {
  if (places.length === 0) return;
  await build.run(
    'delete from meta.checkpoints where rowid::varchar in (select unnest($places::varchar[]))',
    { places: places.map(String) },
  );
}

/** Record files that no page file stands beside: what a kill in the middle of archiving or removing left. */
export async function listOrphans(archive: string): Promise<string[]> {
  const archived = new Set(await listArchived(archive));
  return (await readdir(archive)).flatMap((name) => {
    const segment = /^(\d+)\.parquet$/.exec(name)?.[1];
    return name.endsWith('.tmp') || (segment !== undefined && !archived.has(Number(segment)))
      ? join(archive, name)
      : [];
  });
}
