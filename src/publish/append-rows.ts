import { appliedRows, makeWithheld } from '../load/staged-segments.ts';
import { quoteName, readSql } from '../sql-text.ts';
import { type Database, listColumns } from '../warehouse/database.ts';
import { retryWithMoreMemory } from '../warehouse/memory.ts';
import { groupHash, listGroups } from '../warehouse/row-groups.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';
import { type MergeCounts, noRows } from './merge-table.ts';
import { noDisputes, replaceSets, setKeyOf } from './replace-sets.ts';

/** Files applied at once: bounds the memory of one statement. */
const filesPerSlice = 8;

/** Columns that publish sets, from these of the staged row. */
const bookkeeping: Readonly<Record<string, string>> = {
  first_seen_slot: 'slot',
  changed_slot: 'slot',
  record_hash: 'staged_base_hash',
};

/**
 * Adds the rows of staging files to an append-only table. Of several with one key, the first seen is stored, in the table or in
 * the files; later ones only fill what it leaves NULL (`fillRows`), unless a full refresh shows another value, or an answer
 * another set of rows (`replaceSets`). Applied again, files change nothing. Rows of crawls that were refused, or are published in
 * a later step, are left out.
 */
export async function appendRows(
  database: Database,
  spec: TableSpec,
  files: readonly string[],
): Promise<MergeCounts> {
  const counts = { ...noRows };
  if (files.length === 0) return counts;
  await database.run(makeWithheld);
  await database.run(noDisputes);
  const columns = await listColumns(database, spec.name);
  const insert = insertNew(spec, columns);
  const shown = listGroups(spec, columns)[0]?.columns ?? [];
  const sets = {
    rows: appliedRows,
    columns: shown,
    insert: insertRows(spec, columns, 'set_row as s', 'true'),
  };
  for (let n = 0; n < files.length; n += filesPerSlice) {
    const slice = files.slice(n, n + filesPerSlice);
    const replaced = await replaceSets(database, spec, sets, { slice, all: files });
    counts.inserted += replaced.inserted;
    counts.amended += replaced.replaced;
    await retryWithMoreMemory(database, () => database.run(findAgain(spec), { files: slice }));
    const [end] = await database.rows<{ row: bigint }>(
      `select coalesce(max(rowid) + 1, 0) as row from ${spec.name}`,
    );
    const inserted = await retryWithMoreMemory(database, () => database.change(insert, { files: slice }));
    const [row] = await database.rows<{ n: bigint }>(`select count(*) as n from ${appliedRows}`, {
      files: slice,
    });
    counts.seen += Number(row?.n ?? 0n);
    counts.inserted += inserted;
    if (inserted > 0) {
      counts.late += await countLate(database, spec, slice, end?.row ?? 0n);
      await retryWithMoreMemory(database, () =>
        database.run(addSeveral(spec), { files: slice, end: end?.row ?? 0n }),
      );
    }
    counts.amended += await fillRows(database, spec, slice);
  }
  counts.confirmed = counts.seen - counts.inserted - counts.amended;
  return counts;
}

/** Adds the rows whose keys are not in `stored_key`. $files: the slice's staging files */
export function insertNew(spec: TableSpec, columns: readonly string[]): string {
  const isStored = spec.key.map(quoteName).map((key) => `a.${key} = s.${key}`);
  const isNew = `not exists (from stored_key as a where ${isStored.join(' and ')})`;
  return insertRows(
    spec,
    columns,
    `${freeRows(spec)} as s left join refreshing using (task, crawl)`,
    isNew,
    'since desc nulls last, ',
  );
}

/** Rows of staging files ($files) whose set, where the table has sets, no answers dispute. */
function freeRows(spec: TableSpec): string {
  const set = setKeyOf(spec);
  if (set === null) return appliedRows;
  return `(from ${appliedRows} anti join disputed_set using (${set.map(quoteName).join(', ')}))`;
}

/** @param order what comes before the time of the answer in choosing between rows with one key */
function insertRows(
  spec: TableSpec,
  columns: readonly string[],
  rows: string,
  condition: string,
  order = '',
): string {
  const keys = spec.key.map(quoteName);
  return `insert into ${spec.name} (${columns.map(quoteName).join(', ')})
    select ${columns.map((column) => bookkeeping[column] ?? quoteName(column)).join(', ')}
    from ${rows}
    where ${keys.map((key) => `${key} is not null`).join(' and ')}
      and ${condition}
    qualify row_number() over (partition by ${keys.join(', ')} order by ${order}seen_at, page, n) = 1`;
}

/** Counts the rows just added, from row number `end` on, in slots that their feed had covered before. */
async function countLate(
  database: Database,
  { name, key, feedSlot }: TableSpec,
  files: readonly string[],
  end: bigint,
): Promise<number> {
  if (feedSlot === null) return 0;
  const sql = readSql('publish/late.sql')
    .replaceAll('{table}', name)
    .replaceAll('{keys}', key.map(quoteName).join(', '))
    .replaceAll('{slot}', feedSlot);
  const [row] = await database.rows<{ n: bigint }>(sql, { files, end });
  return Number(row?.n ?? 0n);
}

/** Makes `stored_key`: the keys of a slice that the table has. $files: the slice's staging files */
export function findAgain(spec: TableSpec): string {
  const keys = spec.key.map(quoteName).join(', ');
  return `create or replace temp table stored_key as
    select rowid as target, ${keys}
    from ${spec.name}
    semi join (select ${keys} from ${freeRows(spec)}) using (${keys})`;
}

/** Adds to `stored_key` the rows just inserted that the slice has several of. $end: the row number they begin at */
export function addSeveral(spec: TableSpec): string {
  const keys = spec.key.map(quoteName).join(', ');
  return `insert into stored_key
    select rowid, ${keys}
    from ${spec.name}
    semi join (
      select ${keys} from ${freeRows(spec)} group by ${keys} having count(*) > 1
    ) using (${keys})
    where rowid >= $end`;
}

/**
 * Fills what rows of an append-only table leave NULL, or an empty list, with the values of later answers; a value is overwritten
 * only by a full refresh that began after it was written. Of several answers the first seen is taken, column by column, in whichever slices they come. A filled row's
 * hash, run and changed slot are set anew; slot and time stay those of its first answer.
 * Reads `stored_key` (target, keys): the rows of which the slice has more copies.
 * @param files the slice's staging files
 * @returns rows filled
 */
async function fillRows(database: Database, spec: TableSpec, files: readonly string[]): Promise<number> {
  if ((await database.rows('from stored_key limit 1')).length === 0) return 0;
  const [base] = listGroups(spec, await listColumns(database, spec.name));
  if (base === undefined || base.columns.length === 0) return 0;
  const { columns } = base;
  await retryWithMoreMemory(database, () =>
    database.run(filledSql(spec, columns, groupHash(spec, base)), { files }),
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

/** Makes `filled`: the rows of `stored_key` that get values, with all columns and the last answer that filled one. */
function filledSql(spec: TableSpec, columns: readonly string[], hash: string): string {
  const keys = spec.key.map(quoteName);
  const stored = (column: string) => quoteName(`stored_${column}`);
  const staged = (column: string) => quoteName(`staged_${column}`);
  const fills = (column: string) =>
    `${staged(column)} is not null and (${stored(column)} is null or refreshes and ${stored(column)} <> ${staged(column)})`;
  const items = (item: (column: string) => string) => columns.map(item).join(',\n        ');
  return `
    create or replace temp table filled as
    with pair as (
      select
        a.target,
        coalesce(since > t.run_id, false) as refreshes,
        {'seen_at': s.seen_at, 'page': s.page, 'n': s.n, 'slot': s.slot, 'run_id': s.run_id} as answer,
        ${items((column) => `${nullIfEmpty(`s.${quoteName(column)}`)} as ${staged(column)}`)},
        ${items((column) => `${nullIfEmpty(`t.${quoteName(column)}`)} as ${stored(column)}`)}
      from ${freeRows(spec)} s
      left join refreshing using (task, crawl)
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

/** A column, with an empty list as NULL. */
function nullIfEmpty(column: string): string {
  return `case when typeof(${column}) not like '%[]' or ${column}::varchar <> '[]' then ${column} end`;
}
