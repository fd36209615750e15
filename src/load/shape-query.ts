import { UsageError } from '../errors.ts';
import { factsMacroOf, type MappingSql, mappingSql } from '../model/mapping-sql.ts';
import { type Origin, readTableModels } from '../model/table-model.ts';
import { readSql } from '../sql-text.ts';
import { type Database, listColumns } from '../warehouse/database.ts';
import { stagedHashes } from '../warehouse/row-groups.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';

/** Makes the macros that mappings use; they exist in this connection only. */
export async function createShapeMacros(database: Database): Promise<void> {
  for (const file of ['digests.sql', 'macros.sql']) {
    const sql = readSql(file);
    const origins = sql.split('\n').map((_, index) => ({ file, line: index + 1 }));
    await blaming(
      file,
      () => origins,
      () => database.run(sql),
    );
  }
  for (const model of readTableModels())
    await blaming(
      `tables/${model.name}.sql`,
      () => [],
      () => database.run(factsMacroOf(model)),
    );
}

/**
 * The query from a segment's two files ($pages, $records) to the rows of one table, with the hash of each group for publish to
 * compare. Its other parameters are those of `readingOf`. The database must have the table.
 */
export async function shapeQuery(database: Database, spec: TableSpec, shape: string): Promise<string> {
  const hashes = stagedHashes(spec, await listColumns(database, spec.name)).join(', ');
  return `select *, ${hashes} from (${mappingOf(spec, shape).query})`;
}

/**
 * Lets DuckDB parse the mappings of these shapes. That takes about 2 ms each; binding their columns too would take 10 to 100.
 * @throws UsageError naming the file with a mistake of syntax
 */
export async function checkMappings(database: Database, shapes: readonly string[]): Promise<void> {
  for (const shape of new Set(shapes))
    for (const { model, query, origins } of mappingSql(shape))
      await blaming(
        `tables/${model.name}.sql`,
        () => origins,
        () => database.describeSelect(query),
      );
}

/**
 * Runs `work` with a query of `shapeQuery`.
 * @throws UsageError naming the line of the mapping to correct, if DuckDB rejects the query
 */
export function blamingMapping<T>(spec: TableSpec, shape: string, work: () => Promise<T>): Promise<T> {
  return blaming(`tables/${spec.name}.sql`, () => mappingOf(spec, shape).origins, work);
}

function mappingOf(spec: TableSpec, shape: string): MappingSql {
  const mapping = mappingSql(shape).find(({ model }) => model.name === spec.name);
  if (mapping === undefined) throw new Error(`${spec.name} has no records of shape ${shape}`);
  return mapping;
}

/**
 * @param file the file to blame if the line is not known
 * @param origins where each line of the statement comes from
 */
async function blaming<T>(
  file: string,
  origins: () => readonly (Origin | null)[],
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = (error instanceof Error ? error.message : '').replace(/^Failed to [a-z ]+: /, '');
    if (!/^(Parser|Binder|Catalog) Error: /.test(message)) throw error;
    const origin = origins()[Number(/^LINE (\d+): /m.exec(message)?.[1] ?? 0) - 1];
    const at = origin == null ? file : `${origin.file}:${origin.line}`;
    throw new UsageError(
      `sql/${at}: ${message.split('\n')[0]}`,
      'Correct the mapping, then run the same command again: nothing received is lost.',
      { cause: error },
    );
  }
}

/** Most bytes of records that a JSON function gets at once; it holds about five times as much while it works. */
const maxChunkBytes = 2 << 20;

/**
 * Parameters for reading a segment's records: `largest`, the bytes of the reader's buffer, which must hold a whole line (the
 * record and what the log writes around it); `parts`, into how many parts DuckDB's vectors of 2,048 lines are cut.
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
