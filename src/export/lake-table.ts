import { createHash } from 'node:crypto';
import { quoteName } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { lakeType } from '../warehouse/lake-type.ts';
import type { Manifest } from './lake-manifest.ts';

/** How a table is written. It is part of the fingerprint, so a change writes the table again. */
export interface LakeLayout {
  /** As the config has them: see partitions.ts. */
  partitionBy: readonly string[];
  /** Compressed bytes after which a file is full and the next one begins. */
  fileBytes: number;
}

/** A column and its type in Parquet. */
export interface LakeColumn {
  name: string;
  type: string;
  lakeType: string;
}

/** The result of one scan of a table. */
export interface TableFacts extends Pick<Manifest, 'rows' | 'slot' | 'sums' | 'fingerprint'> {
  columns: readonly LakeColumn[];
}

// To be raised when the same rows would be written differently.
const formatVersion = 2;

/** A table of the lake. */
export interface LakeTable {
  name: string;
  columns: LakeColumn[];
  rows: number;
}

/**
 * Base tables of the main schema, their histories, and these views, by name. Two statements read all of them, because a
 * night changes few tables and most never have a row.
 */
export async function readLakeTables(
  database: Database,
  views: readonly string[] = [],
  typeOf: (type: string) => string = lakeType,
): Promise<Map<string, LakeTable>> {
  const columns = await database.rows<{ table: string; name: string; type: string }>(
    `select table_name as "table", column_name as name, data_type as type
    from duckdb_columns()
    where database_name = current_database() and schema_name = 'main' and table_name in (
      select if(schema_name = 'past', table_name || '_history', table_name)
      from duckdb_tables()
      where database_name = current_database() and schema_name in ('main', 'past') and not internal and not temporary
      union all
      select unnest($views)
    )
    order by table_name, column_index`,
    { views },
  );
  const tables = new Map<string, LakeTable>();
  for (const { table, name, type } of columns) {
    const lakeTable = tables.get(table) ?? { name: table, columns: [], rows: 0 };
    lakeTable.columns.push({ name, type, lakeType: typeOf(type) });
    tables.set(table, lakeTable);
  }
  const counts = [...tables.keys()].map((name) => `(select count(*) from ${quoteName(name)})`);
  const [row] = await database.rows<{ counts: readonly bigint[] }>(`select [${counts.join(', ')}] as counts`);
  for (const [n, table] of [...tables.values()].entries()) table.rows = Number(row!.counts[n]);
  return tables;
}

/** The select list that gives a table its Parquet types. @param from the table's name in the query, where it needs one */
export function lakeSelectList(columns: readonly LakeColumn[], from?: string): string {
  return columns
    .map(({ name, type, lakeType: to }) => {
      const column = from === undefined ? quoteName(name) : `${from}.${quoteName(name)}`;
      return type === to ? column : `cast(${column} as ${to}) as ${quoteName(name)}`;
    })
    .join(', ');
}

/**
 * Reads a table once, if it has rows: slots, exact sums of its u64 columns, and its fingerprint. That consists
 * of the number of rows, the sum and XOR of a 64-bit hash of every row (so their order does not matter), the columns and
 * the layout. Any change of a value changes it, also a new `slot` or `seen_at`, because the files have them.
 * @param columns those that are exported
 */
export async function readTableFacts(
  database: Database,
  { name: table, columns: all, rows }: LakeTable,
  layout: LakeLayout,
  columns: readonly LakeColumn[] = all,
): Promise<TableFacts> {
  const exact = columns.filter(({ type }) => type === 'UBIGINT').map(({ name }) => name);
  const hasSlot = all.some(({ name }) => name === 'slot');
  const facts = rows === 0 ? null : await scanTable(database, table, columns, { exact, hasSlot });
  const schema = columns.map(({ name, lakeType: type }) => [name, type]);
  const identity = [formatVersion, schema, layout, rows, facts?.hash_sum ?? '0', facts?.hash_xor ?? '0'];
  return {
    columns,
    rows,
    slot: { min: slotOf(facts?.min_slot), max: slotOf(facts?.max_slot) },
    sums: Object.fromEntries(exact.map((name, n) => [name, String(facts?.[`sum_${n}`] ?? '0')])),
    fingerprint: createHash('sha256').update(JSON.stringify(identity)).digest('hex'),
  };
}

async function scanTable(
  database: Database,
  table: string,
  columns: readonly LakeColumn[],
  { exact, hasSlot }: { exact: readonly string[]; hasSlot: boolean },
): Promise<Record<string, bigint | string | null>> {
  const hashed = hashedColumns(columns).map(quoteName).join(', ');
  const [facts] = await database.rows<Record<string, bigint | string | null>>(
    `select
      sum(hash(${hashed})::hugeint)::varchar as hash_sum,
      bit_xor(hash(${hashed}))::varchar as hash_xor,
      ${hasSlot ? 'min(slot)::bigint' : 'null'} as min_slot,
      ${hasSlot ? 'max(slot)::bigint' : 'null'} as max_slot
      ${exact.map((name, n) => `, coalesce(sum(${quoteName(name)}::hugeint), 0)::varchar as sum_${n}`).join('\n')}
    from ${quoteName(table)}`,
  );
  return facts!;
}

/**
 * Columns for a row's hash. Its lists are left out where `record_hash` covers them: hashing them again takes two thirds
 * of the time for assets.
 */
function hashedColumns(columns: readonly LakeColumn[]): string[] {
  const hasHash = columns.some(({ name }) => name === 'record_hash');
  return columns.filter(({ type }) => !hasHash || !type.endsWith('[]')).map(({ name }) => name);
}

function slotOf(value: bigint | string | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}
