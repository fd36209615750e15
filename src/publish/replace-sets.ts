import { quoteName, readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { retryWithMoreMemory } from '../warehouse/memory.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';

/** The key of the set that a table's rows are numbered in by `position`; null for tables without one. */
export function setKeyOf({ key }: TableSpec): readonly string[] | null {
  return key.at(-1) === 'position' ? key.slice(0, -1) : null;
}

/** SQL that makes `disputed_set` empty, for tables without sets. */
export const noDisputes = 'create or replace temp table disputed_set as select null as nothing where false';

/**
 * Finds the sets of a slice for which two answers, or an answer and the table, show different rows at one position, and takes each
 * such set whole from one answer (sql/publish/sets.sql chooses it). Leaves these sets in `disputed_set`, which the rest of the
 * slice's publishing skips. Applied again, it changes nothing.
 * @param rows SQL of the rows of staging files ($files)
 * @param columns the table's columns whose values come from an answer
 * @param insert the table's insert from `set_row`
 * @param files `slice`: those of the slice; `all`: those of all crawls that are applied
 * @returns rows that replaced others, and rows added beyond these
 */
export async function replaceSets(
  database: Database,
  spec: TableSpec,
  { rows, columns, insert }: { rows: string; columns: readonly string[]; insert: string },
  files: { slice: readonly string[]; all: readonly string[] },
): Promise<{ replaced: number; inserted: number }> {
  const names = setKeyOf(spec);
  if (names === null) return { replaced: 0, inserted: 0 };
  const set = names.map(quoteName).join(', ');
  const run = (sql: string, params = {}) => retryWithMoreMemory(database, () => database.change(sql, params));
  await run(disputedSql(spec, rows, columns, set), { files: files.slice });
  if ((await database.rows('from disputed_set limit 1')).length === 0) return { replaced: 0, inserted: 0 };
  const answers = readSql('publish/sets.sql')
    .replaceAll('{rows}', rows)
    .replaceAll('{set}', set)
    .replaceAll('{group}', quoteName(names.at(-1)!))
    .replaceAll('{table}', spec.name);
  await run(answers, { files: files.all });
  await run(settledSql(set));
  const best = `(from set_answer semi join disputed_set using (${set}) where best)`;
  await run(
    `create or replace temp table set_row as
    select r.* from ${rows} as r semi join ${best} using (${set}, task, crawl)`,
    { files: files.all },
  );
  return database.transaction(async () => {
    const deleted = await run(
      `delete from ${spec.name} where (${set}) in (select (${set}) from ${best} where task is not null)`,
    );
    const inserted = await run(insert);
    return { replaced: Math.min(deleted, inserted), inserted: Math.max(0, inserted - deleted) };
  });
}

/** Takes sets out of `disputed_set` for which all answers show equally many rows: later answers only fill what the first leaves NULL. */
function settledSql(set: string): string {
  return `delete from disputed_set where (${set}) in (
    select (${set})
    from set_answer
    group by ${set}
    having min(rows) = max(rows) and bool_and(is_whole) and not bool_or(is_refresh)
  )`;
}

/** Makes `disputed_set`. Values of two rows differ where both have one: what one leaves NULL, the other fills. */
function disputedSql(
  { key, name, volatile }: TableSpec,
  rows: string,
  columns: readonly string[],
  set: string,
): string {
  const keys = key.map(quoteName).join(', ');
  const values = columns.filter((column) => !volatile.includes(column)).map(quoteName);
  return `create or replace temp table disputed_set as
    with shown as (
      select ${keys}, ${values.join(', ')} from ${rows}
      union all
      select ${keys}, ${values.join(', ')} from ${name} semi join (select ${set} from ${rows}) using (${set})
    ),
    disputed as (
      select ${keys}
      from shown
      group by ${keys}
      having ${values.map((value) => `count(distinct ${value}) > 1`).join(' or ')}
    )
    select distinct ${set} from disputed`;
}
