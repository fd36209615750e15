import { mkdirSync, realpathSync } from 'node:fs';
import { UsageError } from './errors.ts';

/** The umask for folders that others may read: the one the program was started with. */
let sharedUmask = process.umask();

/**
 * Makes every new file private to its owner, DuckDB's own files included (write-ahead log, drafts, spill), for which a later
 * chmod would come too late. What others may read gets its mode explicitly.
 */
export function keepFilesPrivate(): void {
  sharedUmask = process.umask(0o077);
}

let worksUnderWay = 0;

/** As `keepFilesPrivate` during `work`, for a process that is not the program's own. */
export async function withPrivateFiles<T>(work: () => Promise<T>): Promise<T> {
  if (worksUnderWay === 0) keepFilesPrivate();
  worksUnderWay += 1;
  try {
    return await work();
  } finally {
    worksUnderWay -= 1;
    if (worksUnderWay === 0) process.umask(sharedUmask);
  }
}

/**
 * Makes a folder that others may read, and its parents, with this mode less the umask the program was started with.
 * @param path absolute: in a removed folder, Node's mkdirSync looks for the parent of a relative one for ever
 * @returns the topmost folder that was made; undefined when all existed
 */
export function makeSharedFolder(path: string, mode: number): string | undefined {
  const before = process.umask(sharedUmask);
  try {
    return mkdirSync(path, { recursive: true, mode });
  } finally {
    process.umask(before);
  }
}

/** @throws UsageError where the current folder was removed, so that no relative path can be used */
export function refuseGoneFolder(): void {
  try {
    realpathSync.native('.');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return;
    throw new UsageError('the current folder was removed', 'Change to a folder that exists.');
  }
}

/** This mode less the umask the program was started with, for a file that others may read. */
export function sharedMode(mode: number): number {
  return mode & ~sharedUmask;
}
