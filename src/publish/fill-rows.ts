import { appliedRows } from '../load/staged-segments.ts';
import { quoteName } from '../sql-text.ts';
import { type Database, listColumns } from '../warehouse/database.ts';
import { retryWithMoreMemory } from '../warehouse/memory.ts';
import { groupHash, listGroups } from '../warehouse/row-groups.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';

/**
 * Fills what rows of an append-only table leave NULL, or an empty list, with what later answers say; a value is never
 * overwritten. Of several answers the first seen counts, column by column, however they are dealt out over slices. A
 * filled row's hash, run and changed slot are recomputed; slot and time stay those of its first answer.
 * Reads `stored_key`: (target, keys), the rows that the slice may have more of.
 * @param files the slice's staging files
 * @returns rows filled
 */
export async function fillRows(
  database: Database,
  spec: TableSpec,
  files: readonly string[],
): Promise<number> {
  if ((await database.rows('from stored_key limit 1')).length === 0) return 0;
  const [base] = listGroups(spec, await listColumns(database, spec.name));
  if (base === undefined || base.columns.length === 0) return 0;
  const { columns } = base;
  await retryWithMoreMemory(database, () =>
    database.run(findFilled(spec, columns, groupHash(spec, base)), { files }),
  );
  if ((await database.rows('from filled limit 1')).length === 0) return 0;
  return retryWithMoreMemory(database, () =>
    database.change(`
      update ${spec.name} as t
      set ${columns.map((column) => `${quoteName(column)} = f.${quoteName(column)}`).join(', ')},
        record_hash = f.record_hash,
        changed_slot = greatest(t.changed_slot, f.answer.slot),
        run_id = f.answer.run_id
      from filled f
      where t.rowid = f.target`),
  );
}

/** Makes `filled`: the rows of `stored_key` that are filled, with all their columns and the last answer that filled one. */
function findFilled(spec: TableSpec, columns: readonly string[], hash: string): string {
  const keys = spec.key.map(quoteName);
  const [own, staged] = [
    (column: string) => quoteName(`own_${column}`),
    (column: string) => quoteName(`new_${column}`),
  ];
  const fills = (column: string) => `${own(column)} is null and ${staged(column)} is not null`;
  const items = (item: (column: string) => string) => columns.map(item).join(',\n        ');
  return `
    create or replace temp table filled as
    with pair as (
      select
        a.target,
        {'seen_at': s.seen_at, 'page': s.page, 'n': s.n, 'slot': s.slot, 'run_id': s.run_id} as answer,
        ${items((column) => `${value(`s.${quoteName(column)}`)} as ${staged(column)}`)},
        ${items((column) => `${value(`t.${quoteName(column)}`)} as ${own(column)}`)}
      from ${appliedRows} s
      join stored_key a on ${keys.map((key) => `a.${key} = s.${key}`).join(' and ')}
      join ${spec.name} t on t.rowid = a.target
    ),
    found as (
      select
        target,
        list_max([${columns.map((column) => `min(answer) filter (where ${fills(column)})`).join(', ')}]) as answer,
        ${items((column) => `arg_min(${staged(column)}, answer) filter (where ${fills(column)}) as ${staged(column)}`)}
      from pair
      where ${columns.map(fills).join(' or ')}
      group by target
    ),
    merged as (
      select
        target,
        answer,
        ${keys.map((key) => `t.${key}`).join(', ')},
        ${items((column) => `coalesce(${staged(column)}, t.${quoteName(column)}) as ${quoteName(column)}`)}
      from found
      join ${spec.name} t on t.rowid = target
    )
    select *, ${hash} as record_hash
    from merged`;
}

/** Of a list, an empty one says as little as NULL. */
function value(column: string): string {
  return `case when typeof(${column}) not like '%[]' or ${column}::varchar <> '[]' then ${column} end`;
}
