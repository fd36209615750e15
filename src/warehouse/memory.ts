import { stat } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { isOutOfMemory } from '../errors.ts';
import type { Database } from './database.ts';

/**
 * What DuckDB knows of the row groups and blocks it has read does not count for its memory limit: about a fifteenth of
 * the file. Measured: 1.9 MB for each 100,000 records, which take 29 MB of it.
 */
const uncounted = 1 / 15;

/**
 * The memory limit with which work on a whole file takes not much more than work on a small one with `limit` bytes. Over
 * 12 million assets a publish at 256MB takes 550 MB resident, at three quarters of that 475.
 * @param least share of the limit that the work needs
 */
export async function limitBeside(path: string, limit: number, least: number): Promise<string> {
  const { size } = await stat(path);
  return mebibytes(Math.max(limit * least, limit - size * uncounted));
}

/**
 * Does `work`; where that takes more memory than `limit` (what the database may use, if not said), once more on one
 * thread and with what the machine has. DuckDB holds 2,048 rows at a time, however large they are, and functions on
 * JSON all their text many times over: 1.5 GB for a segment of records of 30 KB that all have unknown members.
 */
export async function withRoom<T>(database: Database, work: () => Promise<T>, limit?: string): Promise<T> {
  try {
    return await (limit === undefined ? work() : database.withMemory(limit, work));
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
  }
  // In a container, of what it may use.
  const machineBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const roomBytes = Math.max(database.memoryBytes, machineBytes * 0.8);
  return database.withMemory(mebibytes(roomBytes), () => database.onOneThread(work));
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / 2 ** 20)}MiB`;
}
