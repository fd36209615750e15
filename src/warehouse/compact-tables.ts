import { rowGroupSize } from './build.ts';
import type { Database } from './database.ts';

/** A row group: the rows with `firstRow <= rowid < endRow`, of which `liveRows` are not deleted. */
export interface RowGroup {
  firstRow: number;
  endRow: number;
  liveRows: number;
}

/** A table is compacted if that saves so many row groups. A night adds two or three to a table. */
const minSaved = 8;

/** Row groups that one run rewrites in one table, so that no single night pays for a year of changes. */
const maxRewritten = 8;

/** Rows that DuckDB scans at once. */
const vectorSize = 2048;

/**
 * Merges the small row groups that many nights leave in the tables of the build, which must have no open transaction.
 * Every publish adds row groups of a few rows and deletes rows of older ones. DuckDB writes, opens and scans each group column by
 * column, so CPU time, memory and file would grow with every night (docs/adr/0001). Rows move to the table's end, as many as fill
 * a row group in one transaction, so a kill leaves each row either where it was or where it is now.
 * @returns row groups whose rows moved
 */
export async function compactTables(database: Database): Promise<number> {
  const tables = await database.rows<{ name: string }>(
    `select schema_name || '.' || table_name as name from duckdb_tables()
    where not internal and not temporary and estimated_size > 0 order by name`,
  );
  let moved = 0;
  for (const { name } of tables) {
    const sparse = chooseSparse(await listRowGroups(database, name));
    for (const batch of takeBatches(sparse)) await moveRows(database, name, batch);
    moved += sparse.length;
  }
  if (moved > 0) await database.run('checkpoint');
  return moved;
}

/**
 * Lists the row groups of a table by a scan of row numbers alone, because DuckDB's own list (`pragma_storage_info`) reads the
 * metadata of every column, 310 MB for six million assets. A vector has rows of one row group and one position in it, so a second
 * vector at that position begins the next group. Where a group's first or last rows are deleted, its ends are a guess: a neighbour
 * may get some of its rows, and compaction then moves a few rows more or fewer.
 */
export async function listRowGroups(database: Database, table: string): Promise<RowGroup[]> {
  const groups: RowGroup[] = [];
  await database.onOneThread(async () => {
    let lastPosition = -1;
    for await (const vector of database.vectors(`select rowid from ${table}`)) {
      const [first, endRow] = [Number(vector.first), Number(vector.last) + 1];
      const group = groups.at(-1) ?? { firstRow: 0, endRow: 0, liveRows: 0 };
      const position = Math.floor((first - group.firstRow) / vectorSize);
      const full = Math.floor((first - group.firstRow) / rowGroupSize);
      if (lastPosition < 0 || position === lastPosition || full > 0) {
        const firstRow = full > 0 ? group.firstRow + full * rowGroupSize : group.endRow;
        groups.push({ firstRow, endRow, liveRows: vector.count });
        lastPosition = Math.floor((first - firstRow) / vectorSize);
      } else {
        group.endRow = endRow;
        group.liveRows += vector.count;
        lastPosition = position;
      }
    }
  });
  return groups;
}

/**
 * Chooses the row groups whose rows move into new, full ones: groups that are at least half empty, the emptiest first; none if that
 * saves fewer than `minSaved`. Pure. @returns them in the table's order
 */
export function chooseSparse(groups: readonly RowGroup[]): RowGroup[] {
  const sparse = groups
    .filter(({ liveRows }) => liveRows <= rowGroupSize / 2)
    .sort((a, b) => a.liveRows - b.liveRows);
  const chosen: RowGroup[] = [];
  let rows = 0;
  for (const group of sparse) {
    if (rows + group.liveRows > maxRewritten * rowGroupSize) break;
    rows += group.liveRows;
    chosen.push(group);
  }
  if (chosen.length - Math.ceil(rows / rowGroupSize) < minSaved) return [];
  return chosen.sort((a, b) => a.firstRow - b.firstRow);
}

/** Splits groups, in their order, into batches that fill one row group each. */
function takeBatches(groups: readonly RowGroup[]): RowGroup[][] {
  const batches: RowGroup[][] = [];
  let rows = 0;
  for (const group of groups) {
    rows += group.liveRows;
    if (batches.length === 0 || rows > rowGroupSize) {
      batches.push([]);
      rows = group.liveRows;
    }
    batches.at(-1)?.push(group);
  }
  return batches;
}

async function moveRows(database: Database, table: string, groups: readonly RowGroup[]): Promise<void> {
  await database.transaction(async () => {
    for (const { firstRow, endRow } of joinNeighbours(groups)) {
      const rows = `from ${table} where rowid >= ${firstRow} and rowid < ${endRow}`;
      await database.run(`insert into ${table} select * ${rows}`);
      await database.run(`delete ${rows}`);
    }
  });
}

/** Joins adjacent groups to ranges of row numbers, each of which one statement reads. */
function joinNeighbours(groups: readonly RowGroup[]): Pick<RowGroup, 'firstRow' | 'endRow'>[] {
  const ranges: { firstRow: number; endRow: number }[] = [];
  for (const { firstRow, endRow } of groups) {
    const last = ranges.at(-1);
    if (last?.endRow === firstRow) last.endRow = endRow;
    else ranges.push({ firstRow, endRow });
  }
  return ranges;
}
