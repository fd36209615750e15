import { rm, stat } from 'node:fs/promises';
import { syncDirectory } from '../landing/segment-files.ts';
import { readSql } from '../sql-text.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../warehouse/database.ts';
import { retryWithMoreMemory } from '../warehouse/memory.ts';
import { countRows } from '../warehouse/parquet-rows.ts';
import { writeArchive } from './archive.ts';
import {
  archivedPages,
  archivedRecords,
  listArchived,
  listTexts,
  readRemovedNote,
  writeRemovedNote,
} from './archive-files.ts';

/** A record file whose segment's page lines were removed from the archive, or are removed now. */
export interface OldTexts {
  segment: number;
  bytes: number;
  texts: number;
  /** How many texts a remaining page refers to. */
  needed: number;
}

/** A sweep: record files to remove, and record files whose needed texts are merged into one file. */
export interface Sweep {
  remove: readonly OldTexts[];
  merge: readonly OldTexts[];
}

/**
 * A sweep reads the needs of every page, so it runs only once this share of all texts is newer than the last sweep: no more texts
 * than have come can have gone out of use.
 */
const dueShare = 0.2;

/** A file is rewritten if less than this share of its texts is needed. */
const worthKeeping = 0.7;
/** Files below `bytes` are merged if there are more than `most` of them, because each costs an open. */
const smallFile = { bytes: 4_000_000, most: 16 };

/** Pure. */
export function chooseSweep(files: readonly OldTexts[]): Sweep {
  const remove = files.filter(({ needed }) => needed === 0);
  const kept = files.filter(({ needed }) => needed > 0);
  const small = kept.filter(({ bytes }) => bytes < smallFile.bytes);
  const merge = kept.filter(
    (file) =>
      file.needed < file.texts * worthKeeping || (small.length > smallFile.most && small.includes(file)),
  );
  return { remove, merge };
}

/** Bytes that a sweep frees, estimated from the average size of texts. Pure. */
export function sweptBytes({ remove, merge }: Sweep): number {
  const freed = merge.map(({ bytes, texts, needed }) => Math.round(bytes * (1 - needed / texts)));
  return [...remove.map(({ bytes }) => bytes), ...freed].reduce((sum, bytes) => sum + bytes, 0);
}

/**
 * Plans the sweep of texts whose segments were removed from the archive, or are removed now.
 * @param expired segments that are removed now
 * @returns null if it is too early for a sweep
 */
export async function planSweep(
  database: Database,
  archive: string,
  expired: readonly number[],
): Promise<Sweep | null> {
  const files = await listTexts(archive);
  if (files.length === 0 || !(await isDue(database, archive, files))) return null;
  const staying = await listStaying(archive, expired);
  const own = new Set(staying.map((segment) => archivedRecords(archive, segment)));
  const old = files.filter((file) => !own.has(file));
  if (old.length === 0) return { remove: [], merge: [] };
  const rows = await retryWithMoreMemory(database, async () => {
    await findNeeded(database, archive, staying);
    return database.rows<{ segment: bigint; texts: bigint; needed: bigint }>(
      readSql('archive/needed-texts.sql'),
      { files: old },
    );
  });
  const described = rows.map(async ({ segment, texts, needed }): Promise<OldTexts> => {
    const { size } = await stat(archivedRecords(archive, Number(segment)));
    return { segment: Number(segment), bytes: size, texts: Number(texts), needed: Number(needed) };
  });
  return chooseSweep(await Promise.all(described));
}

/**
 * Carries out `planSweep`, after the page lines of the expired segments are removed. Needed texts are in their new file before
 * the old files are removed, so a kill in between leaves some in two files.
 */
export async function sweepTexts(
  archive: string,
  options: Omit<DatabaseOptions, 'readOnly'>,
  sweep: Sweep,
): Promise<void> {
  const target = sweep.merge.at(-1);
  if (target !== undefined) {
    const database = await openDatabase(':memory:', options);
    await mergeTexts(database, archive, sweep.merge, target.segment).finally(() => database.close());
  }
  for (const { segment } of [...sweep.remove, ...sweep.merge.slice(0, -1)])
    await rm(archivedRecords(archive, segment), { force: true });
  await syncDirectory(archive);
  const note = await readRemovedNote(archive);
  if (note !== null)
    await writeRemovedNote(archive, { ...note, swept: (await listArchived(archive)).at(-1) ?? note.last });
}

async function mergeTexts(
  database: Database,
  archive: string,
  files: readonly OldTexts[],
  segment: number,
): Promise<void> {
  await findNeeded(database, archive, await listStaying(archive, []));
  await writeArchive(database, archivedRecords(archive, segment), readSql('archive/moved-texts.sql'), {
    files: files.map((old) => archivedRecords(archive, old.segment)),
  });
  await syncDirectory(archive);
}

async function listStaying(archive: string, expired: readonly number[]): Promise<number[]> {
  const leaving = new Set(expired);
  return (await listArchived(archive)).filter((segment) => !leaving.has(segment));
}

async function isDue(database: Database, archive: string, files: readonly string[]): Promise<boolean> {
  const swept = (await readRemovedNote(archive))?.swept ?? Number.NEGATIVE_INFINITY;
  const rows = await countRows(database, files);
  const count = (isCounted: (file: string) => boolean) =>
    rows.reduce((sum, n, at) => sum + (isCounted(files[at]!) ? n : 0), 0);
  const since = count((file) => Number(/(\d+)\.parquet$/.exec(file)?.[1]) > swept);
  return since >= count(() => true) * dueShare;
}

/** Makes `needed_name`, the names of the texts that the pages of these segments need. */
async function findNeeded(database: Database, archive: string, staying: readonly number[]): Promise<void> {
  const pages = staying.map((segment) => archivedPages(archive, segment));
  // DuckDB does not accept an empty list of files.
  if (pages.length > 0) await database.run(readSql('archive/needed-names.sql'), { pages });
  else
    await database.run('create or replace temp table needed_name (text_segment bigint, text_number integer)');
}
