import { type Database, listColumns } from './database.ts';
import { withRoom } from './memory.ts';
import { type MergeCounts, noRows } from './merge-table.ts';
import { quoteName } from './sql-text.ts';
import type { TableSpec } from './table-spec.ts';

/** Files applied at once: bounds the memory of one statement. */
const filesPerSlice = 8;

/** What publish sets, from the staged row. */
const bookkeeping: Readonly<Record<string, string>> = {
  first_seen_slot: 'slot',
  changed_slot: 'slot',
  record_hash: 'staged_base_hash',
};

/**
 * Adds the rows of staging files to an append-only table. Rows whose key is there stay as they are; of several
 * with one key, the first seen counts.
 */
export async function appendRows(
  database: Database,
  spec: TableSpec,
  files: readonly string[],
): Promise<MergeCounts> {
  const counts = { ...noRows };
  if (files.length === 0) return counts;
  const columns = await listColumns(database, spec.name);
  const keys = spec.key.map(quoteName);
  for (let n = 0; n < files.length; n += filesPerSlice) {
    const slice = files.slice(n, n + filesPerSlice);
    const insert = `insert into ${spec.name} (${columns.map(quoteName).join(', ')})
      select ${columns.map((column) => bookkeeping[column] ?? quoteName(column)).join(', ')}
      from read_parquet($files) as s
      where ${keys.map((key) => `${key} is not null`).join(' and ')}
        and not exists (from ${spec.name} as t where ${keys.map((key) => `t.${key} = s.${key}`).join(' and ')})
      qualify row_number() over (partition by ${keys.join(', ')} order by seen_at, page, n) = 1`;
    const inserted = await withRoom(database, () => database.change(insert, { files: slice }));
    const [row] = await database.rows<{ n: bigint }>('select count(*) as n from read_parquet($files)', {
      files: slice,
    });
    counts.seen += Number(row?.n ?? 0n);
    counts.inserted += inserted;
  }
  counts.confirmed = counts.seen - counts.inserted;
  return counts;
}
