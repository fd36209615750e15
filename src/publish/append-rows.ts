import { appliedRows, makeWithheld } from '../load/staged-segments.ts';
import { quoteName, readSql } from '../sql-text.ts';
import { type Database, listColumns } from '../warehouse/database.ts';
import { retryWithMoreMemory } from '../warehouse/memory.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';
import { fillRows } from './fill-rows.ts';
import { type MergeCounts, noRows } from './merge-table.ts';

/** Files applied at once: bounds the memory of one statement. */
const filesPerSlice = 8;

/** What publish sets, from the staged row. */
const bookkeeping: Readonly<Record<string, string>> = {
  first_seen_slot: 'slot',
  changed_slot: 'slot',
  record_hash: 'staged_base_hash',
};

/**
 * Adds the rows of staging files to an append-only table. Of several with one key, the first seen counts, also where it
 * is in the table already: later ones only fill what it leaves NULL (`fillRows`). Applied again, files change nothing.
 * Crawls that were refused, or that are judged later, bring nothing.
 */
export async function appendRows(
  database: Database,
  spec: TableSpec,
  files: readonly string[],
): Promise<MergeCounts> {
  const counts = { ...noRows };
  if (files.length === 0) return counts;
  await database.run(makeWithheld);
  const columns = await listColumns(database, spec.name);
  const insert = insertNew(spec, columns);
  for (let n = 0; n < files.length; n += filesPerSlice) {
    const slice = files.slice(n, n + filesPerSlice);
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
  const keys = spec.key.map(quoteName);
  return `insert into ${spec.name} (${columns.map(quoteName).join(', ')})
    select ${columns.map((column) => bookkeeping[column] ?? quoteName(column)).join(', ')}
    from ${appliedRows} as s
    where ${keys.map((key) => `${key} is not null`).join(' and ')}
      and not exists (from stored_key as a where ${keys.map((key) => `a.${key} = s.${key}`).join(' and ')})
    qualify row_number() over (partition by ${keys.join(', ')} order by seen_at, page, n) = 1`;
}

/** Rows just added, from row number `end` on, in slots that their feed had covered before. */
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
    semi join (select ${keys} from ${appliedRows}) using (${keys})`;
}

/** Adds to `stored_key` the rows just inserted that the slice has several of. $end: the row number they begin at */
export function addSeveral(spec: TableSpec): string {
  const keys = spec.key.map(quoteName).join(', ');
  return `insert into stored_key
    select rowid, ${keys}
    from ${spec.name}
    semi join (
      select ${keys} from ${appliedRows} group by ${keys} having count(*) > 1
    ) using (${keys})
    where rowid >= $end`;
}
