import { mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { verifyPageLines, verifySegment } from '../landing/reader.ts';
import { type Database, openDatabase } from '../warehouse/database.ts';
import { memoryLimits } from '../warehouse/memory.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';
import { attachTexts } from './known-texts.ts';
import { blamingMapping, checkMappings, createShapeMacros } from './shape-query.ts';
import {
  type DeferredSegment,
  describeFiles,
  maxDeferredRecords,
  readQueries,
  type SegmentFiles,
  type TableQuery,
  writeDeferred,
  writeTyped,
  writeUnknown,
} from './stage-rows.ts';
import { finishStaging, removeStaged, temporaryStaging } from './staged-segments.ts';

/** Turns segments into typed rows. */
export interface Loader {
  /**
   * Turns one whole segment into a folder with one typed Parquet file per table, by rename: loading it again gives the same
   * rows. A segment without records (frozen ids, failures) has none.
   * A record whose text was read before is not read again: it becomes a row with key, slot, time and digest, and NULL in all
   * other columns (`knownRowsSql`).
   * @returns records of the segment
   */
  loadSegment(segment: number): Promise<number>;
  /**
   * As `loadSegment`, but a segment with few records to read may wait for others, because the statement that reads them takes
   * as long for one record as for some hundred.
   * @returns records of the segment, also if it is deferred
   */
  loadOrDefer(segment: number): Promise<number>;
  /** Stages the deferred segments. */
  loadDeferred(): Promise<void>;
}

export interface LoaderOptions {
  /** Shapes whose mappings are checked at once, so that a mistake shows before the crawl. */
  shapes?: readonly string[];
  /** The build with the digests of known texts, closed while the loader works; without it, every record is read. */
  build?: string;
}

/**
 * @param database an in-memory one that only the loader uses; each of its threads holds about 70 MB of a segment
 * @throws UsageError naming a file of the mapping that DuckDB cannot read
 */
export async function createLoader(
  database: Database,
  folder: DataFolder,
  { shapes = [], build }: LoaderOptions = {},
): Promise<Loader> {
  // Returns memory to the system between segments: 360 MB at most instead of 770.
  await database.run('set allocator_background_threads = true');
  await createShapeMacros(database);
  await checkMappings(database, shapes);
  if (build !== undefined) await attachTexts(database, build);
  const queries = new Map<string, readonly TableQuery[]>();
  const readTables = async (shape: string) => {
    const tables = queries.get(shape) ?? (await readQueries(database, shape));
    queries.set(shape, tables);
    return tables;
  };
  const recognisesTexts = (spec: TableSpec) => build !== undefined && spec.texts;
  const deferred: DeferredSegment[] = [];

  async function loadDeferred(): Promise<void> {
    for (let first = deferred[0]; first !== undefined; first = deferred[0]) {
      const { table, files } = first;
      const batch = deferred.filter((segment) => segment.table === table);
      await blamingMapping(table.spec, files.shape, () => writeDeferred(database, batch));
      for (const { file, files: staged } of batch) await finishStaging(folder, staged.segment, [file]);
      deferred.splice(0, deferred.length, ...deferred.filter((segment) => segment.table !== table));
    }
  }

  /** @returns the segment if it is deferred; null: the file is written */
  function writeTable(
    table: TableQuery,
    files: SegmentFiles,
    file: string,
    mayDefer: boolean,
  ): Promise<DeferredSegment | null> {
    return blamingMapping(table.spec, files.shape, () =>
      recognisesTexts(table.spec)
        ? writeUnknown(database, folder, table, files, file, mayDefer)
        : writeTyped(database, table, files, file),
    );
  }

  async function loadOrDefer(segment: number): Promise<number> {
    await verifyPageLines(folder.landing, segment);
    const files = await describeFiles(folder, segment);
    // A record file that is missing has 0 bytes, too: this reports it as damage.
    if (files.bytes === 0) await verifySegment(folder.landing, segment);
    // A thinned segment may have no record left: nothing is staged.
    if (files.count === 0) return 0;
    const temporary = temporaryStaging(folder, segment);
    await rm(temporary, { recursive: true, force: true });
    await mkdir(temporary, { mode: 0o700 });
    const tables = await readTables(files.shape);
    // `writeUnknown` verifies the records that it reads.
    if (!tables.every(({ spec }) => recognisesTexts(spec))) await verifySegment(folder.landing, segment);
    const written: string[] = [];
    for (const table of tables) {
      const file = join(temporary, `${table.spec.name}.parquet`);
      // A deferred segment is staged as one file.
      const waiting = await writeTable(table, files, file, tables.length === 1);
      if (waiting !== null) {
        deferred.push(waiting);
        const records = deferred.reduce((sum, one) => sum + one.files.count, 0);
        if (records >= maxDeferredRecords) await loadDeferred();
        return files.count;
      }
      written.push(file);
    }
    await finishStaging(folder, segment, written);
    return files.count;
  }

  return {
    loadOrDefer,
    loadDeferred,
    async loadSegment(segment) {
      const count = await loadOrDefer(segment);
      await loadDeferred();
      return count;
    },
  };
}

/**
 * Stages segments again and reads every record of them, for rows that turned out not to match their known text.
 * @param files a staging file of each segment
 */
export async function reloadInFull(folder: DataFolder, files: readonly string[]): Promise<void> {
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
