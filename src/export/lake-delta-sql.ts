import { quoteName } from '../sql-text.ts';
import { readTableSpecs } from '../warehouse/table-spec.ts';
import { type LakeColumn, type LakeTable, lakeSelectList } from './lake-table.ts';

/** How a table's rows in a catalog become those of the warehouse. */
export interface DeltaTable {
  /** The columns that a catalog's table has. */
  columns: readonly LakeColumn[];
  /** Columns that identify a row; empty for views, which are written whole. */
  key: readonly string[];
  /** Columns that differ wherever a row does. */
  compared: readonly string[];
}

const bookkeeping = [
  ...['record_hash', 'run_id', 'changed_slot', 'changed_at', 'first_seen_slot', 'followed'],
  ...['valid_from_slot', 'valid_from', 'valid_to_slot', 'valid_to', 'gone_reason'],
];

/**
 * Leaves out the columns that move in every row of a night, although nothing changed on the ledger: slot and time of the last
 * confirmation. `ledgerlake_exports` has the slots of the table. Pure.
 */
export function describeDelta({ name, columns }: LakeTable): DeltaTable {
  const spec = readTableSpecs().find((table) => name === table.name || name === `${table.name}_history`);
  if (spec === undefined) return { columns, key: [], compared: columns.map((column) => column.name) };
  const groups = [...spec.groups.keys()].flatMap((group) => [`${group}_slot`, `${group}_seen_at`]);
  const moving = spec.publish === 'merge' ? ['slot', 'seen_at', ...groups] : [];
  const kept = columns.filter((column) => !moving.includes(column.name));
  const key = name === spec.name ? spec.key : [...spec.key, 'valid_from'];
  const telling = new Set([...key, ...bookkeeping, ...spec.volatile]);
  return {
    columns: kept,
    key,
    compared: kept.map((column) => column.name).filter((column) => telling.has(column)),
  };
}

/** Both sides of a comparison, as SQL. */
interface Sides {
  source: string;
  target: string;
}

/**
 * Makes `lake_keys`: the key of every row that only one side has, and whether the warehouse (`here`) and the lake
 * (`there`) have one that differs. Rows are compared by a hash, which finds foreign duplicates, too.
 * @param deep compares every column, because another writer may have changed any
 */
export function compareStatements(table: DeltaTable, { source, target }: Sides, deep: boolean): string[] {
  const compared = deep ? table.columns.map(({ name }) => name) : table.compared;
  const columns = table.columns.filter(({ name }) => compared.includes(name));
  const here = `hash(${columns.map(castColumn).join(', ')})`;
  const there = `hash(${columns.map(({ name }) => quoteName(name)).join(', ')})`;
  const keys = keyValues(table);
  const names = table.key.map(quoteName);
  const named = keys.map((value, n) => `${value} as ${names[n]}`).join(', ');
  return [
    `create or replace temp table lake_differences as
    select h from (select ${here} as h, 1 as n from ${source} union all select ${there}, -1 from ${target})
    group by h
    having sum(n) <> 0`,
    `create or replace temp table lake_keys as
    select ${names.join(', ')}, bool_or(here) as here, bool_or(there) as there
    from (
      select ${named}, true as here, false as there from ${source} where ${here} in (select h from lake_differences)
      union all
      select ${named}, false, true from ${target} where ${there} in (select h from lake_differences)
    )
    group by ${names.join(', ')}`,
  ];
}

/** Removes from the lake what differs there. */
export function deleteStatement(table: DeltaTable, { target }: Sides): string {
  if (table.key.length === 0) return `delete from ${target}`;
  return `delete from ${target} where ${inKeys(table, 'there')}`;
}

/** Inserts what differs in the warehouse. @param whole everything, into an empty table */
export function insertStatement(table: DeltaTable, { source, target }: Sides, whole: boolean): string {
  const where = whole || table.key.length === 0 ? '' : ` where ${inKeys(table, 'here')}`;
  return `insert into ${target} (${table.columns.map(({ name }) => quoteName(name)).join(', ')})
    select ${lakeSelectList(table.columns)} from ${source}${where}`;
}

/** Columns of `<table>_changes` before those of the table. */
export const changeColumns = [
  { name: 'change_type', type: 'VARCHAR' },
  { name: 'change_slot', type: 'BIGINT' },
  { name: 'change_run', type: 'VARCHAR' },
  { name: 'change_time', type: 'TIMESTAMPTZ' },
];

/** Inserts what changed into `<table>_changes`: new rows as they are, rows that left as they were in the lake. */
export function changeStatements(
  table: DeltaTable,
  { source, target }: Sides,
  { changes, whole, values }: { changes: string; whole: boolean; values: string },
): string[] {
  const names = table.columns.map(({ name }) => quoteName(name)).join(', ');
  const into = `insert into ${changes} (${changeColumns.map(({ name }) => name).join(', ')}, ${names})`;
  const select = (type: string) => `select ${type}, ${values}`;
  const list = lakeSelectList(table.columns);
  if (whole) return [`${into} ${select("'insert'")}, ${list} from ${source}`];
  const known = inKeys(table, 'there');
  return [
    `${into} ${select(`case when ${known} then 'update' else 'insert' end`)}, ${list} from ${source} where ${inKeys(table, 'here')}`,
    `${into} ${select("'delete'")}, ${names} from ${target} where ${inKeys(table, 'there and not here')}`,
  ];
}

function inKeys(table: DeltaTable, which: string): string {
  const names = table.key.map(quoteName);
  return `(${keyValues(table).join(', ')}) in (select ${names.length === 1 ? names[0] : `(${names.join(', ')})`} from lake_keys where ${which})`;
}

/** A key's columns; some may be NULL, which `in` does not find. */
function keyValues({ key, columns }: DeltaTable): string[] {
  return key.map((name) => {
    const isText = columns.find((column) => column.name === name)!.type === 'VARCHAR';
    return isText && key.length > 1 ? `coalesce(${quoteName(name)}, '')` : quoteName(name);
  });
}

function castColumn({ name, type, lakeType }: LakeColumn): string {
  return type === lakeType ? quoteName(name) : `cast(${quoteName(name)} as ${lakeType})`;
}
