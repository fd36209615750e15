import { chmod, rm } from 'node:fs/promises';
import { asDiskError, isDamaged, StoppedEarly } from '../errors.ts';
import { type Database, isLockConflict, openDatabase } from './database.ts';
import { memoryLimits } from './memory.ts';

/**
 * One run at a time in a data folder. The lock is the one DuckDB takes on a file it has open: the system frees it
 * when the process dies, however it dies, so nothing stale is ever left.
 * @throws StoppedEarly when another run holds it; DiskError when the file cannot be made or read
 */
export async function takeRunLock(path: string, tempDir: string): Promise<{ release(): void }> {
  let database: Database | undefined;
  try {
    database = await openLockFile(path, tempDir);
    await chmod(path, 0o600);
    return { release: () => database?.close() };
  } catch (error) {
    database?.close();
    if (isLockConflict(error)) {
      throw new StoppedEarly(
        'another run is using this data folder',
        'Wait until it has ended (`ledgerlake status` shows it), or name another folder with --data-dir.',
        { cause: error },
      );
    }
    throw asDiskError(error);
  }
}

/** The file holds nothing: one that a full disk left torn is replaced. */
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
