import { chmod, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { describeSegment, verifySegment } from '../landing/reader.ts';
import {
  listSegments,
  longestPageLine,
  pageFile,
  recordFile,
  syncDirectory,
  syncFile,
} from '../landing/segment-files.ts';
import type { Database } from './database.ts';
import { withRoom } from './memory.ts';
import { blamingMapping, checkMappings, createShapeMacros, readingOf, shapeQuery } from './shape-query.ts';
import { isStagedWhole, writeChecksums } from './staging-checksums.ts';
import { readTableSpecs, type TableSpec } from './table-spec.ts';

/** Where a segment's typed rows for one table stand. */
export function stagingFile(folder: DataFolder, segment: number, table: string): string {
  return join(folder.staging, String(segment), `${table}.parquet`);
}

/** Segments that are staged, oldest first. */
export async function listStaged(folder: DataFolder): Promise<number[]> {
  return (await readdir(folder.staging))
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** Segments of the landing log without typed rows yet. Only whole (sealed or recovered) segments may be asked for. */
export async function listUnloaded(folder: DataFolder): Promise<number[]> {
  const staged = new Set(await listStaged(folder));
  return (await listSegments(folder.landing)).filter((segment) => !staged.has(segment));
}

/** A folder goes file by file: renamed first, a kill in between leaves none that looks staged. */
export async function removeStaged(folder: DataFolder, segment: number): Promise<void> {
  const staged = join(folder.staging, String(segment));
  await rm(`${staged}.tmp`, { recursive: true, force: true });
  await rename(staged, `${staged}.tmp`).catch((error: NodeJS.ErrnoException) => {
    // A segment without records was never staged.
    if (error.code !== 'ENOENT') throw error;
  });
  await rm(`${staged}.tmp`, { recursive: true, force: true });
}

/**
 * Removes staged segments whose files are not as they were written. Nothing is lost: staging is made from the landing
 * log, which has a checksum for every page.
 * @returns the segments
 */
export async function removeDamagedStaging(folder: DataFolder): Promise<number[]> {
  const damaged = await listDamagedStaging(folder);
  for (const segment of damaged) await removeStaged(folder, segment);
  return damaged;
}

/** Staged segments whose files are not as they were written. */
export async function listDamagedStaging(folder: DataFolder): Promise<number[]> {
  const damaged: number[] = [];
  for (const segment of await listStaged(folder))
    if (!(await isStagedWhole(join(folder.staging, String(segment))))) damaged.push(segment);
  return damaged;
}

/** Turns segments into typed rows; holds the macros and the query of every table of every shape. */
export interface Loader {
  /**
   * Turns one whole segment into a folder with one typed Parquet file a table, by rename: loading it again gives
   * the same rows. A segment without records (frozen ids, failures) has none.
   * @returns records loaded
   */
  loadSegment(segment: number): Promise<number>;
}

/**
 * @param database an in-memory one that only the loader uses; each of its threads holds about 70 MB of a segment
 * @param expected shapes that will come, whose mappings are looked at now
 * @throws UsageError naming a file of the mapping that DuckDB cannot read
 */
export async function createLoader(
  database: Database,
  folder: DataFolder,
  expected: readonly string[] = [],
): Promise<Loader> {
  // What a segment took goes back before the next one: 360 MB at most instead of 770.
  await database.run('set allocator_background_threads = true');
  await createShapeMacros(database);
  await checkMappings(database, expected);
  const queries = new Map<string, readonly TableQuery[]>();
  return {
    async loadSegment(segment) {
      const records = recordFile(folder.landing, segment);
      await verifySegment(folder.landing, segment);
      const { size: bytes } = await stat(records);
      if (bytes === 0) return 0;
      const { shape, longest, count } = await describeSegment(folder.landing, segment);
      const pages = pageFile(folder.landing, segment);
      const reading = readingOf({ longest, bytes, count });
      const longest_page_line = await longestPageLine([pages]);
      const temporary = join(folder.staging, `${segment}.tmp`);
      await rm(temporary, { recursive: true, force: true });
      await mkdir(temporary, { mode: 0o700 });
      const tables = queries.get(shape) ?? (await readQueries(database, shape));
      queries.set(shape, tables);
      for (const { spec, sql } of tables) {
        const file = join(temporary, `${spec.name}.parquet`);
        const parameters = { pages, longest_page_line, records, ...reading, file };
        const statement = `copy (${sql}) to $file (format parquet, compression zstd, compression_level 1, row_group_size 8192)`;
        await blamingMapping(spec, shape, () =>
          withRoom(database, () => database.run(statement, parameters)),
        );
        await chmod(file, 0o600);
        await syncFile(file);
      }
      await writeChecksums(temporary);
      await syncDirectory(temporary);
      await rename(temporary, join(folder.staging, String(segment)));
      await syncDirectory(folder.staging);
      return count;
    },
  };
}

interface TableQuery {
  spec: TableSpec;
  sql: string;
}

/** The query of each table that records of a shape go to. */
async function readQueries(database: Database, shape: string): Promise<TableQuery[]> {
  const queries: TableQuery[] = [];
  for (const spec of readTableSpecs().filter(({ shapes }) => shapes.includes(shape))) {
    await database.script(spec.create);
    queries.push({ spec, sql: await shapeQuery(database, spec, shape) });
  }
  return queries;
}
