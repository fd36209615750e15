import { chmod, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { asDiskError, isDamaged, StoppedEarly } from '../errors.ts';
import { type Database, isLockConflict, openDatabase } from './database.ts';
import { memoryLimits } from './memory.ts';

/** Lock files that this process holds. The system lets a process lock a file twice and frees both locks at the first close. */
const held = new Set<string>();

/**
 * Takes the lock that allows one run at a time in a data folder. It is the lock that DuckDB has on an open file, which the system
 * frees when the process dies, however it dies, so none is ever stale.
 * @throws StoppedEarly when another run holds it; DiskError when the file cannot be made or read
 */
export async function takeRunLock(path: string, tempDir: string): Promise<{ release(): void }> {
  const name = join(await realpath(dirname(path)).catch(() => resolve(dirname(path))), basename(path));
  if (held.has(name)) throw inUse();
  held.add(name);
  let database: Database | undefined;
  const release = () => {
    database?.close();
    held.delete(name);
  };
  try {
    database = await openLockFile(path, tempDir);
    await chmod(path, 0o600);
    return { release };
  } catch (error) {
    release();
    throw isLockConflict(error) ? inUse(error) : asDiskError(error);
  }
}

function inUse(cause?: unknown): StoppedEarly {
  return new StoppedEarly(
    'another run is using this data folder',
    'Wait until it has ended (`ledgerlake status` shows it), or name another folder with --data-dir.',
    { cause },
  );
}

/** Opens the lock file, which holds nothing, so one that a full disk left torn is replaced. */
async function openLockFile(path: string, tempDir: string): Promise<Database> {
  const open = () => openDatabase(path, { memoryLimit: memoryLimits.lock, threads: 1, tempDir });
  try {
    return await open();
  } catch (error) {
    if (!isDamaged(error)) throw error;
    await rm(path);
    return await open();
  }
}
