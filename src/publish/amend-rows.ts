import { quoteName } from '../sql-text.ts';
import { type Database, listColumns } from '../warehouse/database.ts';
import { retryWithMoreMemory } from '../warehouse/memory.ts';
import { type Group, listGroups, stagedHash } from '../warehouse/row-groups.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';
import { measureStaged, takeSlice } from './slices.ts';

/** Memory to plan for a row that is updated in place, bytes: its old and its new values. */
const bytesPerRow = 5600;

/**
 * Updates rows to the values that their own answers have after a change of the mapping: answers of the same key and, for each group,
 * the same slot and time. Current and former versions alike; slots, times and versions stay as they are.
 * @param files staging files, of which a merge table takes the crawls in `ready`
 * @returns how many groups of rows were updated
 */
export async function amendRows(
  database: Database,
  spec: TableSpec,
  files: readonly string[],
): Promise<number> {
  const columns = await listColumns(database, spec.name);
  const groups = listGroups(spec, columns);
  const relations = spec.history ? [spec.name, `past.${spec.name}`] : [spec.name];
  let amended = 0;
  for (let remaining = await measureStaged(database, files); remaining.length > 0; ) {
    const slice = takeSlice(remaining, database.memoryBytes / bytesPerRow).map(({ file }) => file);
    remaining = remaining.slice(slice.length);
    for (const relation of relations)
      for (const group of groups) {
        await retryWithMoreMemory(database, () =>
          database.run(findSql(spec, relation, group), { files: slice }),
        );
        const [row] = await database.rows<{ n: bigint }>('select count(*) as n from amended');
        if ((row?.n ?? 0n) === 0n) continue;
        const amend = amendSql(spec, relation, groups, group);
        await retryWithMoreMemory(database, () => database.run(amend, { files: slice }));
        await retryWithMoreMemory(database, () => database.run('checkpoint'));
        amended += Number(row?.n);
      }
  }
  return amended;
}

/** Makes `amended`: rows whose answer is staged and has other values now, with its position in the files. */
function findSql(spec: TableSpec, relation: string, group: Group): string {
  const keys = spec.key.map(quoteName);
  const compared = [
    { staged: stagedHash(group), stored: group.hash },
    ...(group.volatileHash === null ? [] : [{ staged: group.volatileHash, stored: group.volatileHash }]),
  ];
  const packed = ['file_index := file_index', 'file_row_number := file_row_number'];
  // A final row may have a later slot than its answer (`baseSlot` in verdict-sql.ts).
  const final = group.name === 'base' && spec.final !== null ? quoteName(spec.final) : 'false';
  compared.forEach(({ staged }, n) => {
    packed.push(`value_${n} := ${staged}`);
  });
  return `
    create or replace temp table amended as
    with found as (
      select t.target, max_by(s.copy, (s.page, s.n)) as staged,
        ${compared.map((_, n) => `any_value(t.value_${n}) as value_${n}`).join(', ')}
      from (
        select ${keys.join(', ')}, ${group.slot} as answer_slot, seen_at as answered_at, page, n,
          coalesce(${final}, false) as is_final, struct_pack(${packed.join(', ')}) as copy
        from read_parquet($files, file_row_number = true)
        ${spec.publish === 'merge' ? 'semi join ready using (task, crawl)' : ''}
        where ${group.carried} and ${keys.map((key) => `${key} is not null`).join(' and ')}
      ) s
      join (
        select rowid as target, ${keys.join(', ')}, ${group.slot} as answer_slot, ${group.seenAt} as answered_at,
          ${compared.map(({ stored }, n) => `${stored} as value_${n}`).join(', ')}
        from ${relation}
      ) t
        on ${keys.map((key) => `t.${key} = s.${key}`).join(' and ')}
        -- The row of an answer without a slot has the slot that stood in for it.
        and (
          s.answer_slot is null
          or t.answer_slot = s.answer_slot
          or s.is_final and t.answer_slot > s.answer_slot
        )
        and t.answered_at = s.answered_at
      group by t.target
    )
    select target, staged.file_index as file, staged.file_row_number as row, staged.value_0 as hash
    from found
    where ${compared.map((_, n) => `staged.value_${n} is distinct from value_${n}`).join(' or ')}`;
}

function amendSql(spec: TableSpec, relation: string, groups: readonly Group[], group: Group): string {
  const values = new Map(group.columns.map((column) => [column, `w.${quoteName(column)}`]));
  for (const [column, parts] of spec.joined) {
    if (!parts.some((part) => group.columns.includes(part))) continue;
    const texts = parts.map((part) => values.get(part) ?? `t.${quoteName(part)}`);
    values.set(column, `nullif('{' || concat_ws(',', ${texts.join(', ')}) || '}', '{}')::json`);
  }
  values.set(group.hash, 'a.hash');
  if (groups.length > 1) {
    const hashes = groups.map(({ hash }) => (hash === group.hash ? 'a.hash' : `t.${hash}`));
    values.set('record_hash', `hash(${hashes.join(', ')})`);
  }
  // With other values the row may belong to another target.
  if (spec.followed && relation === spec.name) values.set('followed', 'null');
  return `
    update ${relation} as t
    set ${[...values].map(([column, value]) => `${quoteName(column)} = ${value}`).join(',\n      ')}
    from read_parquet($files, file_row_number = true) w
    join amended a on w.file_index = a.file and w.file_row_number = a.row
    where t.rowid = a.target`;
}
