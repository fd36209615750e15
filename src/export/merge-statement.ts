import { describeDelta } from './lake-delta-sql.ts';
import type { LakeTable } from './lake-table.ts';

export type MergeEngine = 'spark' | 'trino';

/**
 * The statement by which an engine keeps a copy of a table from its `_changes`, where the copy is too large for one machine. The copy
 * begins with all rows, because `_changes` lacks those from before `lake.changes` was set. Applied twice, it changes nothing. Pure.
 * @param namespace that has `<table>_changes`
 */
export function mergeStatement(table: LakeTable, namespace: string, engine: MergeEngine): string {
  const { columns, key } = describeDelta(table);
  const mark = engine === 'spark' ? '`' : '"';
  const quote = (name: string) => `${mark}${name}${mark}`;
  const names = columns.map(({ name }) => quote(name));
  const keys = key.map(quote);
  const same = engine === 'spark' ? '<=>' : 'is not distinct from';
  const target = quote(table.name);
  return `-- Once: create table ${target} as select ${names.join(', ')} from ${quote(namespace)}.${target}
-- Then after each night, with the greatest change_time that was applied in place of 1970.
merge into ${target} t
using (
  select * from (
    select *, row_number() over (partition by ${keys.join(', ')} order by change_time desc) as change_rank
    from ${quote(namespace)}.${quote(`${table.name}_changes`)}
    where change_time > timestamp '1970-01-01 00:00:00'
  ) newest
  where change_rank = 1
) c
on ${keys.map((name) => `t.${name} ${same} c.${name}`).join(' and ')}
when matched and c.change_type = 'delete' then delete
when matched then update set
  ${names.map((name) => `${engine === 'spark' ? 't.' : ''}${name} = c.${name}`).join(',\n  ')}
when not matched and c.change_type <> 'delete' then insert (${names.join(', ')})
  values (${names.map((name) => `c.${name}`).join(', ')});
`;
}
