import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { verifyPageLines, verifySegment } from '../landing/reader.ts';
import { listSegments, syncDirectory, syncFile } from '../landing/segment-files.ts';
import { type Database, openDatabase } from '../warehouse/database.ts';
import { memoryLimits } from '../warehouse/memory.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';
import { attachTexts } from './known-texts.ts';
import { blamingMapping, checkMappings, createShapeMacros } from './shape-query.ts';
import {
  describeFiles,
  type FewUnread,
  mostTogether,
  readQueries,
  type TableQuery,
  writeTogether,
  writeTyped,
  writeUnknown,
} from './stage-rows.ts';
import { isStagedWhole, writeChecksums } from './staging-checksums.ts';

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
   * Records whose texts rows were read from already are not read: their rows have what publish asks of them
   * (`knownRowsSql`), and NULL elsewhere.
   * @returns records loaded
   */
  loadSegment(segment: number): Promise<number>;
  /**
   * As `loadSegment`, but a segment of which few records are to be read may wait for others: the statement that reads them takes
   * as long for one record as for some hundred. With `loadWaiting` at the latest it is staged.
   */
  takeSegment(segment: number): Promise<number>;
  loadWaiting(): Promise<void>;
}

export interface LoaderOptions {
  /** Shapes that will come, whose mappings are looked at now. */
  expected?: readonly string[];
  /** The build whose digests tell known texts, closed while the loader works; without it, every record is read. */
  build?: string;
}

/**
 * @param database an in-memory one that only the loader uses; each of its threads holds about 70 MB of a segment
 * @throws UsageError naming a file of the mapping that DuckDB cannot read
 */
export async function createLoader(
  database: Database,
  folder: DataFolder,
  { expected = [], build }: LoaderOptions = {},
): Promise<Loader> {
  // What a segment took goes back before the next one: 360 MB at most instead of 770.
  await database.run('set allocator_background_threads = true');
  await createShapeMacros(database);
  await checkMappings(database, expected);
  if (build !== undefined) await attachTexts(database, build);
  const queries = new Map<string, readonly TableQuery[]>();
  const readTables = async (shape: string) => {
    const tables = queries.get(shape) ?? (await readQueries(database, shape));
    queries.set(shape, tables);
    return tables;
  };
  const waiting: FewUnread[] = [];
  const toldBy = (spec: TableSpec) => build !== undefined && spec.texts;
  const loadWaiting = async () => {
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const { table, files } = first;
      const together = waiting.filter((one) => one.table === table);
      await blamingMapping(table.spec, files.shape, () => writeTogether(database, together));
      for (const { file, files } of together) await stage(folder, files.segment, [file]);
      waiting.splice(0, waiting.length, ...waiting.filter((one) => one.table !== table));
    }
  };
  const takeSegment = async (segment: number) => {
    await verifyPageLines(folder.landing, segment);
    const files = await describeFiles(folder, segment);
    if (files.bytes === 0) await verifySegment(folder.landing, segment);
    // Of a segment that is read for its needed records, none may be: its rows are staged all the same, and are none.
    if (files.count === 0) return 0;
    const temporary = join(folder.staging, `${segment}.tmp`);
    await rm(temporary, { recursive: true, force: true });
    await mkdir(temporary, { mode: 0o700 });
    const tables = await readTables(files.shape);
    if (!tables.every(({ spec }) => toldBy(spec))) await verifySegment(folder.landing, segment);
    const written: string[] = [];
    for (const table of tables) {
      const file = join(temporary, `${table.spec.name}.parquet`);
      const few = await blamingMapping(table.spec, files.shape, () =>
        toldBy(table.spec)
          ? writeUnknown(database, folder, table, files, file, tables.length === 1)
          : writeTyped(database, table, files, file),
      );
      if (few !== null) {
        waiting.push(few);
        if (waiting.reduce((sum, { files }) => sum + files.count, 0) >= mostTogether) await loadWaiting();
        return files.count;
      }
      written.push(file);
    }
    await stage(folder, segment, written);
    return files.count;
  };
  return {
    takeSegment,
    loadWaiting,
    async loadSegment(segment) {
      const count = await takeSegment(segment);
      await loadWaiting();
      return count;
    },
  };
}

/** Makes written files of a segment its staging. */
async function stage(folder: DataFolder, segment: number, files: readonly string[]): Promise<void> {
  const temporary = join(folder.staging, `${segment}.tmp`);
  for (const file of files) {
    await chmod(file, 0o600);
    await syncFile(file);
  }
  await writeChecksums(temporary);
  await syncDirectory(temporary);
  await rename(temporary, join(folder.staging, String(segment)));
  await syncDirectory(folder.staging);
}

/**
 * Makes staged segments anew from all of their texts, also those that were known when they were staged: what their rows were
 * read from is not what it was.
 * @param files a staging file of each
 */
export async function loadAgain(folder: DataFolder, files: readonly string[]): Promise<void> {
  const options = { memoryLimit: memoryLimits.loaderBesideBuild, threads: 1, tempDir: folder.temp };
  const database = await openDatabase(':memory:', options);
  try {
    const loader = await createLoader(database, folder);
    for (const segment of new Set(files.map((file) => Number(basename(dirname(file)))))) {
      await removeStaged(folder, segment);
      await loader.loadSegment(segment);
    }
  } finally {
    database.close();
  }
}
