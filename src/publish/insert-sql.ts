import { quoteName } from '../sql-text.ts';
import type { Group } from '../warehouse/row-groups.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';

/** `new` and `changed` are rows from one staged row each; `mixed` are rows put together from several. */
type InsertKind = 'new' | 'changed' | 'mixed';

const insertFilter: Record<InsertKind, string> = {
  new: 'v.whole and v.target is null',
  changed: 'v.whole and v.target is not null',
  mixed: 'not v.whole',
};

/** The insert of one kind of rows of a slice, from `verdict`, the staging files ($files) and `old_rows`. */
export function insertSql(
  spec: TableSpec,
  columns: readonly string[],
  groups: readonly Group[],
  kind: InsertKind,
): string {
  // The narrow sides of the joins come last, because DuckDB holds those in memory.
  const old = kind !== 'new' && groups.length > 1;
  const from = kind === 'mixed' ? mixedSource(groups) : wholeSource(groups, insertFilter[kind]);
  return `
    insert into ${spec.name} (${columns.map(quoteName).join(', ')})
    select ${columns.map((column) => insertValue(spec, groups, column, kind, old)).join(',\n      ')}
    from ${from}
    ${old ? 'left join old_rows t on t.target = v.target' : ''}`;
}

const wideRows = 'read_parquet($files, file_row_number = true)';

function wholeSource(groups: readonly Group[], filter: string): string {
  const versions = ['changed', 'versioned', 'new_changed_slot', 'new_changed_at'];
  const columns = groups.flatMap(({ name }) => [
    `take_${name}`,
    `write_${name}`,
    `new_${name}_slot`,
    `new_${name}_seen_at`,
    `new_${name}_run_id`,
    `new_${name}_hash`,
  ]);
  return `${wideRows} w
    join (
      select target, old_first_seen_slot, old_changed_slot, old_changed_at, old_run_id, base_file, base_row,
        ${[...versions, ...columns].join(', ')}
      from verdict v
      where rewritten and ${filter}
    ) v on w.file_index = v.base_file and w.file_row_number = v.base_row`;
}

function mixedSource(groups: readonly Group[]): string {
  const joins = groups.map(({ name, columns }) => {
    const narrow = ['file_index', 'file_row_number', ...columns.map(quoteName)].join(', ');
    return `left join (select ${narrow} from ${wideRows}) w_${name}
      on w_${name}.file_index = v.${name}_file and w_${name}.file_row_number = v.${name}_row`;
  });
  return `(select * from verdict v where rewritten and ${insertFilter.mixed}) v\n    ${joins.join('\n    ')}`;
}

function insertValue(
  spec: TableSpec,
  groups: readonly Group[],
  column: string,
  kind: InsertKind,
  old: boolean,
): string {
  const name = quoteName(column);
  if (spec.key.includes(column)) return kind === 'mixed' ? `v.${name}` : `w.${name}`;
  const parts = spec.joined.get(column)?.map((part) => insertValue(spec, groups, part, kind, old));
  if (parts !== undefined) return `nullif('{' || concat_ws(',', ${parts.join(', ')}) || '}', '{}')::json`;
  const valueIf = (decides: 'take' | 'write') => (group: Group, fresh: string) =>
    kind !== 'mixed' && group.name === 'base'
      ? fresh
      : `if(v.${decides}_${group.name}, ${fresh}, ${old ? `t.${name}` : 'null'})`;
  const [taken, written] = [valueIf('take'), valueIf('write')];
  for (const group of groups) {
    if (group.columns.includes(column))
      return written(group, `${kind === 'mixed' ? `w_${group.name}` : 'w'}.${name}`);
    if (column === group.slot) return taken(group, `v.new_${group.name}_slot`);
    if (column === group.seenAt) return taken(group, `v.new_${group.name}_seen_at`);
    if (column === group.hash && column !== 'record_hash') return `v.new_${group.name}_hash`;
  }
  return bookkeepingValue(column, groups);
}

function bookkeepingValue(column: string, groups: readonly Group[]): string {
  // From the first group that is taken, the base before the others.
  const newest = (field: string) =>
    `coalesce(${groups.map(({ name }) => `if(v.take_${name}, v.new_${name}_${field}, null)`).join(', ')})`;
  switch (column) {
    case 'first_seen_slot':
      return 'if(v.target is null, v.new_base_slot, coalesce(v.old_first_seen_slot, v.new_base_slot))';
    case 'changed_slot':
      return 'if(v.changed, v.new_changed_slot, coalesce(v.old_changed_slot, v.new_base_slot))';
    case 'changed_at':
      return 'if(v.target is null or v.versioned, v.new_changed_at, v.old_changed_at)';
    case 'run_id':
      return `if(v.changed, ${newest('run_id')}, v.old_run_id)`;
    case 'record_hash':
      return groups.length === 1
        ? 'v.new_base_hash'
        : `hash(${groups.map((group) => `v.new_${group.name}_hash`).join(', ')})`;
    // Set before the snapshot is replaced (follow-rows.ts).
    case 'followed':
      return 'null';
    default:
      throw new Error(`no rule for column ${column}`);
  }
}
