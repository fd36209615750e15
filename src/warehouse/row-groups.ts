import { quoteName } from './sql-text.ts';
import type { TableSpec } from './table-spec.ts';

/** Columns of a row that come from one answer and have one slot; every table has a base group. */
export interface Group {
  name: string;
  columns: readonly string[];
  volatile: readonly string[];
  /** Column names of the group's slot, time and hash in the table, and of its slot in staging. */
  slot: string;
  seenAt: string;
  hash: string;
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
];

/** The groups of a table, base first. `columns` are the table's, in order. */
export function listGroups(spec: TableSpec, columns: readonly string[]): Group[] {
  const named = [...spec.groups].map(
    ([name, own]): Group => ({
      name,
      columns: own,
      volatile: spec.volatile.filter((column) => own.includes(column)),
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
  const base: Group = {
    name: 'base',
    columns: columns.filter((column) => !taken.has(column)),
    volatile: spec.volatile.filter((column) => !taken.has(column)),
    slot: 'slot',
    seenAt: 'seen_at',
    hash: named.length === 0 ? 'record_hash' : 'base_hash',
    carried: 'true',
  };
  return [base, ...named];
}

/** A hash of a group's columns, without those that change in place. */
export function groupHash(spec: TableSpec, group: Group): string {
  const stable = group.columns.filter((column) => !group.volatile.includes(column));
  const terms = stable.map((column) =>
    spec.unordered.includes(column) ? `list_sort(${quoteName(column)})` : quoteName(column),
  );
  const keys = group.name === 'base' ? spec.key.map(quoteName) : [];
  return `hash(${[...keys, ...terms].join(', ')})`;
}

/** Select-list items that a shape's rows get for this table at load: the hash of each group. */
export function stagedHashes(spec: TableSpec, columns: readonly string[]): string[] {
  return listGroups(spec, columns).map((group) => `${groupHash(spec, group)} as ${stagedHash(group)}`);
}

/** Name of a group's hash in staging. */
export function stagedHash(group: Pick<Group, 'name'>): string {
  return `staged_${group.name}_hash`;
}
