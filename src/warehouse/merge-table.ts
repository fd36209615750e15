import { type Database, listColumns } from './database.ts';
import { mergeSql } from './merge-sql.ts';
import type { TableSpec } from './table-spec.ts';

/** What became of the rows seen. `seen` = inserted + changed + amended + confirmed + stale. */
export interface MergeCounts {
  seen: number;
  inserted: number;
  changed: number;
  /** Only volatile columns (prices) moved, or a group was carried for the first time. */
  amended: number;
  confirmed: number;
  /** From answers older than what the table has: counted, never applied. */
  stale: number;
}

export const noRows: MergeCounts = { seen: 0, inserted: 0, changed: 0, amended: 0, confirmed: 0, stale: 0 };

/**
 * Memory to plan for a staged row, bytes: its narrow copies in `seen` and `verdict`, and its wide one in the row
 * groups that the insert fills, one a thread. More rows a slice run out of memory when all of them changed
 * (bench/publish.ts at 300MB).
 */
const bytesPerRow = 2800;

/** Applies the ready rows of some staging files to one merge table, slice by slice. */
export async function mergeTable(
  database: Database,
  spec: TableSpec,
  files: readonly string[],
  memoryBytes: number,
): Promise<MergeCounts> {
  const sql = mergeSql(spec, await listColumns(database, spec.name));
  const total = { ...noRows };
  for (const slice of await planSlices(database, files, memoryBytes / bytesPerRow)) {
    const counts = await database.transaction(() => applySlice(database, sql, slice));
    for (const name of Object.keys(total) as (keyof MergeCounts)[]) total[name] += counts[name];
    await database.run('checkpoint');
  }
  return total;
}

/** Runs of staging files, in landing order, of at most so many rows (one file at least). */
async function planSlices(
  database: Database,
  files: readonly string[],
  maxRows: number,
): Promise<string[][]> {
  if (files.length === 0) return [];
  const sizes = await database.rows<{ file_name: string; num_rows: bigint }>(
    'select file_name, num_rows from parquet_file_metadata($files)',
    { files },
  );
  const rowsOf = new Map(sizes.map(({ file_name, num_rows }) => [file_name, Number(num_rows)]));
  const slices: string[][] = [];
  let rows = Number.POSITIVE_INFINITY;
  for (const file of files) {
    const size = rowsOf.get(file) ?? 0;
    if (rows + size > maxRows) {
      slices.push([]);
      rows = 0;
    }
    slices.at(-1)?.push(file);
    rows += size;
  }
  return slices;
}

async function applySlice(
  database: Database,
  sql: ReturnType<typeof mergeSql>,
  files: readonly string[],
): Promise<MergeCounts> {
  await database.run(sql.seen, { files });
  await database.run(sql.verdict);
  const [row] = await database.rows<
    Record<'seen' | 'fresh' | 'inserted' | 'changed' | 'amended' | 'mixed', bigint>
  >(sql.counts);
  if (row === undefined) throw new Error('a count has no row');
  const [seen, fresh, inserted, changed, amended] = [
    row.seen,
    row.fresh,
    row.inserted,
    row.changed,
    row.amended,
  ].map(Number) as [number, number, number, number, number];
  const confirmed = fresh - inserted - changed - amended;
  if (confirmed > 0) for (const statement of sql.confirm) await database.run(statement);
  // New versions first: they are made from the old ones, which still stand under their row numbers.
  if (changed + amended > 0) await database.run(sql.oldRows);
  if (inserted > 0) await database.run(sql.insertNew, { files });
  if (changed + amended > 0) await database.run(sql.insertChanged, { files });
  if (row.mixed > 0n) await database.run(sql.insertMixed, { files });
  if (changed + amended > 0) await database.run(sql.deleteOld);
  return { seen, inserted, changed, amended, confirmed, stale: seen - fresh };
}
