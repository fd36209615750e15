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
    (table_name varchar, task varchar, crawl varchar, key varchar, gone_reason varchar, lookup varchar, unsure boolean)`);
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

/** Adds to `vanished` the rows of `member` that the crawls did not show. */
async function addVanished(
  database: Database,
  { table, lookup }: MemberList,
  files: readonly string[],
): Promise<void> {
  const staged = `(select task, crawl, ${keyText(table, 's')} as key from read_parquet($files) s)`;
  // Joins: as subqueries for each row they took twice as long.
  await database.run(
    `insert into vanished
    select $table, task, crawl, key, gone_reason, $lookup, unsure
    from (
      select m.task, m.crawl, m.key, m.gone_reason, l.unsure
      from member m join listed l using (task, crawl)
      where ${isOlder('m', 'l')}
    )
    ${files.length === 0 ? '' : `anti join ${staged} staged using (task, crawl, key)`}
    anti join unreadable using (task, crawl, key)`,
    {
      ...{ table: table.name, lookup },
      ...(files.length === 0 ? {} : { files }),
    },
  );
}

/**
 * Condition that a row was last seen before the crawl, so that the crawl should have shown it. The crawl does not contradict a later
 * answer of another job, nor one from a slot above its lowest page, unless the source went back.
 */
export function isOlder(row: string, crawl: string): string {
  return `${row}.seen_at < ${crawl}.started_at
    and (${crawl}.rolls_back or coalesce(${row}.slot <= ${crawl}.min_slot, true))`;
}
