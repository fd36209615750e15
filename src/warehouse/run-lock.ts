import { chmod } from 'node:fs/promises';
import { StoppedEarly } from '../errors.ts';
import { type Database, openDatabase } from './database.ts';

/**
 * One run at a time in a data folder. The lock is the one DuckDB takes on a file it has open: the system frees it
 * when the process dies, however it dies, so nothing stale is ever left.
 * @throws StoppedEarly when another run holds it
 */
export async function takeRunLock(path: string, tempDir: string): Promise<{ release(): void }> {
  let database: Database;
  try {
    database = await openDatabase(path, { memoryLimit: '32MB', threads: 1, tempDir });
    await chmod(path, 0o600);
  } catch (error) {
    if (error instanceof Error && /lock/i.test(error.message)) {
      throw new StoppedEarly(
        'another run is using this data folder',
        'Wait until it has ended (`ledgerlake status` shows it), or name another folder with --data-dir.',
        { cause: error },
      );
    }
    throw error;
  }
  return { release: () => database.close() };
}
