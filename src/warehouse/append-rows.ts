import type { Database } from './database.ts';
import { type MergeCounts, noRows } from './merge-table.ts';
import type { StagedSegment } from './publish.ts';
import { readSql } from './sql-text.ts';
import type { TableSpec } from './table-spec.ts';

/** Segments applied at once: bounds the memory of one statement. */
const segmentsPerSlice = 8;

/** Adds the rows of segments that are not in yet to an append-only table. Rows that are there stay as they are. */
export async function appendRows(
  database: Database,
  spec: TableSpec,
  segments: readonly StagedSegment[],
): Promise<MergeCounts> {
  const done = await database.rows<{ segment: bigint }>('select segment from meta.segments where appended');
  const known = new Set(done.map(({ segment }) => Number(segment)));
  const files = segments.filter(({ segment }) => !known.has(segment)).map(({ file }) => file);
  const counts = { ...noRows };
  for (let n = 0; n < files.length; n += segmentsPerSlice) {
    const slice = files.slice(n, n + segmentsPerSlice);
    const inserted = await database.change(readSql(`publish/append.${spec.name}.sql`), { files: slice });
    const [row] = await database.rows<{ n: bigint }>('select count(*) as n from read_parquet($files)', {
      files: slice,
    });
    counts.seen += Number(row?.n ?? 0n);
    counts.inserted += inserted;
  }
  counts.confirmed = counts.seen - counts.inserted;
  return counts;
}
