import { stat } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { isOutOfMemory } from '../errors.ts';
import type { Database } from './database.ts';

/**
 * Memory limits of databases other than the build and the snapshot, which have `warehouse.memory_limit` (its minimum is in
 * src/config/config-schema.ts). Bodies of answers have their own limit (src/api/http.ts).
 */
export const memoryLimits = {
  /**
   * The loader, which works in memory while the crawl runs. On one thread it takes 250 MB. At 512MB a run of 200,000 records
   * sometimes took 550 MB resident (test/e2e/bounded.test.ts). Records of megabytes, which each function that reads them holds
   * several times, still take more, in a second attempt (docs/performance.md).
   */
  loader: '320MB',
  /** The loader of segments that are loaded again while the build is open. */
  loaderBesideBuild: '256MB',
  /** Looks received records up in the build: 8 MB of records, held ten times, and the pages of the table. */
  knownRows: '256MB',
  /**
   * Reads every row of an export once. With a higher limit, blocks that were read stay in memory: a run over two million records
   * took up to 533 MB.
   */
  exportScan: '96MB',
  /** Every table without rows. */
  emptyTables: '64MB',
  /** The lock file, which holds nothing. */
  lock: '32MB',
} as const;

/**
 * Memory to plan for a slice of a publish besides its rows, bytes: the blocks that every column is written to. With less, DuckDB
 * does not fail, but an insert takes three times as long.
 */
export const bytesPerSlice = 128e6;

/**
 * Memory to plan for each row of a slice, bytes, by what becomes of it. Every row has narrow copies in `seen`, `stored` and `verdict`;
 * an inserted one is held until its row group is full; a changed one also needs delete marks in its row group, and its former
 * version is written again. Measured with bench/publish.ts at 256MB, and over 12 million rows at 192MB.
 */
export const bytesPerRow = { seen: 1000, inserted: 1000, changed: 4000, past: 2000 };

/** Memory to plan for a row whose location is looked up, bytes: two numbers, held twice. */
export const bytesPerLocation = 100;

/**
 * DuckDB's metadata of the row groups and blocks it has read, as a share of the file. It does not count for the memory limit.
 * Measured: 1.9 MB for each 100,000 records, which take 29 MB of the file.
 */
const metadataShare = 1 / 15;

/**
 * Memory that DuckDB takes beyond its limit for any file, bytes. With it, a publish and the rest of a run stay below 512 MB also on a
 * machine that is busy, where memory is given back late: 400 to 460 MB in test/e2e/bounded.test.ts, with half of it up to 515.
 */
const overheadBytes = 64e6;

/**
 * The memory limit at which work on a large file takes little more memory than work on a small one takes at `limit` bytes. Over
 * 12 million assets a publish at 256MB takes 550 MB resident; at three quarters of that, 475.
 * @param leastShare share of the limit that the work needs
 */
export async function limitBeside(path: string, limit: number, leastShare: number): Promise<string> {
  const { size } = await stat(path);
  return mebibytes(Math.max(limit * leastShare, limit - overheadBytes - size * metadataShare));
}

/**
 * Does `work`. If that runs out of memory at `limit` (default: the database's), does it once more on one thread with most of the
 * machine's memory. DuckDB holds 2,048 rows at a time, however large they are, and functions on JSON hold their text many times
 * over: 1.5 GB for a segment of records of 30 KB that all have unknown members.
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
  // In a container, the memory that it may use.
  const machineBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const limitBytes = Math.max(database.memoryBytes, machineBytes * 0.8);
  return database.withMemory(mebibytes(limitBytes), () => database.onOneThread(work));
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / 2 ** 20)}MiB`;
}
