import { stat } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { isOutOfMemory } from '../errors.ts';
import type { Database } from './database.ts';

/**
 * What each of our databases may take besides the build and the snapshot, which have `warehouse.memory_limit`
 * (src/config/config-schema.ts says the least). Bodies of answers have a bound of their own (src/api/http.ts).
 */
export const memoryLimits = {
  /**
   * The loader, which works in memory while the crawl runs. On one thread it takes 250 MB. With 512MB, a run of 200,000
   * records sometimes took 550 MB resident (test/e2e/bounded.test.ts); records of megabytes, which every function that reads
   * them holds several times, take more all the same, in a second attempt (docs/performance.md).
   */
  loader: '320MB',
  /** The loader of segments that are typed again, beside a build that is open. */
  loaderBesideBuild: '256MB',
  /** Looks received records up in the build: 8 MB of records, held ten times, and the pages of the table. */
  knownRows: '256MB',
  /**
   * Reads every row of an export once. Blocks that were read would stay in all the memory there is: a run over two million
   * records took 533 MB at most, there.
   */
  exportScan: '96MB',
  /** Every table without rows. */
  emptyTables: '64MB',
  /** The lock file, which holds nothing. */
  lock: '32MB',
} as const;

/**
 * Memory to plan for a slice of a publish, bytes: what it takes whatever its rows are (the blocks that every column is written
 * to), … With less, DuckDB does not fail: an insert takes three times as long.
 */
export const bytesPerSlice = 128e6;

/**
 * … and for each row, by what becomes of it: every row has narrow copies in `seen`, `stored` and `verdict`; an inserted one
 * is held until its row group is full; a changed one costs the table's row group its delete marks besides, and its
 * former version is written again. Measured with bench/publish.ts at 256MB, and over 12 million rows at 192MB.
 */
export const bytesPerRow = { seen: 1000, inserted: 1000, changed: 4000, past: 2000 };

/** Memory to plan for a row whose location is looked up, bytes: two numbers, held twice. */
export const bytesPerLocation = 100;

/**
 * What DuckDB knows of the row groups and blocks it has read does not count for its memory limit: about a fifteenth of
 * the file. Measured: 1.9 MB for each 100,000 records, which take 29 MB of it.
 */
const uncounted = 1 / 15;

/** What it takes besides its limit whatever the file is: with it, a publish beside the rest of a run stays below 512 MB. */
const besides = 32e6;

/**
 * The memory limit with which work on a whole file takes not much more than work on a small one with `limit` bytes. Over
 * 12 million assets a publish at 256MB takes 550 MB resident, at three quarters of that 475.
 * @param least share of the limit that the work needs
 */
export async function limitBeside(path: string, limit: number, least: number): Promise<string> {
  const { size } = await stat(path);
  return mebibytes(Math.max(limit * least, limit - besides - size * uncounted));
}

/**
 * Does `work`; where that takes more memory than `limit` (default: what the database may use), once more on one
 * thread and with what the machine has. DuckDB holds 2,048 rows at a time, however large they are, and functions on
 * JSON all their text many times over: 1.5 GB for a segment of records of 30 KB that all have unknown members.
 */
export async function retryWithMoreMemory<T>(
  database: Database,
  work: () => Promise<T>,
  limit?: string,
): Promise<T> {
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
