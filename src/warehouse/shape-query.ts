import { type Database, listColumns } from './database.ts';
import { stagedHashes } from './row-groups.ts';
import { hasSql, listSql, readSql } from './sql-text.ts';
import type { TableSpec } from './table-spec.ts';

/** Makes the macros that the shapes share, for this connection only. */
export async function createShapeMacros(database: Database): Promise<void> {
  await database.script(readSql('macros.sql'));
  for (const macros of listSql('shapes')) await database.script(readSql(`shapes/${macros}.sql`));
}

/**
 * The query from a segment's two files ($pages, $records) to the rows of one table, with the hash of each group that
 * publish compares. Its other parameters are those of `readingOf`. The database must have the table.
 */
export async function shapeQuery(database: Database, spec: TableSpec, shape: string): Promise<string> {
  const hashes = stagedHashes(spec, await listColumns(database, spec.name)).join(', ');
  const structure = `shapes/${shape}/record.json`;
  const landing = readSql('landing.sql').replace(
    '{record}',
    hasSql(structure) ? readSql(structure).trim() : '"JSON"',
  );
  const normalised = `${landing}${readSql(`shapes/${shape}/${spec.name}.sql`)}`;
  return `select *, ${hashes} from (${normalised})`;
}

/** Bytes of records that a function on JSON is given at once; it holds about five times as much while it works. */
const maxChunkBytes = 2 << 20;

/**
 * How a segment's records are to be read: `largest`, what the reader's buffer must hold, a whole line (the record and
 * what the log writes around it); `parts`, in how many parts DuckDB's 2,048 lines are taken.
 */
export function readingOf(records: { longest: number; bytes: number; count: number }): {
  largest: number;
  parts: number;
} {
  const chunkBytes = (records.bytes / Math.max(1, records.count)) * 2048;
  return {
    largest: Math.max(4 << 20, records.longest * 2 + 65_536),
    parts: Math.min(64, Math.ceil(chunkBytes / maxChunkBytes)),
  };
}
