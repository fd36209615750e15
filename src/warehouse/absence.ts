import type { DataFolder } from '../data-folder.ts';
import type { Database } from './database.ts';
import { listSql, quoteText, readSql } from './sql-text.ts';
import { listFiles, type StagedSegment } from './staged-segments.ts';
import { readTableSpecs, type TableSpec } from './table-spec.ts';

/** A list operation whose complete crawls tell what its target does not have (`sql/members/<operation>.sql`). */
interface MemberList {
  operation: string;
  table: TableSpec;
  /** Its rows, by ready crawl: (task, crawl, key, slot, seen_at, gone_reason). */
  sql: string;
  /** The operation that is asked about a row that is missing, and the table its answers go to; null: none can be. */
  lookup: { operation: string; answers: TableSpec } | null;
}

/** A target may lose this share of its rows in one crawl, or this many, before somebody has to say that it is right. */
const brake = { share: 0.01, rows: 50 };

/**
 * Makes `judged`, the ready crawls that say what their targets do not have, and `vanished`: rows that they should have
 * shown and did not, before the crawls' own rows go in. Existence belongs to the key, membership to the target: what
 * can be looked up is only asked about.
 * Refuses crawls that would close too many rows nobody can ask about.
 * @param accepted jobs, and targets as `job/target`, for which that is right
 */
export async function findVanished(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
  accepted: readonly string[],
): Promise<void> {
  await database.run(`create or replace temp table vanished
    (table_name varchar, task varchar, crawl varchar, key varchar, gone_reason varchar, lookup varchar)`);
  await database.run('create or replace temp table judged (task varchar, crawl varchar)');
  const ready = await database.rows<{ operation: string }>('select distinct operation from ready');
  const operations = new Set(ready.map(({ operation }) => operation));
  const lists = readMemberLists().filter(({ operation }) => operations.has(operation));
  for (const { table } of distinctTables(lists)) {
    // A table without rows has none that could be missing: a first night.
    if ((await database.rows(`select 1 from ${table.name} limit 1`)).length === 0) continue;
    const files = listFiles(folder, table, staged);
    await makeListed(database, table, files);
    for (const list of lists.filter((other) => other.table === table)) {
      await makeMembers(database, list);
      await addVanished(database, list, files);
      if (list.lookup === null) await applyBrake(database, list, accepted);
    }
  }
}

/** Makes `listed`, the ready crawls that say what their targets do not have, and `unread`. */
async function makeListed(database: Database, { key }: TableSpec, files: readonly string[]): Promise<void> {
  if (files.length === 0)
    await database.run('create or replace temp table unread (task varchar, crawl varchar, key varchar)');
  else await database.run(readSql('publish/unread.sql').replaceAll('{key}', key[0] as string), { files });
  await database.run(readSql('publish/listed.sql'));
}

/** Makes `member`, the rows of the targets of a list. */
async function makeMembers(database: Database, list: MemberList): Promise<void> {
  await database.run('insert into judged select task, crawl from listed where operation = $operation', {
    operation: list.operation,
  });
  // Padded with the digit for zero, base58 texts stand in the order of their bytes.
  await database.run(`create or replace temp view member as
    select m.* from (${list.sql}) m join listed l using (task, crawl)
    where (l.range.after is null or lpad(m.key, 44, '1') > lpad(l.range.after, 44, '1'))
      and (l.range.before is null or lpad(m.key, 44, '1') < lpad(l.range.before, 44, '1'))`);
}

async function addVanished(
  database: Database,
  { table, lookup }: MemberList,
  files: readonly string[],
): Promise<void> {
  const notStaged = `and not exists (
      from read_parquet($files) s where s.task = m.task and s.crawl = m.crawl and ${keyText(table, 's')} = m.key
    )`;
  await database.run(
    `insert into vanished
    select $table, m.task, m.crawl, m.key, m.gone_reason, $lookup
    from member m join listed l using (task, crawl)
    where ${isOlder('m', 'l')}
      and not exists (from unread u where u.task = m.task and u.crawl = m.crawl and u.key = m.key)
      ${files.length === 0 ? '' : notStaged}`,
    {
      ...{ table: table.name, lookup: lookup?.operation ?? null },
      ...(files.length === 0 ? {} : { files }),
    },
  );
}

async function applyBrake(
  database: Database,
  { table }: MemberList,
  accepted: readonly string[],
): Promise<void> {
  await database.run(
    `insert into refused
    select task, crawl, 'brake: ' || gone || ' of ' || total
      || ' rows are not listed any more; if that is right: run --accept-vanished '
      || job || if(target = '', '', '/' || target)
    from (select task, crawl, count(*) as total from member group by task, crawl)
    join (
      select task, crawl, count(*) as gone from vanished where table_name = $table group by task, crawl
    ) using (task, crawl)
    join ready using (task, crawl)
    where gone > greatest($rows, total * $share)
      and not list_contains($accepted, job) and not list_contains($accepted, job || '/' || target)`,
    { table: table.name, ...brake, accepted },
  );
}

/**
 * The rows that were true last before the crawl looked, so that it should have shown them. A later answer of another
 * job, or one from a slot above the crawl's lowest page, is not contradicted by it.
 */
function isOlder(row: string, crawl: string): string {
  return `${row}.seen_at < ${crawl}.started_at and coalesce(${row}.slot <= ${crawl}.min_slot, true)`;
}

/**
 * After the rows are in: closes what vanished and cannot be looked up, what two runs found unknown, and what a
 * transaction spent; queues the rest in `meta.absent` for the job `_confirm`. In the caller's transaction.
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
  const [missed] = await database.rows(
    '(select key from vanished limit 1) union all (select key from meta.absent limit 1)',
  );
  for (const { table, lookup } of missed === undefined ? [] : distinctTables(readMemberLists())) {
    const unseen = `
      from vanished v
      join ready r using (task, crawl)
      join (select ${keyText(table, 't')} as key, slot, seen_at from ${table.name} t) t using (key)
      where v.table_name = ${quoteText(table.name)} and ${isOlder('t', 'r')}`;
    await close(
      table,
      `select key, min(r.min_slot) as slot, max(r.finished_at) as at, any_value(gone_reason) as reason
      ${unseen} and gone_reason is not null group by key`,
    );
    if (lookup !== null) {
      await countAnswers(database, folder, staged, { table, ...lookup });
      const unknown = `select key, any_value(a.slot) as slot, any_value(missed_at) as at, 'unknown' as reason
        from looked_up join meta.absent a using (lookup, key)
        where a.table_name = ${quoteText(table.name)} and unknown and a.null_run < run_id group by key`;
      for (const spec of new Set([table, lookup.answers])) await close(spec, unknown);
      await queueLookUps(database, table, lookup.answers, unseen);
    }
  }
  const spendable = readTableSpecs().filter(({ name }) => spentTables.includes(name));
  const shapes = new Set(['compression_transaction', ...spendable.flatMap((spec) => spec.shapes)]);
  if (staged.some(({ shape }) => shapes.has(shape)))
    for (const spec of spendable) await close(spec, readSql('publish/spent.sql'));
  return closed;
}

/** Tables of accounts that transactions close. */
const spentTables = ['compressed_accounts', 'compressed_token_accounts'];

/** Makes `looked_up`: what the ready look-ups of this table's rows found out. */
async function countAnswers(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
  { table, operation, answers }: { table: TableSpec; operation: string; answers: TableSpec },
): Promise<void> {
  const files = listFiles(folder, answers, staged);
  await database.run(
    files.length === 0
      ? 'create or replace temp table answered (task varchar, crawl varchar, key varchar)'
      : `create or replace temp table answered as
        select task, crawl, coalesce(key, '') as key
        from (
          select task, crawl,
            unnest(if(${keyText(answers, 's')} is null, mentioned_keys(misfits[1].raw), [${keyText(answers, 's')}])) as key
          from read_parquet($files) s semi join ready using (task, crawl)
        )`,
    files.length === 0 ? {} : { files },
  );
  await database.run(readSql('publish/lookups.sql'), { table: table.name, operation });
}

/** What was seen again leaves the queue, what was asked about is marked, what the ready crawls missed comes in. */
async function queueLookUps(
  database: Database,
  table: TableSpec,
  answers: TableSpec,
  unseen: string,
): Promise<void> {
  const name = quoteText(table.name);
  for (const spec of new Set([table, answers]))
    await database.run(`delete from meta.absent where table_name = ${name}
      and exists (
        from ${spec.name} t where ${keyText(spec, 't')} = meta.absent.key
          and t.seen_at > meta.absent.missed_at and coalesce(t.slot >= meta.absent.slot, true)
      )`);
  // Found, but true only before the crawl that missed it: asked about until the next crawl says more.
  await database.run(`delete from meta.absent where table_name = ${name} and null_run is null
    and exists (from ready r join judged j using (task, crawl) where r.task = meta.absent.task)
    and not exists (from vanished v where v.table_name = ${name} and v.key = meta.absent.key)`);
  await database.run(`delete from meta.absent where table_name = ${name}
    and not exists (from ${table.name} t where ${keyText(table, 't')} = meta.absent.key)`);
  await database.run(`update meta.absent set
      asked_run = l.run_id,
      null_run = coalesce(meta.absent.null_run, if(l.unknown, l.run_id, null))
    from looked_up l
    where meta.absent.table_name = ${name} and l.lookup = meta.absent.lookup and l.key = meta.absent.key`);
  await database.run(`insert into meta.absent (table_name, key, lookup, job, target, task, options, slot, missed_at)
    select ${name}, key, lookup, missed.job, missed.target, missed.task, ${displayOptions('missed')}, slot, missed_at
    from (
      select key, any_value(v.lookup) as lookup, arg_min(r, r.task) as missed, min(r.min_slot) as slot, max(r.finished_at) as missed_at
      ${unseen} and v.lookup is not null
        and not exists (from meta.absent a where a.table_name = ${name} and a.key = v.key)
      group by key
    )`);
}

/** The display options that a crawl asked with, as JSON text; NULL without any. */
function displayOptions(crawl: string): string {
  return `nullif((${crawl}.params -> '$.options')::varchar, '{}')`;
}

/**
 * Moves rows to `past`; what was true at a slot ended after it.
 * @param gone a query of (key, slot, at, reason)
 * @returns how many there were
 */
async function closeRows(database: Database, spec: TableSpec, gone: string): Promise<number> {
  await database.run(`create or replace temp table gone as ${gone}`);
  if ((await database.rows('select key from gone limit 1')).length === 0) return 0;
  await database.run(`insert into past.${spec.name} by name
    select t.*, greatest(g.slot, t.slot + 1) as valid_to_slot, greatest(g.at, t.changed_at) as valid_to, g.reason as gone_reason
    from ${spec.name} t join gone g on g.key = ${keyText(spec, 't')}`);
  return await database.change(
    `delete from ${spec.name} where ${keyText(spec, spec.name)} in (select key from gone)`,
  );
}

/** A row's key as one text. */
function keyText(spec: TableSpec, row: string): string {
  const columns = spec.key.map((column) => `${row}.${column}`);
  return columns.length === 1 ? (columns[0] as string) : `concat_ws('/', ${columns.join(', ')})`;
}

let memberLists: readonly MemberList[] | null = null;

/** Every file of `sql/members/`; read once a process. */
function readMemberLists(): readonly MemberList[] {
  memberLists ??= parseMemberLists();
  return memberLists;
}

function parseMemberLists(): MemberList[] {
  const specs = new Map(readTableSpecs().map((spec) => [spec.name, spec]));
  return listSql('members').map((name) => {
    const sql = readSql(`members/${name}.sql`);
    const table = specs.get(/^-- table: (\w+)$/m.exec(sql)?.[1] ?? '');
    if (table === undefined)
      throw new Error(`sql/members/${name}.sql has no "-- table:" line of a known table`);
    const [, operation = '', answers = ''] = /^-- lookup: (\w+), answered in (\w+)$/m.exec(sql) ?? [];
    const answered = specs.get(answers);
    return {
      operation: name,
      table,
      sql,
      lookup: answered === undefined ? null : { operation, answers: answered },
    };
  });
}

/** One list a table: those of one table are looked up in one way. */
function distinctTables(lists: readonly MemberList[]): MemberList[] {
  return [...new Map(lists.map((list) => [list.table.name, list])).values()];
}
