import type { DataFolder } from '../data-folder.ts';
import { listFiles, type StagedSegment } from '../load/staged-segments.ts';
import { quoteText, readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import {
  distinctTables,
  keyText,
  type RequestedRows,
  readMemberLists,
  readRequestedRows,
} from '../warehouse/member-lists.ts';
import { readTableSpecs, type TableSpec, withoutFollowed } from '../warehouse/table-spec.ts';
import { isOlder } from './absence.ts';
import type { Waiting } from './published.ts';

/**
 * Closes rows in the caller's transaction, after the step's rows are in: rows that vanished and cannot be looked up, rows that two
 * answers, hours apart, did not find under their key, and rows that were spent. Queues other vanished rows in `meta.absent`.
 * @returns rows closed, by table
 */
export async function settleAbsent(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
): Promise<Record<string, number>> {
  const closed: Record<string, number> = {};
  const close = async (spec: TableSpec, gone: string) => {
    closed[spec.name] = (closed[spec.name] ?? 0) + (await closeRows(database, spec, gone));
  };
  // Rows missed before the source went back would wait for slots that it reaches much later.
  await database.run(`update meta.absent set slot = least(slot, r.min_slot), null_slot = least(null_slot, r.min_slot)
    from ready r where r.rolls_back and r.job = meta.absent.job and r.target = meta.absent.target`);
  const missed = await database.rows<{ table_name: string }>(
    'select distinct table_name from vanished union select distinct table_name from meta.absent',
  );
  const tablesWithMisses = new Set(missed.map(({ table_name }) => table_name));
  const requested = new Map(readRequestedRows().map((rows) => [rows.table.name, rows]));
  const listed = distinctTables(readMemberLists()).map(({ table }) => table);
  for (const table of new Set([...listed, ...[...requested.values()].map((rows) => rows.table)])) {
    const isAnswered = await makeLookedUp(database, folder, staged, requested.get(table.name) ?? null);
    if (!isAnswered && !tablesWithMisses.has(table.name)) continue;
    if (tablesWithMisses.has(table.name)) await close(table, vanishedSql(table));
    if (isAnswered) await close(table, unknownSql(table));
    await forgetSettled(database, table, isAnswered);
    if (isAnswered) await recordAnswers(database, table);
    await queueMissed(database, table);
  }
  const spendable = readTableSpecs().filter(({ spentBy }) => spentBy !== null);
  const shapes = new Set(spendable.flatMap(({ spentBy, shapes }) => [spentBy, ...shapes]));
  if (staged.some(({ shape }) => shapes.has(shape))) {
    await database.run(readSql('publish/spent.sql'));
    for (const spec of spendable) await close(spec, 'from spent');
  }
  return closed;
}

/**
 * Makes `looked_up`: what the ready crawls found out about rows of a table that they requested by key.
 * @returns false if they requested none; then the table is not made
 */
async function makeLookedUp(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
  requested: RequestedRows | null,
): Promise<boolean> {
  if (requested === null) return false;
  await database.run(`create or replace temp table requested_key as ${requested.sql}`);
  if (await isEmpty(database, 'requested_key')) return false;
  const { table, answers } = requested;
  const files = listFiles(folder, answers, staged);
  await database.run(
    files.length === 0
      ? 'create or replace temp table answered_key (task varchar, crawl varchar, key varchar)'
      : `create or replace temp table answered_key as
        select task, crawl, coalesce(key, '') as key
        from (
          select task, crawl,
            unnest(if(${keyText(answers, 's')} is null, mentioned_keys(cast_errors[1].raw), [${keyText(answers, 's')}])) as key
          from read_parquet($files) s semi join ready using (task, crawl)
        )`,
    files.length === 0 ? {} : { files },
  );
  const sqlOf = (name: string) =>
    readSql(`publish/${name}.sql`).replaceAll('{table}', table.name).replaceAll('{key}', keyText(table, 't'));
  await database.run(sqlOf('lookup_answers'));
  if (await isEmpty(database, 'lookup_answer')) return false;
  await database.run(sqlOf('lookups'));
  return true;
}

async function isEmpty(database: Database, table: string): Promise<boolean> {
  return (await database.rows(`select 1 from ${table} limit 1`)).length === 0;
}

/** SQL of the rows of a table that vanished and were not seen since, with the crawl (`r`) and their row of `meta.absent` (`a`). */
function stillVanished(table: TableSpec): string {
  return `
    from vanished v
    join ready r using (task, crawl)
    join (select ${keyText(table, 't')} as key, slot, seen_at from ${table.name} t) t using (key)
    left join meta.absent a on a.table_name = v.table_name and a.key = v.key
    where v.table_name = ${quoteText(table.name)} and ${isOlder('t', 'r')}`;
}

/** Vanished rows to close; those of an unsure crawl as of the first that missed them. */
function vanishedSql(table: TableSpec): string {
  return `
    select
      v.key,
      min(if(v.unsure, a.slot, r.min_slot)) as slot,
      max(if(v.unsure, a.missed_at, r.finished_at)) as at,
      any_value(v.gone_reason) as reason
    ${stillVanished(table)} and v.closes
    group by v.key`;
}

/** Rows to close because look-ups did not find them. */
function unknownSql(table: TableSpec): string {
  return `
    select key, a.slot, a.missed_at as at, 'unknown' as reason
    from looked_up l
    join meta.absent a using (key)
    where a.table_name = ${quoteText(table.name)}
      and ${closes}`;
}

/** Condition on `looked_up` l and `meta.absent` a: the second answer that confirms that nothing is under the key. */
const closes = `l.unknown
      and a.null_run <> l.asking_crawl.run_id
      and bears_out(a.null_at, a.null_slot, l.answered_at, l.as_of_slot)`;

/** Makes `unknown_count` for the guard `vanished`: the rows that look-ups would close, by the job that missed them. */
export async function countUnknown(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
): Promise<void> {
  await database.run(`create or replace temp table unknown_count (
    task varchar, crawl varchar, job varchar, table_name varchar, rows bigint, closing bigint, before bigint, total bigint,
    turns_over boolean, examples varchar[])`);
  const unconfirmed = await database.rows<{ table_name: string }>(
    'select distinct table_name from meta.absent where null_run is not null',
  );
  for (const requested of readRequestedRows()) {
    const { name } = requested.table;
    if (!unconfirmed.some(({ table_name }) => table_name === name)) continue;
    if (await makeLookedUp(database, folder, staged, requested))
      await database.run(readSql('publish/unknown.sql').replaceAll('{closes}', closes), {
        ...{ table: name, turns_over: requested.table.spentBy !== null },
      });
  }
}

/** Lists the jobs of which too many rows wait for a second look for the night to count as complete. Needs `threshold`. */
export function listWaiting(database: Database): Promise<Waiting[]> {
  const turning = readTableSpecs().filter(({ spentBy }) => spentBy !== null);
  return database.rows<Waiting>(readSql('publish/waiting.sql'), {
    turning_over: turning.map(({ name }) => name),
  });
}

/** Removes rows from `meta.absent` that were seen again, found by a look-up, or closed. */
async function forgetSettled(database: Database, table: TableSpec, isAnswered: boolean): Promise<void> {
  const name = quoteText(table.name);
  const key = keyText(table, 't');
  await database.run(`delete from meta.absent where table_name = ${name}
    and exists (
      from ${table.name} t where ${key} = meta.absent.key
        and t.seen_at > meta.absent.missed_at and coalesce(t.slot >= meta.absent.slot, true)
    )`);
  if (isAnswered)
    await database.run(`delete from meta.absent where table_name = ${name}
      and key in (select l.key from looked_up l where l.found)`);
  // Found at a slot before the crawl that missed it: looked up again, until the next crawl shows it or misses it once more. A first null
  // stands, also of a row that the crawl's list does not show.
  await database.run(`delete from meta.absent where table_name = ${name} and (null_run is null or asked_run is null)
    and exists (from ready r join listed_crawl using (task, crawl) where r.task = meta.absent.task)
    and not exists (from vanished v where v.table_name = ${name} and v.key = meta.absent.key)`);
  await database.run(`delete from meta.absent where table_name = ${name}
    and not exists (from ${table.name} t where ${key} = meta.absent.key)`);
}

/** Records in `meta.absent` which rows were looked up, and adds rows that were not found for the first time. */
async function recordAnswers(database: Database, table: TableSpec): Promise<void> {
  const name = quoteText(table.name);
  const first = (value: string, column: string) =>
    `${column} = if(l.unknown and null_run is null, ${value}, ${column})`;
  await database.run(`update meta.absent set
      asked_run = l.asking_crawl.run_id,
      asked_at = l.answered_at,
      ${first('l.asking_crawl.run_id', 'null_run')},
      ${first('l.answered_at', 'null_at')},
      ${first('l.as_of_slot', 'null_slot')}
    from looked_up l
    where meta.absent.table_name = ${name} and l.key = meta.absent.key`);
  await database.run(`insert into meta.absent (
      table_name, key, job, target, task, slot, missed_at, asked_run, asked_at, null_run, null_at, null_slot
    )
    select ${name}, key,
      unnest(coalesce(missed, struct_pack(job := asking_crawl.job, target := asking_crawl.target, task := asking_crawl.task))),
      slot, answered_at, asking_crawl.run_id, answered_at, asking_crawl.run_id, answered_at, as_of_slot
    from looked_up l
    -- A look-up on behalf of a job's list is about the job's rows in other tables, too.
    left join (
      select key, max_by(struct_pack(job := job, target := target, task := task), missed_at) as missed
      from meta.absent where table_name <> ${name} group by key
    ) other using (key)
    where unknown
      and exists (from ${table.name} t where ${keyText(table, 't')} = l.key)
      and not exists (from meta.absent a where a.table_name = ${name} and a.key = l.key)`);
}

/** Queues rows that the ready crawls missed in `meta.absent`: to be looked up, or to be missed once more. */
async function queueMissed(database: Database, table: TableSpec): Promise<void> {
  const name = quoteText(table.name);
  await database.run(`create or replace temp table missed_row as
    select
      v.key,
      any_value(v.lookup) as lookup,
      arg_min(r, r.task) as missed,
      min(r.min_slot) as slot,
      max(r.finished_at) as missed_at
    ${stillVanished(table)} and not v.closes
    group by v.key`);
  // What lists said is no answer under the key: that takes two of its own.
  await database.run(`update meta.absent set lookup = m.lookup, options = ${displayOptions('m.missed')},
      null_run = null, null_at = null, null_slot = null
    from missed_row m
    where meta.absent.table_name = ${name} and m.key = meta.absent.key
      and meta.absent.lookup is null and m.lookup is not null`);
  await database.run(`insert into meta.absent (
      table_name, key, lookup, job, target, task, options, slot, missed_at, null_run, null_at, null_slot
    )
    select ${name}, key, lookup, missed.job, missed.target, missed.task, ${displayOptions('missed')}, slot, missed_at,
      if(lookup is null, missed.run_id, null), if(lookup is null, missed_at, null), if(lookup is null, slot, null)
    from missed_row m
    where not exists (from meta.absent a where a.table_name = ${name} and a.key = m.key)`);
}

/** SQL of the display options of a crawl's parameters, as JSON text; NULL without any. */
function displayOptions(crawl: string): string {
  return `nullif((${crawl}.params -> '$.options')::varchar, '{}')`;
}

/**
 * Deletes rows from their table, and moves them to `past` if it has history. A version ends after the slot at which it was last true,
 * unless the source went back below that. A spent row may have been confirmed later, by a replica that was behind.
 * @param gone a query of (key, slot, at, reason)
 * @returns rows deleted
 */
export async function closeRows(database: Database, spec: TableSpec, gone: string): Promise<number> {
  await database.run(`create or replace temp table gone as ${gone}`);
  if (await isEmpty(database, 'gone')) return 0;
  if (spec.history)
    await database.run(`insert into past.${spec.name} by name
      select t.* ${withoutFollowed(spec)}, if(g.reason <> 'spent' and g.slot < t.slot, g.slot, greatest(g.slot, t.slot + 1)) as valid_to_slot, greatest(g.at, t.changed_at) as valid_to, g.reason as gone_reason
      from ${spec.name} t join gone g on g.key = ${keyText(spec, 't')}`);
  if (spec.texts)
    await database.run(
      `delete from texts.${spec.name} t where ${keyText(spec, 't')} in (select key from gone)`,
    );
  return await database.change(
    `delete from ${spec.name} where ${keyText(spec, spec.name)} in (select key from gone)`,
  );
}
