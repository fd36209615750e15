import type { DataFolder } from '../data-folder.ts';
import { listFiles, type StagedSegment } from '../load/staged-segments.ts';
import { readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { distinctTables, keyText, type MemberList, readMemberLists } from '../warehouse/member-lists.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';

/**
 * Makes `listed_crawl`, the ready crawls that show all rows of their targets, and `vanished`, the rows that they should have shown
 * and did not, before the crawls' rows are applied. Existence belongs to the key, membership to the target: rows that can be
 * looked up are only queued for a look-up.
 *
 * For the guard `vanished` (sql/guards/) it makes `member_count`, the rows of each such target that cannot be looked up, and
 * `gone_count`, those of them that would be closed.
 */
export async function findVanished(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
): Promise<void> {
  await database.run(`create or replace temp table vanished
    (table_name varchar, task varchar, crawl varchar, key varchar, gone_reason varchar, lookup varchar, unsure boolean, closes boolean)`);
  await database.run(`
    create or replace temp table listed_crawl (task varchar, crawl varchar);
    create or replace temp table member_count (task varchar, crawl varchar, table_name varchar, rows bigint);
    create or replace temp view gone_count as ${readSql('publish/gone-count.sql')};`);
  const ready = await database.rows<{ operation: string }>('select distinct operation from ready');
  const operations = new Set(ready.map(({ operation }) => operation));
  const lists = readMemberLists().filter(({ operation }) => operations.has(operation));
  for (const { table } of distinctTables(lists)) {
    // A table without rows, on a first night, has none to miss.
    if ((await database.rows(`select 1 from ${table.name} limit 1`)).length === 0) continue;
    const files = listFiles(folder, table, staged);
    await makeListed(database, table, files);
    for (const list of lists.filter((other) => other.table === table)) {
      await makeMembers(database, list);
      await addVanished(database, list, files);
      if (list.lookup === null)
        await database.run(
          'insert into member_count select task, crawl, $table, count(*) from member group by task, crawl',
          { table: table.name },
        );
    }
  }
}

/** Makes `unreadable`, and `listed`, the ready crawls that show all rows of their targets in the table. */
async function makeListed(database: Database, { key }: TableSpec, files: readonly string[]): Promise<void> {
  if (files.length === 0)
    await database.run('create or replace temp table unreadable (task varchar, crawl varchar, key varchar)');
  else await database.run(readSql('publish/unreadable.sql').replaceAll('{key}', key[0] as string), { files });
  await database.run(readSql('publish/listed.sql'));
}

/** Makes `member`, the rows of the targets of a list. */
async function makeMembers(database: Database, list: MemberList): Promise<void> {
  await database.run('insert into listed_crawl select task, crawl from listed where operation = $operation', {
    operation: list.operation,
  });
  // Padded with the digit for zero, base58 texts sort as their bytes.
  await database.run(`create or replace temp view member as
    select m.* from (${list.sql()}) m join listed l using (task, crawl)
    where (l.range.after is null or lpad(m.key, 44, '1') > lpad(l.range.after, 44, '1'))
      and (l.range.before is null or lpad(m.key, 44, '1') < lpad(l.range.before, 44, '1'))`);
}

/**
 * Adds to `vanished` the rows of `member` that the crawls did not show, nor any other of the step at a slot that is not older than
 * the row's: what moved from one target to another is in the other's list. Of an unsure crawl, a row is closed, or looked up after
 * a list by page number, only if an earlier crawl missed it, too.
 */
async function addVanished(
  database: Database,
  { table, lookup }: MemberList,
  files: readonly string[],
): Promise<void> {
  const staged = `select task, crawl, ${keyText(table, 's')} as key, slot from read_parquet($files) s semi join ready using (task, crawl)`;
  // Joins: as subqueries for each row they took twice as long.
  const shown = `
    anti join (${staged}) own using (task, crawl, key)
    anti join (select key, max(coalesce(slot, ${maxSlot})) as slot from (${staged}) group by key) other
      on other.key = missed.key and other.slot >= missed.slot`;
  await database.run(
    `insert into vanished
    select $table, task, crawl, key, gone_reason, if(by_number and not again, null, $lookup), unsure,
      gone_reason is not null and (again or not unsure)
    from (
      select m.task, m.crawl, m.key, coalesce(m.slot, 0) as slot, m.gone_reason, l.by_number, l.unsure or l.by_number as unsure,
        coalesce(bears_out(a.null_at, a.null_slot, l.started_at, l.min_slot), false) as again
      from member m join listed l using (task, crawl)
      left join meta.absent a on a.table_name = $table and a.key = m.key
      where ${isOlder('m', 'l')}
    ) missed
    ${files.length === 0 ? '' : shown}
    anti join unreadable using (task, crawl, key)`,
    {
      ...{ table: table.name, lookup },
      ...(files.length === 0 ? {} : { files }),
    },
  );
}

/** Above every slot: an answer without one is as new as any. */
const maxSlot = '9223372036854775807';

/**
 * Condition that a row was last seen before the crawl and its run, so that the crawl should have shown it. The crawl does not contradict
 * another answer of its run, nor one from a slot above its lowest page, unless the source went back.
 */
export function isOlder(row: string, crawl: string): string {
  return `${row}.seen_at < ${crawl}.run_started_at
    and (${crawl}.rolls_back or coalesce(${row}.slot <= ${crawl}.min_slot, true))`;
}
