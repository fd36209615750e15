import { quoteName } from '../sql-text.ts';
import type { TableSpec } from './table-spec.ts';

/** Columns of a row that come from one answer and have one slot; every table has a base group. */
export interface Group {
  name: string;
  columns: readonly string[];
  /** Column names of the group's slot, time and hash in the table, and of its slot in staging. */
  slot: string;
  seenAt: string;
  hash: string;
  /** A hash of the volatile columns, as an expression over them; null where it has none. */
  volatileHash: string | null;
  /** Condition on a staged row. */
  carried: string;
}

/** Columns that publish sets, and no group of the shape owns. */
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
    ([name, own]): Group => ({
      name,
      columns: own,
      volatileHash: volatileHash(spec, own),
      slot: `${name}_slot`,
      seenAt: `${name}_seen_at`,
      hash: `${name}_hash`,
      carried: `carries_${name}`,
    }),
  );
  const taken = new Set([
    ...spec.key,
    ...bookkeeping,
    ...spec.joined.keys(),
    'base_hash',
    ...named.flatMap((group) => [...group.columns, group.slot, group.seenAt, group.hash]),
  ]);
  const own = columns.filter((column) => !taken.has(column));
  const base: Group = {
    name: 'base',
    columns: own,
    volatileHash: volatileHash(spec, own),
    slot: 'slot',
    seenAt: 'seen_at',
    hash: named.length === 0 ? 'record_hash' : 'base_hash',
    carried: 'true',
  };
  return [base, ...named];
}

function volatileHash(spec: TableSpec, own: readonly string[]): string | null {
  const columns = own.filter((column) => spec.volatile.includes(column));
  return columns.length === 0 ? null : `hash(${columns.map(quoteName).join(', ')})`;
}

/** A hash of a group's columns, without those that change in place. */
export function groupHash(spec: TableSpec, group: Group): string {
  const terms = group.columns
    .filter((column) => !spec.volatile.includes(column))
    .map((column) => hashedValue(spec, column));
  const keys = group.name === 'base' ? spec.key.map(quoteName) : [];
  return `hash(${[...keys, ...terms].join(', ')})`;
}

/**
 * What stands for a column in a hash. "" and an empty list say as little as NULL, and which of them a source writes is
 * chance: a row keeps what it had first.
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
