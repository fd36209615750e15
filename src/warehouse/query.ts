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
  /** DuckDB's memory limit, for example `256MB`. */
  memoryLimit: string;
  threads: number;
  /** Stops the running statement and refuses later ones. */
  signal: AbortSignal;
  /** The one file that may be written, by `copyToParquet`. */
  outputPath?: string;
}

export interface QueryResult {
  /** The columns, with equal names made different. Empty for a statement without rows. */
  columns: { name: string; type: DuckDBType }[];
  /** Reads the rows, about 2,048 at a time. @throws Error if not all of them could be read */
  rows(): AsyncGenerator<DuckDBValue[][]>;
}

/** A snapshot opened for a user's SQL, which can read it and reach nothing else. */
export interface QuerySession {
  /** Runs every statement of the text. @returns the result of the last one @throws UsageError with DuckDB's message */
  run(sql: string): Promise<QueryResult>;
  /**
   * Writes one query's rows to the outputPath, with the lake's types (u64 and HUGEINT as decimals).
   * @returns rows written @throws UsageError with DuckDB's message
   */
  copyToParquet(sql: string): Promise<number>;
  /** Stops the running statement, if there is one. */
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
    // A reader of the snapshot may not be able to write to the data folder. DuckDB makes this folder only when it spills.
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
  const stopInterrupting = interruptOn(options.signal, connection);
  return {
    run: (sql) => runAll(connection, sql).catch(refuse),
    copyToParquet: (sql) => copyToParquet(connection, sql, options.outputPath!).catch(refuse),
    interrupt: () => connection.interrupt(),
    close() {
      stopInterrupting();
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

/** @returns false for what cannot be a view (SHOW, SET, …) or is wrong: run without one, it has its result or its own error */
function createView(connection: DuckDBConnection, sql: string): Promise<boolean> {
  return connection.run(`create or replace temp view ${viewName} as ${sql}`).then(
    () => true,
    () => false,
  );
}

/**
 * Reads the rows of the view through a temporary table, which may spill to disk. The query itself is not streamed, because with
 * @duckdb/node-api 1.5.5 an error or interruption in the middle ends a stream as its last row does, so half an answer would look
 * whole. The table's rows are counted first, and again as they are read.
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
    // The binding's message for a text without a statement.
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
  // A view, because the text may end in a semicolon or a comment, after which a parenthesis could not be closed.
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

/** Hints for errors of DuckDB, by the words that they begin with. */
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

/** Turns an error of a user's query into a UsageError with a hint; disk errors and our own are returned as they are. */
export function asQueryError(error: unknown): unknown {
  const diskError = asDiskError(error);
  if (diskError instanceof LedgerlakeError || !(diskError instanceof Error)) return diskError;
  const message = diskError.message.replace(/^Failed to extract statements: /, '').trim();
  const hint = hints.find(([pattern]) => pattern.test(message))?.[1];
  return new UsageError(message, hint ?? '`ledgerlake tables` lists tables and columns.', {
    cause: error,
  });
}
