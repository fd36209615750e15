import { readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { isDiskFull, isOutOfMemory, StoppedEarly } from '../errors.ts';
import { syncDirectory, writeSynced } from '../landing/segment-files.ts';

/** The archived record lines of a segment: those whose text no other file had; none when there is no such. */
export function archivedRecords(dir: string, segment: number): string {
  return join(dir, `${segment}.parquet`);
}

/** The archived page lines of a segment: written last, so a segment that has them is archived. */
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

/** Where the archive says which segments left it. */
function removedNote(dir: string): string {
  return join(dir, 'removed.json');
}

/** What the archive says of segments that left it. */
export interface Removed {
  /** The newest segment whose page lines were ever removed. */
  last: number;
  /** The newest segment there was when the texts that nothing needs were last looked for. */
  swept?: number;
}

/** Null when the archive holds all that there was. */
export async function readRemovedNote(dir: string): Promise<Removed | null> {
  const text = await readFile(removedNote(dir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return text === null ? null : (JSON.parse(text) as Removed);
}

/** Durable when it resolves, once the folder is synced. */
export async function writeRemovedNote(dir: string, note: Removed): Promise<void> {
  await writeSynced(`${removedNote(dir)}.tmp`, JSON.stringify(note));
  await rename(`${removedNote(dir)}.tmp`, removedNote(dir));
  await syncDirectory(dir);
}

/**
 * The record files that hold texts, oldest first: those of archived segments, and those of segments whose page lines
 * have left the archive, as long as a page that stays needs some of their texts.
 * @param without segments whose files are none of them
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

/** Whether an error says something of the archive, not of the disk that is written to, the memory, or a signal to stop. */
export function isOfArchive(error: unknown): boolean {
  const isOfFiles = (error as NodeJS.ErrnoException).code !== undefined;
  return !(isOfFiles || error instanceof StoppedEarly || isDiskFull(error) || isOutOfMemory(error));
}
