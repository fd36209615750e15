// The staging file of a segment and table: its typed rows, as Parquet.
import { rm, stat } from 'node:fs/promises';
import type { DataFolder } from '../data-folder.ts';
import { pickRecords } from '../landing/pick-records.ts';
import { describeSegment, verifySegment } from '../landing/reader.ts';
import { longestPageLine, pageFile, recordFile } from '../landing/segment-files.ts';
import { type Database, listColumns, type SqlParams } from '../warehouse/database.ts';
import { retryWithMoreMemory } from '../warehouse/memory.ts';
import { readTableSpecs, type TableSpec } from '../warehouse/table-spec.ts';
import { findKnownTexts, type KnownTables, keepKnown, knownRowsSql } from './known-texts.ts';
import { readingOf, shapeQuery } from './shape-query.ts';

export interface SegmentFiles {
  segment: number;
  shape: string;
  pages: string;
  longest_page_line: number;
  records: string;
  longest: number;
  bytes: number;
  count: number;
}

export async function describeFiles({ landing }: DataFolder, segment: number): Promise<SegmentFiles> {
  const [records, pages] = [recordFile(landing, segment), pageFile(landing, segment)];
  // A file that is not there is damage that `verifySegment` describes.
  const bytes = (await stat(records).catch(() => null))?.size ?? 0;
  const longest_page_line = await longestPageLine([pages]);
  return { segment, pages, longest_page_line, records, bytes, ...(await describeSegment(landing, segment)) };
}

export interface TableQuery {
  spec: TableSpec;
  columns: readonly string[];
  /** The rows of a segment's records, from its files. */
  sql: string;
  /** A table with their columns and without rows, once it is made. */
  none?: string;
}

/**
 * The rows of a query, with what they have beside their values where texts are known: nothing that they were (`row_hash`), and
 * no digest where something did not fit, which is to be found again. On one line, because the lines of the mapping are
 * counted.
 */
function toldRows(query: string): string {
  return `select * replace (if(len(cast_errors) = 0, digest, null) as digest), null::ubigint as row_hash from (${query})`;
}

/** The query of each table that records of a shape go to. */
export async function readQueries(database: Database, shape: string): Promise<TableQuery[]> {
  const queries: TableQuery[] = [];
  for (const spec of readTableSpecs().filter(({ shapes }) => shapes.includes(shape))) {
    await database.run(spec.create);
    const typed = await shapeQuery(database, spec, shape);
    const sql = spec.texts ? toldRows(typed) : typed;
    queries.push({ spec, columns: await listColumns(database, spec.name), sql });
  }
  return queries;
}

/** A segment of which few records are to be read, in a file of their own. */
export interface FewUnread {
  table: TableQuery;
  files: SegmentFiles;
  file: string;
  known: KnownTables;
}

/** Records of a segment that are few; of segments that are loaded together, all, whose digests are in memory: eight of assets. */
const fewUnread = 2000;
export const mostTogether = 240_000;

/** Writes the staging files of segments of one table with few records to be read. */
export async function writeTogether(database: Database, segments: readonly FewUnread[]): Promise<void> {
  const [{ table }] = segments as [FewUnread];
  const pages = segments
    .map(({ known }) => `select task, crawl, page from ${known.received}`)
    .join(' union all ');
  const twice = await database.rows(
    `select 1 from (${pages}) group by task, crawl, page having count(*) > 1 limit 1`,
  );
  // By its page it is known which segment a row is of.
  if (twice.length > 0 && segments.length > 1) {
    for (const one of segments) await writeTogether(database, [one]);
    return;
  }
  const files = segments.map((one) => one.files);
  const sum = (of: (file: SegmentFiles) => number) => files.reduce((all, file) => all + of(file), 0);
  const most = (of: (file: SegmentFiles) => number) => Math.max(...files.map(of));
  const parameters = {
    pages: files.map(({ pages }) => pages),
    records: files.map(({ records }) => records),
    longest_page_line: most((file) => file.longest_page_line),
    ...readingOf({
      longest: most((file) => file.longest),
      bytes: sum((file) => file.bytes),
      count: sum((file) => file.count),
    }),
  };
  await retryWithMoreMemory(database, () =>
    database.run(`create or replace temp table unread_row as ${table.sql}`, parameters),
  );
  for (const { files, file, known } of segments) {
    const rows = knownRowsSql(table.spec, table.columns, known);
    const own = `from unread_row semi join ${known.received} using (task, crawl, page)`;
    await writeRows(database, `(${own}) union all by name ${rows}`, {}, file);
    await rm(files.records);
    await database.run(`drop table ${known.known}; drop table ${known.received};`);
  }
  await database.run('drop table unread_row');
}

/** Writes the rows of a file's records, which are as they were received. @param beside rows that are written with them, as a query */
export async function writeTyped(
  database: Database,
  { sql }: TableQuery,
  files: SegmentFiles,
  file: string,
  beside = '',
): Promise<null> {
  const { pages, longest_page_line, records } = files;
  const parameters = { pages, longest_page_line, records, ...readingOf(files) };
  await writeRows(database, `${sql}${beside}`, parameters, file);
  return null;
}

/**
 * Writes the rows of a segment's records, reading those whose texts are not known.
 * @param mayWait whether few of them may be read later, with those of other segments
 * @returns what is to be written so; null: it is written
 */
export async function writeUnknown(
  database: Database,
  folder: DataFolder,
  table: TableQuery,
  files: SegmentFiles,
  file: string,
  mayWait: boolean,
): Promise<FewUnread | null> {
  const { pages, longest_page_line } = files;
  const { known, others } = await findKnownTexts(database, table.spec, { pages, longest_page_line });
  if (known === 0) {
    await verifySegment(folder.landing, files.segment);
    return writeTyped(database, table, files, file);
  }
  const rows = knownRowsSql(table.spec, table.columns);
  if (others.size === 0) {
    const none = await makeNoRows(database, table, files);
    await writeRows(database, `from ${none} union all by name ${rows}`, {}, file);
    return null;
  }
  const records = `${file}.ndjson`;
  await pickRecords(folder.landing, files.segment, others, records);
  const picked = { ...files, records };
  const count = [...others.values()].reduce((sum, numbers) => sum + numbers.length, 0);
  if (mayWait && count <= fewUnread)
    return { table, files: picked, file, known: await keepKnown(database, files.segment) };
  await writeTyped(database, table, picked, file, ` union all by name ${rows}`);
  await rm(records);
  return null;
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
  // It lives for minutes: zstd would take a third less disk, and a quarter more CPU time to write and to read.
  const format = 'format parquet, compression snappy, row_group_size 8192';
  await retryWithMoreMemory(database, () =>
    database.run(`copy (${query}) to $file (${format})`, { ...parameters, file }),
  );
}
