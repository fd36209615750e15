import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { crawlKey, readLanding } from '../landing/reader.ts';
import { listSegments, syncDirectory } from '../landing/segment-files.ts';
import { readSql } from '../sql-text.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../warehouse/database.ts';
import { forgetChecksums } from './archive-checksums.ts';
import {
  archivedPages,
  listArchived,
  listTexts,
  readRemovedNote,
  writeRemovedNote,
} from './archive-files.ts';
import { removeLostTexts } from './lost-texts.ts';
import { planBatches } from './replay.ts';
import { planSweep, type Sweep, sweepTexts, sweptBytes } from './sweep-texts.ts';

/** Segments whose page lines may be removed: whole batches, so that no crawl keeps only a part of its pages. Pure. */
export function chooseExpired(
  batches: readonly (readonly number[])[],
  mayGo: (segment: number) => boolean,
): number[] {
  return batches.filter((batch) => batch.every(mayGo)).flat();
}

/** The part of the archive to remove. */
export interface ExpiredArchive {
  /** Segments whose page lines are removed. */
  segments: readonly number[];
  /** The sweep of texts that only they needed; null if it is too early for one. */
  sweep: Sweep | null;
}

/**
 * Finds archived segments older than `before` (Unix ms) that nothing needs, and the texts to remove with them.
 * @param settled segments in the snapshot that no crawl waits for
 */
export async function listExpired(
  folder: DataFolder,
  options: Omit<DatabaseOptions, 'readOnly'>,
  settled: ReadonlySet<number>,
  before: number,
): Promise<ExpiredArchive> {
  const archived = await listArchived(folder.archive);
  const old = new Set(archived.filter((segment) => segment < before && settled.has(segment)));
  const holdsOldTexts = (await readRemoved(folder.archive)) !== null;
  if (old.size === 0 && !holdsOldTexts) return { segments: [], sweep: null };
  const database = await openDatabase(':memory:', options);
  try {
    const batches = old.size === 0 ? [] : await planBatches(database, folder);
    const segments = chooseExpired(batches, (segment) => old.has(segment));
    return { segments, sweep: await planSweep(database, folder.archive, segments) };
  } finally {
    database.close();
  }
}

/** Bytes that removing them frees; estimated for texts from their average size. */
export async function sizeExpired(archive: string, { segments, sweep }: ExpiredArchive): Promise<number> {
  const sizes = await Promise.all(segments.map((segment) => stat(archivedPages(archive, segment))));
  return sizes.reduce((sum, { size }) => sum + size, 0) + (sweep === null ? 0 : sweptBytes(sweep));
}

/** Removes what expired, and records that the archive no longer reaches back to the first segment. */
export async function removeArchived(
  { archive }: DataFolder,
  options: Omit<DatabaseOptions, 'readOnly'>,
  { segments, sweep }: ExpiredArchive,
): Promise<void> {
  if (segments.length > 0) {
    const note = await readRemovedNote(archive);
    await writeRemovedNote(archive, { ...note, last: Math.max(...segments, note?.last ?? 0) });
    for (const segment of segments) await rm(archivedPages(archive, segment), { force: true });
    await syncDirectory(archive);
  }
  if (sweep !== null) await sweepTexts(archive, options, sweep);
  if (segments.length > 0) await removeLostTexts(archive);
  if (segments.length > 0 || sweep !== null) await forgetChecksums(archive);
}

/** The newest segment that was ever removed from the archive; null if none was. */
export async function readRemoved(archive: string): Promise<number | null> {
  return (await readRemovedNote(archive))?.last ?? null;
}

/** The highest number that a segment has or had, in the landing log or the archive; 0 if there is none. */
export async function findNewestSegment({ landing, archive }: DataFolder): Promise<number> {
  const [landed, archived] = [await listSegments(landing), await listArchived(archive)];
  return Math.max(landed.at(-1) ?? 0, archived.at(-1) ?? 0, (await readRemoved(archive)) ?? 0);
}

/**
 * Old checkpoints without use (sql/retention/checkpoints.sql) whose crawl has no line in the landing log. Publish would apply a
 * crawl in the log again if its checkpoint were removed.
 * @param formerBefore the limit for targets that no job has now
 * @returns rowids, for `removeCheckpoints`
 */
export async function listOldCheckpoints(
  build: Database,
  folder: DataFolder,
  before: number,
  formerBefore: number,
): Promise<bigint[]> {
  const old = await build.rows<{ row_id: bigint; task: string; crawl: string }>(
    readSql('retention/checkpoints.sql'),
    { before: new Date(before).toISOString(), former_before: new Date(formerBefore).toISOString() },
  );
  if (old.length === 0) return [];
  const landed = await readLanding(folder.landing);
  return old.flatMap((checkpoint) => (landed.has(crawlKey(checkpoint)) ? [] : checkpoint.row_id));
}

export async function removeCheckpoints(build: Database, places: readonly bigint[]): Promise<void> {
  if (places.length === 0) return;
  const old = 'rowid::varchar in (select unnest($places::varchar[]))';
  const params = { places: places.map(String) };
  await build.transaction(async () => {
    // A target without any checkpoint left needs no quarantine entries to be read again.
    await build.run(
      `delete from meta.quarantine
      where task in (select task from meta.checkpoints where ${old})
        and task not in (select task from meta.checkpoints where not ${old})`,
      params,
    );
    await build.run(`delete from meta.checkpoints where ${old}`, params);
  });
}

/** Record files that do not count as texts, and drafts: a kill while archiving leaves them. */
export async function listOrphans(archive: string): Promise<string[]> {
  const texts = new Set(await listTexts(archive));
  return (await readdir(archive))
    .filter((name) => /\.tmp$|^\d+\.parquet$/.test(name))
    .map((name) => join(archive, name))
    .filter((path) => !texts.has(path));
}
