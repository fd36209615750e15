import { rowGroupSize } from './build.ts';
import type { Database } from './database.ts';

/** Rows that a table's file holds together: those with `firstRow <= rowid < endRow`, of which `liveRows` are left. */
export interface RowGroup {
  firstRow: number;
  endRow: number;
  liveRows: number;
}

/** A table is compacted when that leaves it with so many row groups fewer. A night adds two or three to a table. */
const worthwhile = 8;

/** Row groups that one run fills anew in one table: no single night pays for a year of changes. */
const mostFilled = 8;

/** Rows that DuckDB scans at once. */
const vectorSize = 2048;

/**
 * Merges the small row groups that many nights leave in the tables of the build, which must have no transaction open.
 * Every publish adds row groups of a few rows, and takes rows out of older ones; DuckDB writes, opens and scans each of
 * them column by column, so CPU time, memory and file would grow with every night (docs/adr/0001). Rows move to the
 * table's end, a row group's worth in one transaction: a kill in between leaves each row where it was or where it is now.
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
 * The row groups of a table, by a scan of row numbers alone: DuckDB's own list (`pragma_storage_info`) reads what it
 * knows of every column, 310 MB for six million assets. A vector has rows of one row group and stands in one place of
 * it, so a second one in that place begins the next group. Where a group's first or last rows are deleted, its ends are
 * a guess: rows are then counted to a neighbour, and compaction moves a few rows more or fewer.
 */
export async function listRowGroups(database: Database, table: string): Promise<RowGroup[]> {
  const groups: RowGroup[] = [];
  await database.onOneThread(async () => {
    let last = -1;
    for await (const vector of database.vectors(`select rowid from ${table}`)) {
      const [first, endRow] = [Number(vector.first), Number(vector.last) + 1];
      const group = groups.at(-1) ?? { firstRow: 0, endRow: 0, liveRows: 0 };
      const place = Math.floor((first - group.firstRow) / vectorSize);
      const full = Math.floor((first - group.firstRow) / rowGroupSize);
      if (last < 0 || place === last || full > 0) {
        const firstRow = full > 0 ? group.firstRow + full * rowGroupSize : group.endRow;
        groups.push({ firstRow, endRow, liveRows: vector.count });
        last = Math.floor((first - firstRow) / vectorSize);
      } else {
        group.endRow = endRow;
        group.liveRows += vector.count;
        last = place;
      }
    }
  });
  return groups;
}

/**
 * Row groups whose rows move into new, full ones: those that are half empty at least, the emptiest first, and none as
 * long as that would save few. In the table's order. Pure.
 */
export function chooseSparse(groups: readonly RowGroup[]): RowGroup[] {
  const sparse = groups
    .filter(({ liveRows }) => liveRows <= rowGroupSize / 2)
    .sort((a, b) => a.liveRows - b.liveRows);
  const chosen: RowGroup[] = [];
  let rows = 0;
  for (const group of sparse) {
    if (rows + group.liveRows > mostFilled * rowGroupSize) break;
    rows += group.liveRows;
    chosen.push(group);
  }
  if (chosen.length - Math.ceil(rows / rowGroupSize) < worthwhile) return [];
  return chosen.sort((a, b) => a.firstRow - b.firstRow);
}

/** Groups in their order, so many together as fill one row group. */
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

/** Ranges of row numbers without another group in between: one statement reads each. */
function joinNeighbours(groups: readonly RowGroup[]): Pick<RowGroup, 'firstRow' | 'endRow'>[] {
  const ranges: { firstRow: number; endRow: number }[] = [];
  for (const { firstRow, endRow } of groups) {
    const last = ranges.at(-1);
    if (last?.endRow === firstRow) last.endRow = endRow;
    else ranges.push({ firstRow, endRow });
  }
  return ranges;
}
