import { mkdirSync, realpathSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { UsageError } from './errors.ts';

/** What this process takes from the modes of folders that others may read. */
let sharedUmask = process.umask();

/**
 * From now on every file is its owner's alone, those too that DuckDB makes by itself (write-ahead log, drafts, spill):
 * a later chmod would come too late. What others may read gets its mode explicitly.
 */
export function keepFilesPrivate(): void {
  sharedUmask = process.umask(0o077);
}

let privateWorks = 0;

/** As `keepFilesPrivate`, while `work` goes on: for a process that is not the program's own. */
export async function withPrivateFiles<T>(work: () => Promise<T>): Promise<T> {
  if (privateWorks === 0) keepFilesPrivate();
  privateWorks += 1;
  try {
    return await work();
  } finally {
    privateWorks -= 1;
    if (privateWorks === 0) process.umask(sharedUmask);
  }
}

/**
 * Makes a folder that others may read, and those above it, with this mode less the umask the program was started with.
 * @returns the topmost of those that were made; undefined when all were there
 * @throws UsageError as `refuseGoneFolder`, where the path is relative
 */
export function makeSharedFolder(path: string, mode: number): string | undefined {
  // Of a folder that is gone, Node's mkdirSync looks for a parent without end.
  if (!isAbsolute(path)) refuseGoneFolder();
  const before = process.umask(sharedUmask);
  try {
    return mkdirSync(path, { recursive: true, mode });
  } finally {
    process.umask(before);
  }
}

/** @throws UsageError where the current folder was removed: no relative path leads anywhere then */
export function refuseGoneFolder(): void {
  try {
    realpathSync.native('.');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return;
    throw new UsageError('the current folder was removed', 'Change to a folder that exists.');
  }
}

/** This mode less the umask the program was started with: for a file that is no secret of the data folder. */
export function sharedMode(mode: number): number {
  return mode & ~sharedUmask;
}
