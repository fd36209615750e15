// Writes staging files: the typed rows of a segment for one table, as Parquet.
import { rm, stat } from 'node:fs/promises';
import type { DataFolder } from '../data-folder.ts';
import { pickRecords } from '../landing/pick-records.ts';
import { describeSegment, verifySegment } from '../landing/reader.ts';
import { pageFile, recordFile } from '../landing/segment-files.ts';
import { type Database, listColumns, type SqlParams } from '../warehouse/database.ts';
import { retryWithMoreMemory } from '../warehouse/memory.ts';
import { readTableSpecs, type TableSpec } from '../warehouse/table-spec.ts';
import { findKnownTexts, type KnownTables, keepKnown, knownRowsSql } from './known-texts.ts';
import { readingOf, shapeQuery } from './shape-query.ts';

export interface SegmentFiles {
  segment: number;
  shape: string;
  pages: string;
  /** The file of the records to read: their number, bytes in all, and bytes of the longest. */
  records: string;
  longest: number;
  bytes: number;
  count: number;
}

export async function describeFiles({ landing }: DataFolder, segment: number): Promise<SegmentFiles> {
  const [records, pages] = [recordFile(landing, segment), pageFile(landing, segment)];
  // `verifySegment` reports a missing file as damage.
  const bytes = (await stat(records).catch(() => null))?.size ?? 0;
  return { segment, pages, records, bytes, ...(await describeSegment(landing, segment)) };
}

export interface TableQuery {
  spec: TableSpec;
  columns: readonly string[];
  /** A query from a segment's files to its typed rows. */
  sql: string;
  /** An empty table with their columns, once it is made. */
  emptyTable?: string;
}

/**
 * Adds the columns that rows of known texts have. `row_hash` is NULL, as the row was read. A record with a cast error loses its
 * digest, so that it is read again and its error is reported again. The SQL is one line because the mapping's lines are
 * counted.
 */
function withTextColumns(query: string): string {
  return `select * replace (if(len(cast_errors) = 0, digest, null) as digest), null::ubigint as row_hash from (${query})`;
}

/** The query of each table that records of a shape go to. */
export async function readQueries(database: Database, shape: string): Promise<TableQuery[]> {
  const queries: TableQuery[] = [];
  for (const spec of readTableSpecs().filter(({ shapes }) => shapes.includes(shape))) {
    await database.run(spec.create);
    const typed = await shapeQuery(database, spec, shape);
    const sql = spec.texts ? withTextColumns(typed) : typed;
    queries.push({ spec, columns: await listColumns(database, spec.name), sql });
  }
  return queries;
}

/** A segment with few records to read, which are in a file of their own. */
export interface DeferredSegment {
  table: TableQuery;
  files: SegmentFiles;
  /** The staging file to write. */
  file: string;
  known: KnownTables;
}

/** A segment with at most so many unknown records may be deferred. */
const maxUnknownDeferred = 2000;
/** The deferred segments' records, known and unknown, whose digests are in memory: eight segments of assets. */
export const maxDeferredRecords = 240_000;

/** Reads the records of deferred segments of one table with one statement, and writes their staging files. */
export async function writeDeferred(database: Database, segments: readonly DeferredSegment[]): Promise<void> {
  const [{ table }] = segments as [DeferredSegment];
  const pages = segments
    .map(({ known }) => `select task, crawl, page from ${known.received}`)
    .join(' union all ');
  const duplicates = await database.rows(
    `select 1 from (${pages}) group by task, crawl, page having count(*) > 1 limit 1`,
  );
  // A row's page identifies its segment, so no page may be in two.
  if (duplicates.length > 0 && segments.length > 1) {
    for (const segment of segments) await writeDeferred(database, [segment]);
    return;
  }
  const files = segments.map((segment) => segment.files);
  const sum = (of: (file: SegmentFiles) => number) => files.reduce((all, file) => all + of(file), 0);
  const max = (of: (file: SegmentFiles) => number) => Math.max(...files.map(of));
  const parameters = {
    pages: files.map(({ pages }) => pages),
    records: files.map(({ records }) => records),
    ...readingOf({
      longest: max((file) => file.longest),
      bytes: sum((file) => file.bytes),
      count: sum((file) => file.count),
    }),
  };
  await retryWithMoreMemory(database, () =>
    database.run(`create or replace temp table unread_row as ${table.sql}`, parameters),
  );
  for (const { files, file, known } of segments) {
    const knownRows = knownRowsSql(table.spec, table.columns, known);
    const readRows = `from unread_row semi join ${known.received} using (task, crawl, page)`;
    await writeRows(database, `(${readRows}) union all by name ${knownRows}`, {}, file);
    await rm(files.records);
    await database.run(`drop table ${known.known}; drop table ${known.received};`);
  }
  await database.run('drop table unread_row');
}

/**
 * Writes the rows of verified records.
 * @param more SQL that adds other rows
 */
export async function writeTyped(
  database: Database,
  { sql }: TableQuery,
  files: SegmentFiles,
  file: string,
  more = '',
): Promise<null> {
  const { pages, records } = files;
  const parameters = { pages, records, ...readingOf(files) };
  await writeRows(database, `${sql}${more}`, parameters, file);
  return null;
}

/**
 * Writes the rows of a segment's records and reads only those whose texts are not known.
 * @param mayDefer whether few of them may be read later, with those of other segments
 * @returns the segment if it is deferred; null: the file is written
 */
export async function writeUnknown(
  database: Database,
  folder: DataFolder,
  table: TableQuery,
  files: SegmentFiles,
  file: string,
  mayDefer: boolean,
): Promise<DeferredSegment | null> {
  const { known, others } = await findKnownTexts(database, table.spec, { pages: files.pages });
  if (known === 0) {
    await verifySegment(folder.landing, files.segment);
    return writeTyped(database, table, files, file);
  }
  const rows = knownRowsSql(table.spec, table.columns);
  if (others.size === 0) {
    const empty = await makeEmptyTable(database, table, files);
    await writeRows(database, `from ${empty} union all by name ${rows}`, {}, file);
    return null;
  }
  const records = `${file}.ndjson`;
  await pickRecords(folder.landing, files.segment, others, records);
  const picked = { ...files, records };
  const count = [...others.values()].reduce((sum, numbers) => sum + numbers.length, 0);
  if (mayDefer && count <= maxUnknownDeferred)
    return { table, files: picked, file, known: await keepKnown(database, files.segment) };
  await writeTyped(database, table, picked, file, ` union all by name ${rows}`);
  await rm(records);
  return null;
}

/** Makes an empty table with the columns of staged rows; once, because reading the statement takes 80 ms. */
async function makeEmptyTable(database: Database, table: TableQuery, files: SegmentFiles): Promise<string> {
  if (table.emptyTable !== undefined) return table.emptyTable;
  const { pages, records } = files;
  const name = `no_${table.spec.name}`;
  await database.run(`create temp table ${name} as from (${table.sql}) limit 0`, {
    ...{ pages, records },
    ...readingOf(files),
  });
  table.emptyTable = name;
  return name;
}

async function writeRows(
  database: Database,
  query: string,
  parameters: SqlParams,
  file: string,
): Promise<void> {
  // Not zstd, because the file lives for minutes: a third less disk, but a quarter more CPU time to write and read.
  const format = 'format parquet, compression snappy, row_group_size 8192';
  await retryWithMoreMemory(database, () =>
    database.run(`copy (${query}) to $file (${format})`, { ...parameters, file }),
  );
}
