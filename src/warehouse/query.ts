import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBResult, DuckDBType, DuckDBValue } from '@duckdb/node-api';
import { asDiskError, LedgerlakeError, UsageError } from '../errors.ts';
import { quoteName, quoteText } from '../sql-text.ts';
import { interruptOn } from './database.ts';
import { duckdb } from './duckdb.ts';
import { lakeType } from './lake-type.ts';
import { requireSnapshot } from './open-snapshot.ts';

export interface QueryOptions {
  /** DuckDB's bound, for example `256MB`. */
  memoryLimit: string;
  threads: number;
  /** Stops the statements that are running and those that come. */
  signal: AbortSignal;
  /** The one file a query may write: where copyToParquet goes. */
  outputPath?: string;
}

export interface QueryResult {
  /** Names made different where several were the same. Empty for a statement that has no rows to give. */
  columns: { name: string; type: DuckDBType }[];
  /** The rows, about 2,048 at a time. @throws Error when not all of them could be read */
  rows(): AsyncGenerator<DuckDBValue[][]>;
}

/** A snapshot opened for somebody's own SQL: it can be read, and nothing else can be reached. */
export interface QuerySession {
  /** Runs every statement of the text and returns the last one's result. @throws UsageError with what DuckDB says */
  run(sql: string): Promise<QueryResult>;
  /**
   * Writes one query's rows to the outputPath, with the lake's types (u64 and HUGEINT as decimals).
   * @returns rows written @throws UsageError with what DuckDB says
   */
  copyToParquet(sql: string): Promise<number>;
  /** Ends the statement that is running, if one is. */
  interrupt(): void;
  close(): void;
}

/**
 * Opens a snapshot read-only, without access to files or the network, its settings locked.
 * @throws UsageError when there is no snapshot
 */
export async function openQuerySession(path: string, options: QueryOptions): Promise<QuerySession> {
  await requireSnapshot(path);
  const instance = await duckdb.DuckDBInstance.create(path, {
    access_mode: 'READ_ONLY',
    memory_limit: options.memoryLimit,
    threads: String(options.threads),
    // Who may read the snapshot need not be able to write the data folder. Made only when something spills.
    temp_directory: join(tmpdir(), `ledgerlake-sql-${randomBytes(8).toString('hex')}`),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  }).catch(refuse);
  const connection = await instance.connect();
  await connection.run("set timezone = 'UTC'");
  if (options.outputPath !== undefined) {
    await connection.run(`set allowed_paths = [${quoteText(options.outputPath)}]`);
  }
  await connection.run('set enable_external_access = false');
  await connection.run('set lock_configuration = true');
  const release = interruptOn(options.signal, connection);
  return {
    run: (sql) => runAll(connection, sql).catch(refuse),
    copyToParquet: (sql) => copyToParquet(connection, sql, options.outputPath!).catch(refuse),
    interrupt: () => connection.interrupt(),
    close() {
      release();
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function runAll(connection: DuckDBConnection, sql: string): Promise<QueryResult> {
  const statements = await extractStatements(connection, sql);
  if (statements.count === 1 && (await createView(connection, sql))) return readView(connection);
  for (let n = 0; n < statements.count - 1; n += 1) await (await statements.prepare(n)).run();
  return describeResult(await (await statements.prepare(statements.count - 1)).run());
}

/** False for what cannot be a view (SHOW, SET, …) or is wrong: run as it is, it gives its result or its own error. */
function createView(connection: DuckDBConnection, sql: string): Promise<boolean> {
  return connection.run(`create or replace temp view ${viewName} as ${sql}`).then(
    () => true,
    () => false,
  );
}

/**
 * The rows of the view, through a temporary table that may spill to disk. DuckDB's streaming results are not used
 * on the query itself: with @duckdb/node-api 1.5.5 an error or an interruption in the middle ends them like their
 * last row would, so half an answer would look whole. A table's rows are counted before, and again as they are read.
 */
async function readView(connection: DuckDBConnection): Promise<QueryResult> {
  await connection.run(`create or replace temp table ${resultName} as from ${viewName}`);
  const counted = await connection.runAndReadAll(`select count(*) from ${resultName}`);
  const expected = Number(counted.getRows()[0]![0]);
  const result = describeResult(await connection.stream(`from ${resultName}`));
  return {
    columns: result.columns,
    async *rows() {
      let count = 0;
      for await (const rows of result.rows()) {
        count += rows.length;
        yield rows;
      }
      if (count !== expected) throw new Error(`only ${count} of ${expected} rows could be read`);
    },
  };
}

function describeResult(result: DuckDBResult): QueryResult {
  const hasRows = result.returnType === duckdb.ResultReturnType.QUERY_RESULT;
  const names = hasRows ? result.deduplicatedColumnNames() : [];
  return {
    columns: names.map((name, n) => ({ name, type: result.columnType(n) })),
    async *rows() {
      if (hasRows) yield* result.yieldRows();
    },
  };
}

async function extractStatements(connection: DuckDBConnection, sql: string) {
  try {
    return await connection.extractStatements(sql);
  } catch (error) {
    // What the binding says of a text without any statement.
    if (!(error instanceof Error) || error.message !== 'Error in native callback') throw error;
    throw new UsageError('the query is empty', 'Try: ledgerlake sql "select count(*) from assets"');
  }
}

const viewName = 'ledgerlake_query';
const resultName = 'ledgerlake_result';

async function copyToParquet(connection: DuckDBConnection, sql: string, path: string): Promise<number> {
  const { count } = await extractStatements(connection, sql);
  if (count !== 1) {
    throw new UsageError(
      `a Parquet file takes one query, not ${count} statements`,
      'Make it one SELECT; `with … as (…)` names its steps.',
    );
  }
  // A view, because the text may end in a semicolon or a comment, which no parenthesis could follow.
  await connection.run(`create temp view ${viewName} as ${sql}`);
  const described = await connection.runAndReadAll(`describe ${viewName}`);
  const columns = described.getRowObjectsJS() as { column_name: string; column_type: string }[];
  const list = columns.map(({ column_name, column_type }) => {
    const name = quoteName(column_name);
    const type = lakeType(column_type);
    return type === column_type ? name : `cast(${name} as ${type}) as ${name}`;
  });
  const result = await connection.run(
    `copy (select ${list.join(', ')} from ${viewName})
    to ${quoteText(path)} (format parquet, compression zstd, use_tmp_file false)`,
  );
  return result.rowsChanged;
}

/** What to do about an error of DuckDB, by the words it begins with. */
const hints: readonly [RegExp, string][] = [
  [/^Catalog Error/, '`ledgerlake tables` lists the tables.'],
  [/^Binder Error/, '`ledgerlake tables <table>` lists the columns of a table.'],
  [/^Parser Error/, 'DuckDB SQL is described at https://duckdb.org/docs/stable/sql/introduction.'],
  [
    /^(Permission|Invalid Input) Error.*(read-only|read only)/i,
    'Queries only read; copy the file to change it.',
  ],
  [
    /^Permission Error|external access|configuration has been locked/i,
    'Queries see the snapshot only: no other files, no network, no settings. For those, open a copy with duckdb.',
  ],
  [
    /^Out of Memory Error/,
    'Raise warehouse.memory_limit in the config, or ask for fewer rows or columns at a time.',
  ],
  [/lock on file/i, 'Somebody has the snapshot open for writing; open it read-only (duckdb -readonly).'],
  [/^Conversion Error/, 'try_cast gives NULL where a value does not fit.'],
];

function refuse(error: unknown): never {
  throw asQueryError(error);
}

/** An error of somebody's query as UsageError with a hint; errors of the disk and our own stay what they are. */
export function asQueryError(error: unknown): unknown {
  const known = asDiskError(error);
  if (known instanceof LedgerlakeError || !(known instanceof Error)) return known;
  const message = known.message.replace(/^Failed to extract statements: /, '').trim();
  const hint = hints.find(([pattern]) => pattern.test(message))?.[1];
  return new UsageError(message, hint ?? '`ledgerlake tables` lists tables and columns.', {
    cause: error,
  });
}
