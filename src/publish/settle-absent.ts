import type { DataFolder } from '../data-folder.ts';
import { listFiles, type StagedSegment } from '../load/staged-segments.ts';
import { quoteText, readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import {
  type AskedRows,
  distinctTables,
  keyText,
  readAskedRows,
  readMemberLists,
} from '../warehouse/member-lists.ts';
import { readTableSpecs, type TableSpec, withoutFollowed } from '../warehouse/table-spec.ts';
import { isOlder } from './absence.ts';

/**
 * After the rows are in: closes what vanished and cannot be looked up, what two answers under its key, hours apart, said
 * to be unknown, and what was spent; queues the rest in `meta.absent`. In the caller's transaction.
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
  // What waits from before the source went back would wait for slots that are long in coming.
  await database.run(`update meta.absent set slot = least(slot, r.min_slot), null_slot = least(null_slot, r.min_slot)
    from ready r where r.rolls_back and r.job = meta.absent.job and r.target = meta.absent.target`);
  const missed = await database.rows<{ table_name: string }>(
    'select distinct table_name from vanished union select distinct table_name from meta.absent',
  );
  const waiting = new Set(missed.map(({ table_name }) => table_name));
  const asked = new Map(readAskedRows().map((rows) => [rows.table.name, rows]));
  const listed = distinctTables(readMemberLists()).map(({ table }) => table);
  for (const table of new Set([...listed, ...[...asked.values()].map((rows) => rows.table)])) {
    const isAnswered = await makeLookedUp(database, folder, staged, asked.get(table.name) ?? null);
    if (!isAnswered && !waiting.has(table.name)) continue;
    if (waiting.has(table.name)) await close(table, vanishedSql(table));
    if (isAnswered) await close(table, unknownSql(table));
    await forgetSettled(database, table, isAnswered);
    if (isAnswered) await noteAnswers(database, table);
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
 * Makes `looked_up`: what the ready crawls found out about rows of a table that they asked for by key.
 * @returns whether it has any; without, the table is not made
 */
async function makeLookedUp(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
  asked: AskedRows | null,
): Promise<boolean> {
  if (asked === null) return false;
  await database.run(`create or replace temp table requested_key as ${asked.sql}`);
  if (await isEmpty(database, 'requested_key')) return false;
  const { table, answers } = asked;
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

/** The rows of a table that vanished and are still as old as that, with the crawl (`r`) and what waits of them (`a`). */
function unseen(table: TableSpec): string {
  return `
    from vanished v
    join ready r using (task, crawl)
    join (select ${keyText(table, 't')} as key, slot, seen_at from ${table.name} t) t using (key)
    left join meta.absent a on a.table_name = v.table_name and a.key = v.key
    where v.table_name = ${quoteText(table.name)} and ${isOlder('t', 'r')}`;
}

/** Of a crawl that had a record which may be any row, only what such a crawl missed before. */
function vanishedSql(table: TableSpec): string {
  return `
    select
      v.key,
      min(if(v.unsure, a.slot, r.min_slot)) as slot,
      max(if(v.unsure, a.missed_at, r.finished_at)) as at,
      any_value(v.gone_reason) as reason
    ${unseen(table)} and v.gone_reason is not null
      and (not v.unsure or bears_out(a.null_at, a.null_slot, r.started_at, r.min_slot))
    group by v.key`;
}

function unknownSql(table: TableSpec): string {
  return `
    select key, a.slot, a.missed_at as at, 'unknown' as reason
    from looked_up l
    join meta.absent a using (key)
    where a.table_name = ${quoteText(table.name)}
      and ${closes}`;
}

/** Condition on a row of `looked_up` l and of `meta.absent` a: there is nothing under its key, for the second time. */
const closes = `l.unknown
      and a.null_run <> l.asking_crawl.run_id
      and bears_out(a.null_at, a.null_slot, l.answered_at, l.as_of_slot)`;

/** Makes `unknown_count` for the guard `vanished`: what the ready crawls would close, by the job that missed the rows. */
export async function countUnknown(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
): Promise<void> {
  await database.run(`create or replace temp table unknown_count (
    task varchar, crawl varchar, job varchar, table_name varchar, rows bigint, closing bigint, before bigint, total bigint,
    examples varchar[])`);
  const waiting = await database.rows<{ table_name: string }>(
    'select distinct table_name from meta.absent where null_run is not null',
  );
  for (const asked of readAskedRows()) {
    const { name } = asked.table;
    if (!waiting.some(({ table_name }) => table_name === name)) continue;
    if (await makeLookedUp(database, folder, staged, asked))
      await database.run(readSql('publish/unknown.sql').replaceAll('{closes}', closes), { table: name });
  }
}

/** What was seen again, or is closed, waits no more. */
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
  // Found, but true only before the crawl that missed it: asked about until the next crawl says more.
  await database.run(`delete from meta.absent where table_name = ${name} and (null_run is null or lookup is null)
    and exists (from ready r join listed_crawl using (task, crawl) where r.task = meta.absent.task)
    and not exists (from vanished v where v.table_name = ${name} and v.key = meta.absent.key)`);
  await database.run(`delete from meta.absent where table_name = ${name}
    and not exists (from ${table.name} t where ${key} = meta.absent.key)`);
}

/** Marks what was asked about; what there is nothing under for the first time comes in. */
async function noteAnswers(database: Database, table: TableSpec): Promise<void> {
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
    select ${name}, key, asking_crawl.job, asking_crawl.target, asking_crawl.task,
      slot, answered_at, asking_crawl.run_id, answered_at, asking_crawl.run_id, answered_at, as_of_slot
    from looked_up l
    where unknown
      and exists (from ${table.name} t where ${keyText(table, 't')} = l.key)
      and not exists (from meta.absent a where a.table_name = ${name} and a.key = l.key)`);
}

/** What the ready crawls missed comes in: to be looked up, or to be missed once more. */
async function queueMissed(database: Database, table: TableSpec): Promise<void> {
  const name = quoteText(table.name);
  await database.run(`create or replace temp table missed_row as
    select
      v.key,
      any_value(v.lookup) as lookup,
      arg_min(r, r.task) as missed,
      min(r.min_slot) as slot,
      max(r.finished_at) as missed_at
    ${unseen(table)} and (v.lookup is not null or v.unsure)
    group by v.key`);
  await database.run(`update meta.absent set lookup = m.lookup, options = ${displayOptions('m.missed')}
    from missed_row m
    where meta.absent.table_name = ${name} and m.key = meta.absent.key and meta.absent.lookup is null`);
  await database.run(`insert into meta.absent (
      table_name, key, lookup, job, target, task, options, slot, missed_at, null_run, null_at, null_slot
    )
    select ${name}, key, lookup, missed.job, missed.target, missed.task, ${displayOptions('missed')}, slot, missed_at,
      if(lookup is null, missed.run_id, null), if(lookup is null, missed_at, null), if(lookup is null, slot, null)
    from missed_row m
    where not exists (from meta.absent a where a.table_name = ${name} and a.key = m.key)`);
}

/** The display options that a crawl asked with, as JSON text; NULL without any. */
function displayOptions(crawl: string): string {
  return `nullif((${crawl}.params -> '$.options')::varchar, '{}')`;
}

/**
 * Rows leave their table, and move to `past` where it has history; what was true at a slot ended after it, unless
 * its source went back below it: what is spent may have been confirmed by a replica that was behind.
 * @param gone a query of (key, slot, at, reason)
 * @returns how many there were
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
