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
 * publish compares. $largest: `maxLineBytes` of its longest record. The database must have the table.
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

/** What the reader's buffer must hold: a whole line, the record and what the log writes around it. */
export function maxLineBytes(longestRecord: number): number {
  return Math.max(4 << 20, longestRecord * 2 + 65_536);
}
