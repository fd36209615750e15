import { quoteName } from '../sql-text.ts';
import type { TableSpec } from './table-spec.ts';

/** The columns of a row that come from one answer and have one slot. Every table has a base group. */
export interface Group {
  name: string;
  columns: readonly string[];
  /** The column of the group's slot, in the table and in staging. */
  slot: string;
  /** The column of the time of its answer. */
  seenAt: string;
  /** The column of its hash in the table. */
  hash: string;
  /** SQL of a hash of its volatile columns; null if it has none. */
  volatileHash: string | null;
  /** Condition that a staged row has the group. */
  carried: string;
}

/** Columns that publish sets and that belong to no group. */
const bookkeeping = [
  'slot',
  'seen_at',
  'first_seen_slot',
  'changed_slot',
  'changed_at',
  'run_id',
  'record_hash',
  'followed',
];

/** The groups of a table, base first. `columns` are the table's, in order. */
export function listGroups(spec: TableSpec, columns: readonly string[]): Group[] {
  const named = [...spec.groups].map(
    ([name, columns]): Group => ({
      name,
      columns,
      volatileHash: volatileHash(spec, columns),
      slot: `${name}_slot`,
      seenAt: `${name}_seen_at`,
      hash: `${name}_hash`,
      carried: `carries_${name}`,
    }),
  );
  const otherColumns = new Set([
    ...spec.key,
    ...bookkeeping,
    ...spec.joined.keys(),
    'base_hash',
    ...named.flatMap((group) => [...group.columns, group.slot, group.seenAt, group.hash]),
  ]);
  const baseColumns = columns.filter((column) => !otherColumns.has(column));
  const base: Group = {
    name: 'base',
    columns: baseColumns,
    volatileHash: volatileHash(spec, baseColumns),
    slot: 'slot',
    seenAt: 'seen_at',
    hash: named.length === 0 ? 'record_hash' : 'base_hash',
    carried: 'true',
  };
  return [base, ...named];
}

function volatileHash(spec: TableSpec, groupColumns: readonly string[]): string | null {
  const columns = groupColumns.filter((column) => spec.volatile.includes(column));
  return columns.length === 0 ? null : `hash(${columns.map(quoteName).join(', ')})`;
}

/** SQL of a hash of a group's columns, without those that change in place. */
export function groupHash(spec: TableSpec, group: Group): string {
  const terms = group.columns
    .filter((column) => !spec.volatile.includes(column))
    .map((column) => hashedValue(spec, column));
  const keys = group.name === 'base' ? spec.key.map(quoteName) : [];
  return `hash(${[...keys, ...terms].join(', ')})`;
}

/**
 * SQL of a column as it is hashed. "" and an empty list are hashed as NULL, because which of them a source writes is chance; a row
 * keeps what it had first.
 */
function hashedValue(spec: TableSpec, column: string): string {
  const name = quoteName(column);
  const type = spec.types.get(column) ?? '';
  if (type === 'varchar') return `nullif(${name}, '')`;
  if (!type.endsWith('[]')) return name;
  const list = spec.hashed.get(column) ?? (spec.unordered.includes(column) ? `list_sort(${name})` : name);
  return `if(len(${name}) > 0, ${list}, null)`;
}

/** Select-list items that a shape's rows get for this table at load: the hash of each group. */
export function stagedHashes(spec: TableSpec, columns: readonly string[]): string[] {
  return listGroups(spec, columns).map((group) => `${groupHash(spec, group)} as ${stagedHash(group)}`);
}

/** Name of a group's hash in staging. */
export function stagedHash(group: Pick<Group, 'name'>): string {
  return `staged_${group.name}_hash`;
}
