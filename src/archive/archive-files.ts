import { readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { isDiskFull, isOutOfMemory, StoppedEarly } from '../errors.ts';
import { syncDirectory, writeSynced } from '../landing/segment-files.ts';

/** The record lines of a segment whose text no earlier file had; the file does not exist if there are none. */
export function archivedRecords(dir: string, segment: number): string {
  return join(dir, `${segment}.parquet`);
}

/** The page lines of a segment. The file is written last, so a segment that has it is archived. */
export function archivedPages(dir: string, segment: number): string {
  return join(dir, `${segment}.pages.parquet`);
}

/** Archived segments, oldest first. */
export async function listArchived(dir: string): Promise<number[]> {
  return (await readdir(dir))
    .map((name) => /^(\d+)\.pages\.parquet$/.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

/** The file that records which segments were removed from the archive. */
function removedNote(dir: string): string {
  return join(dir, 'removed.json');
}

/** Which segments were removed from the archive. */
export interface Removed {
  /** The newest segment whose page lines were ever removed. */
  last: number;
  /** The newest segment at the last sweep of texts that nothing needs. */
  swept?: number;
}

/** Null if nothing was ever removed. */
export async function readRemovedNote(dir: string): Promise<Removed | null> {
  const text = await readFile(removedNote(dir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return text === null ? null : (JSON.parse(text) as Removed);
}

/** Durable when it resolves. */
export async function writeRemovedNote(dir: string, note: Removed): Promise<void> {
  await writeSynced(`${removedNote(dir)}.tmp`, JSON.stringify(note));
  await rename(`${removedNote(dir)}.tmp`, removedNote(dir));
  await syncDirectory(dir);
}

/**
 * The record files that hold texts, oldest first: those of archived segments, and those of segments whose page lines were
 * removed, as long as another page needs some of their texts.
 * @param without segments whose files do not count
 */
export async function listTexts(dir: string, without: readonly number[] = []): Promise<string[]> {
  const archived = new Set(await listArchived(dir));
  const last = (await readRemovedNote(dir))?.last ?? Number.NEGATIVE_INFINITY;
  return (await listRecordFiles(dir))
    .filter((segment) => !without.includes(segment) && (archived.has(segment) || segment <= last))
    .map((segment) => archivedRecords(dir, segment));
}

/** Segments that have a record file, oldest first. */
export async function listRecordFiles(dir: string): Promise<number[]> {
  return (await readdir(dir))
    .map((name) => /^(\d+)\.parquet$/.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

/** Whether an error means that the archive is damaged: it is not of the file system, a full disk, memory, or a signal. */
export function isArchiveDamage(error: unknown): boolean {
  const isOfFiles = (error as NodeJS.ErrnoException).code !== undefined;
  return !(isOfFiles || error instanceof StoppedEarly || isDiskFull(error) || isOutOfMemory(error));
}
