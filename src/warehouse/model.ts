import { listSql, readSql } from '../sql-text.ts';
import { createSchema } from './build.ts';
import { type Database, openDatabase } from './database.ts';
import { memoryLimits } from './memory.ts';
import { readTableSpecs } from './table-spec.ts';

/** A table or view as users who query it see it. */
export interface TableDescription {
  /** With its schema unless that is main: `assets`, `meta.checkpoints`. */
  name: string;
  kind: 'table' | 'view';
  describe: string;
  /** Columns that identify a row; empty if none do. */
  key: string[];
  columns: { name: string; type: string; describe: string }[];
}

interface ColumnRow {
  table_name: string;
  is_view: boolean;
  table_comment: string | null;
  column_name: string;
  data_type: string;
  column_comment: string | null;
}

/**
 * Describes the whole model: main tables and views first, then `meta`; not `past`, which the histories show, nor `texts`, which only
 * publish and load read.
 */
export function describeModel(): Promise<TableDescription[]> {
  return withEmptyTables(async (database) => toDescriptions(await readColumns(database)));
}

/** Does `work` with a database of every table and no rows, which needs no data folder. */
export async function withEmptyTables<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(':memory:', {
    memoryLimit: memoryLimits.emptyTables,
    threads: 1,
    tempDir: '',
  });
  try {
    await createSchema(database);
    return await work(database);
  } finally {
    database.close();
  }
}

function readColumns(database: Database): Promise<ColumnRow[]> {
  return database.rows<ColumnRow>(
    `with relations as (
      select schema_name, table_name, false as is_view, comment from duckdb_tables()
      union all
      select schema_name, view_name, true, comment from duckdb_views() where not internal
    )
    select
      if(r.schema_name = 'main', '', r.schema_name || '.') || r.table_name as table_name,
      r.is_view,
      r.comment as table_comment,
      c.column_name,
      c.data_type,
      c.comment as column_comment
    from relations r
    join duckdb_columns() c on c.schema_name = r.schema_name and c.table_name = r.table_name
    where r.schema_name not in ('past', 'texts')
    order by r.schema_name, r.table_name, c.column_index`,
  );
}

function toDescriptions(rows: readonly ColumnRow[]): TableDescription[] {
  const keys = new Map(readTableSpecs().map(({ name, key }) => [name, [...key]]));
  const views = new Map(listSql('views').map((name) => [name, grainOf(readSql(`views/${name}.sql`))]));
  const tables = new Map<string, TableDescription>();
  for (const row of rows) {
    const { table_name: name, column_name, data_type: type } = row;
    const table = tables.get(name) ?? {
      name,
      kind: row.is_view ? 'view' : 'table',
      describe: row.table_comment ?? views.get(name) ?? '',
      key: keys.get(name) ?? [],
      columns: [],
    };
    table.columns.push({ name: column_name, type, describe: row.column_comment ?? '' });
    tables.set(name, table);
  }
  return [...tables.values()];
}

/** The grain of a view, from its file's header. */
function grainOf(sql: string): string {
  const grain = /^-- grain: (.*)$/m.exec(sql)?.[1] ?? '';
  return grain === '' ? '' : `${grain.charAt(0).toUpperCase()}${grain.slice(1)}.`;
}
