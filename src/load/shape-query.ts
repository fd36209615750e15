import { UsageError } from '../errors.ts';
import { type Database, listColumns } from '../warehouse/database.ts';
import { stagedHashes } from '../warehouse/row-groups.ts';
import { hasSql, listSql, readSql } from '../warehouse/sql-text.ts';
import { readTableSpecs, type TableSpec } from '../warehouse/table-spec.ts';

/** Makes the macros that the shapes share, for this connection only. */
export async function createShapeMacros(database: Database): Promise<void> {
  const paths = ['digests.sql', 'macros.sql', ...listSql('shapes').map((macros) => `shapes/${macros}.sql`)];
  for (const path of paths) await blaming(path, 0, () => database.script(readSql(path)));
}

/**
 * The query from a segment's two files ($pages, $records) to the rows of one table, with the hash of each group that
 * publish compares. Its other parameters are those of `readingOf`. The database must have the table.
 */
export async function shapeQuery(database: Database, spec: TableSpec, shape: string): Promise<string> {
  const hashes = stagedHashes(spec, await listColumns(database, spec.name)).join(', ');
  return `select *, ${hashes} from (${readLanding(shape)}${readSql(mappingPath(spec, shape))})`;
}

/**
 * Has DuckDB read the mappings of these shapes, without any record. It takes about 2 ms each, where looking at their
 * columns too would take 10 to 100.
 * @throws UsageError naming the file with a mistake of syntax
 */
export async function checkMappings(database: Database, shapes: readonly string[]): Promise<void> {
  for (const spec of readTableSpecs())
    for (const shape of spec.shapes.filter((shape) => shapes.includes(shape)))
      await blamingMapping(spec, shape, () =>
        database.listSelected(`${readLanding(shape)}${readSql(mappingPath(spec, shape))}`),
      );
}

/** Does `work` with a query of shapeQuery. @throws UsageError naming the mapping's file for what DuckDB finds wrong in it */
export function blamingMapping<T>(spec: TableSpec, shape: string, work: () => Promise<T>): Promise<T> {
  return blaming(mappingPath(spec, shape), readLanding(shape).split('\n').length - 1, work);
}

function mappingPath(spec: TableSpec, shape: string): string {
  return `shapes/${shape}/${spec.name}.sql`;
}

/** What every mapping begins with. */
function readLanding(shape: string): string {
  const structure = `shapes/${shape}/record.json`;
  return readSql('landing.sql').replace('{record}', hasSql(structure) ? readSql(structure).trim() : '"JSON"');
}

/** @param linesAbove lines of the statement above those of the file */
async function blaming<T>(path: string, linesAbove: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = (error instanceof Error ? error.message : '').replace(/^Failed to [a-z ]+: /, '');
    if (!/^(Parser|Binder|Catalog) Error: /.test(message)) throw error;
    const line = Number(/^LINE (\d+): /m.exec(message)?.[1] ?? 0) - linesAbove;
    throw new UsageError(
      `sql/${path}${line > 0 ? `:${line}` : ''}: ${message.split('\n')[0]}`,
      'Correct the mapping, then run the same command again: nothing received is lost.',
      { cause: error },
    );
  }
}

/** Bytes of records that a function on JSON is given at once; it holds about five times as much while it works. */
const maxChunkBytes = 2 << 20;

/**
 * How a segment's records are to be read: `largest`, what the reader's buffer must hold, a whole line (the record and
 * what the log writes around it); `parts`, in how many parts DuckDB's 2,048 lines are taken.
 */
export function readingOf(records: { longest: number; bytes: number; count: number }): {
  largest: number;
  parts: number;
} {
  const chunkBytes = (records.bytes / Math.max(1, records.count)) * 2048;
  return {
    largest: Math.max(4 << 20, records.longest * 2 + 65_536),
    parts: Math.min(64, Math.ceil(chunkBytes / maxChunkBytes)),
  };
}
