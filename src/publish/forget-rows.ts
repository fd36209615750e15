import { quoteText, readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { keyText } from '../warehouse/member-lists.ts';
import { readTableSpecs, type TableSpec } from '../warehouse/table-spec.ts';
import { operationsOf, shownSql } from './follow-rows.ts';
import { closeRows } from './settle-absent.ts';

/** A `forget` that is complete in the landing log and not yet applied to the tables. */
export interface Forget {
  run: string;
  /** The job, or job/target. */
  name: string;
}

/** Condition on a relation with `job` and `target`: $name names it. */
const isNamed = "$name in (job, job || '/' || target)";

/** Lists the tables whose rows can be forgotten: those with history, and with operations that say which rows a target shows. */
export function forgettableTables(): TableSpec[] {
  return readTableSpecs().filter((spec) => spec.history && operationsOf(spec).length > 0);
}

/**
 * Makes `forgotten_key` (table_name, key, n): the rows that the targets of a name showed at any time, and that no other
 * target should show now, former ones included.
 * @returns rows by table
 */
export async function findForgotten(database: Database, name: string): Promise<Record<string, number>> {
  await database.run(
    'create or replace temp table forgotten_key (table_name varchar, key varchar, n bigint)',
  );
  const counts: Record<string, number> = {};
  for (const spec of forgettableTables()) {
    await chooseTargets(database, isNamed, name);
    await database.run(
      `create or replace temp table ever_shown as ${shownSql(spec, `(from ${spec.name}_history)`)}`,
    );
    await chooseTargets(database, `not ${isNamed}`, name);
    counts[spec.name] = await database.change(
      `insert into forgotten_key
      select ${quoteText(spec.name)}, key, row_number() over (order by key) - 1
      from ever_shown
      where key in (select ${keyText(spec, 't')} from ${spec.name} t)
        and key not in (${shownSql(spec, spec.name)})`,
    );
  }
  return counts;
}

async function chooseTargets(database: Database, which: string, name: string): Promise<void> {
  await database.run(
    `create or replace temp table chosen_target as select job, target from meta.target_params where ${which}`,
    { name },
  );
  await database.run(readSql('follow/targets.sql'));
}

/** Lists what is forgotten in `landed` and not yet in the tables, by run. A `forget` that was killed while it was written is ignored. */
export function listForgets(database: Database): Promise<Forget[]> {
  return database.rows<Forget>(
    `select run, any_value(name) as name
    from landed
    where kind = 'forgotten' and run not in (select run_id from meta.forgotten)
    group by run
    having bool_or(last)
    order by run`,
  );
}

/** Closes the rows that a `forget` names, and records it. @returns rows closed, by table */
export function applyForget(database: Database, { run, name }: Forget): Promise<Record<string, number>> {
  return database.transaction(async () => {
    const closed: Record<string, number> = {};
    for (const spec of forgettableTables()) {
      const keys = `select distinct unnest(keys) as key, null::bigint as slot, forgotten_at as at, 'forgotten' as reason
        from landed
        where kind = 'forgotten' and run = ${quoteText(run)} and table_name = ${quoteText(spec.name)}`;
      closed[spec.name] = await closeRows(database, spec, keys);
      await database.run(
        `delete from meta.absent where table_name = $table and key in (select key from (${keys}))`,
        { table: spec.name },
      );
    }
    await database.run(`delete from meta.target_params where ${isNamed} and crawl < $run`, { name, run });
    const rows = Object.values(closed).reduce((sum, n) => sum + n, 0);
    await database.run(
      `insert into meta.forgotten
      select $run, $name, $rows, max(forgotten_at) from landed where kind = 'forgotten' and run = $run`,
      { run, name, rows },
    );
    return closed;
  });
}
