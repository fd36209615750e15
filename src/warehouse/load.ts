import { chmod, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { pickRecords } from '../landing/pick-records.ts';
import { describeSegment, verifySegment } from '../landing/reader.ts';
import {
  listSegments,
  longestPageLine,
  pageFile,
  recordFile,
  syncDirectory,
  syncFile,
} from '../landing/segment-files.ts';
import { type Database, listColumns, openDatabase, type SqlParams } from './database.ts';
import { attachTexts, findKnownTexts, knownRowsSql } from './known-texts.ts';
import { memoryLimits, withRoom } from './memory.ts';
import { blamingMapping, checkMappings, createShapeMacros, readingOf, shapeQuery } from './shape-query.ts';
import { quoteName } from './sql-text.ts';
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
   * Records whose texts rows were read from already are not read: their rows have what publish asks of them
   * (`knownRowsSql`), and NULL elsewhere.
   * @returns records loaded
   */
  loadSegment(segment: number): Promise<number>;
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
  return {
    async loadSegment(segment) {
      await verifySegment(folder.landing, segment);
      const files = await describeFiles(folder, segment);
      if (files.bytes === 0) return 0;
      const temporary = join(folder.staging, `${segment}.tmp`);
      await rm(temporary, { recursive: true, force: true });
      await mkdir(temporary, { mode: 0o700 });
      const tables = queries.get(files.shape) ?? (await readQueries(database, files.shape));
      queries.set(files.shape, tables);
      for (const table of tables) {
        const file = join(temporary, `${table.spec.name}.parquet`);
        const told = build !== undefined && table.spec.texts;
        await blamingMapping(table.spec, files.shape, () =>
          told
            ? writeUnknown(database, folder, table, files, file)
            : writeTyped(database, table, files, file),
        );
        await chmod(file, 0o600);
        await syncFile(file);
      }
      await writeChecksums(temporary);
      await syncDirectory(temporary);
      await rename(temporary, join(folder.staging, String(segment)));
      await syncDirectory(folder.staging);
      return files.count;
    },
  };
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

interface SegmentFiles {
  segment: number;
  shape: string;
  pages: string;
  longest_page_line: number;
  records: string;
  longest: number;
  bytes: number;
  count: number;
}

async function describeFiles({ landing }: DataFolder, segment: number): Promise<SegmentFiles> {
  const [records, pages] = [recordFile(landing, segment), pageFile(landing, segment)];
  const { size: bytes } = await stat(records);
  const longest_page_line = await longestPageLine([pages]);
  return { segment, pages, longest_page_line, records, bytes, ...(await describeSegment(landing, segment)) };
}

interface TableQuery {
  spec: TableSpec;
  columns: readonly string[];
  /** The rows of a segment's records, from its files. */
  sql: string;
  /** A table with their columns and without rows, once it is made. */
  none?: string;
}

/**
 * The rows of a query, with what they have beside their values where texts are known: nothing that they were (`row_hash`), and
 * no digest where something did not fit, which is to be found again, or where the row is final, whose slot may be another one
 * next time. On one line, because the lines of the mapping are counted.
 */
function toldRows({ final }: TableSpec, query: string): string {
  const kept = final === null ? '' : ` and ${quoteName(final)} is not true`;
  return `select * replace (if(len(misfits) = 0${kept}, digest, null) as digest), null::ubigint as row_hash from (${query})`;
}

/** The query of each table that records of a shape go to. */
async function readQueries(database: Database, shape: string): Promise<TableQuery[]> {
  const queries: TableQuery[] = [];
  for (const spec of readTableSpecs().filter(({ shapes }) => shapes.includes(shape))) {
    await database.script(spec.create);
    const typed = await shapeQuery(database, spec, shape);
    const sql = spec.texts ? toldRows(spec, typed) : typed;
    queries.push({ spec, columns: await listColumns(database, spec.name), sql });
  }
  return queries;
}

/** Writes the rows of all of a segment's records. @param beside rows that are written with them, as a query */
async function writeTyped(
  database: Database,
  { sql }: TableQuery,
  files: SegmentFiles,
  file: string,
  beside = '',
): Promise<void> {
  const { pages, longest_page_line, records } = files;
  const parameters = { pages, longest_page_line, records, ...readingOf(files) };
  await writeRows(database, `${sql}${beside}`, parameters, file);
}

/** Writes the rows of a segment's records, reading those whose texts are not known. */
async function writeUnknown(
  database: Database,
  folder: DataFolder,
  table: TableQuery,
  files: SegmentFiles,
  file: string,
): Promise<void> {
  const { pages, longest_page_line } = files;
  const { known, others } = await findKnownTexts(database, table.spec, { pages, longest_page_line });
  if (known === 0) return writeTyped(database, table, files, file);
  const rows = knownRowsSql(table.spec, table.columns);
  if (others.size === 0) {
    const none = await makeNoRows(database, table, files);
    return writeRows(database, `from ${none} union all by name ${rows}`, {}, file);
  }
  const records = `${file}.ndjson`;
  await pickRecords(folder.landing, files.segment, others, records);
  await writeTyped(database, table, { ...files, records }, file, ` union all by name ${rows}`);
  await rm(records);
}

/** Makes, once (reading the statement takes 80 ms), a table with the columns of staged rows and none of them. */
async function makeNoRows(database: Database, table: TableQuery, files: SegmentFiles): Promise<string> {
  if (table.none !== undefined) return table.none;
  const { pages, longest_page_line, records } = files;
  const name = `no_${table.spec.name}`;
  await database.run(`create temp table ${name} as from (${table.sql}) limit 0`, {
    ...{ pages, longest_page_line, records },
    ...readingOf(files),
  });
  table.none = name;
  return name;
}

async function writeRows(
  database: Database,
  query: string,
  parameters: SqlParams,
  file: string,
): Promise<void> {
  const format = 'format parquet, compression zstd, compression_level 1, row_group_size 8192';
  await withRoom(database, () =>
    database.run(`copy (${query}) to $file (${format})`, { ...parameters, file }),
  );
}
