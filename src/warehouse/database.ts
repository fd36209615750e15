import { stat } from 'node:fs/promises';
import { isAbsolute, parse } from 'node:path';
import type { DuckDBConnection, DuckDBInstance, DuckDBType, DuckDBValue } from '@duckdb/node-api';
import { parseMemory } from '../config/config-schema.ts';
import { asDiskError } from '../errors.ts';
import { quoteName, quoteText } from '../sql-text.ts';
import { duckdb } from './duckdb.ts';

const { DuckDBTypeId, LIST, listValue, StatementType, VARCHAR } = duckdb;

export interface DatabaseOptions {
  /** DuckDB's memory limit, for example `256MB`; what does not fit is spilled to `tempDir`. */
  memoryLimit: string;
  /** The most threads that statements may use; see `useThreads`. */
  threads: number;
  tempDir: string;
  readOnly?: boolean;
  /** Rows of each row group that is written. Default: DuckDB's own. */
  rowGroupSize?: number;
  /** Stops the running statement and refuses later ones; both throw its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * One more thread is used for each so many bytes. A thread woken for little work spins for a while, looking for more: a night
 * of a few pages takes a sixth less CPU on one thread than on two. Tables without rows take 4 MB.
 */
const bytesPerThread = 8_000_000;

/** Bytes of a block of the database files made here. */
export const blockBytes = 65_536;

export type SqlParams = Record<string, string | number | bigint | boolean | null | readonly string[]>;
export type Row = Record<string, unknown>;

/** A column of a SELECT. */
export interface SelectedColumn {
  name: string;
  isText: boolean;
}

/** Types whose values are strings. */
const textTypes = [DuckDBTypeId.VARCHAR, DuckDBTypeId.ENUM];

/** One connection to one DuckDB database. */
export interface Database {
  /** The current memory limit in bytes; callers size their batches by it. */
  readonly memoryBytes: number;
  /**
   * Runs one statement, or, without parameters, several in order. A parameter that a reader gets, as in
   * `read_parquet($files)`, holds absolute paths, which are taken literally: `[`, `*` and `?` in them are no patterns. So it is
   * in the methods below.
   */
  run(sql: string, params?: SqlParams): Promise<void>;
  /** Runs one statement that changes rows. @returns how many it changed */
  change(sql: string, params?: SqlParams): Promise<number>;
  /** Reads all rows of one statement: BIGINT and wider as bigint, times as Date, NULL as null. */
  rows<T = Row>(sql: string, params?: SqlParams): Promise<T[]>;
  /**
   * Reads a SELECT of one BIGINT column, vector by vector as DuckDB scans it. On one thread (`onOneThread`) a
   * plain scan gives a table's rows in order, and no vector has rows of two row groups.
   */
  vectors(sql: string): AsyncIterable<{ first: bigint; last: bigint; count: number }>;
  /** Runs `work` in a transaction: committed when it resolves, rolled back when it rejects. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Lists the columns of a SELECT without running it; null for what is not exactly one SELECT, or has a parameter.
   * @throws DuckDB's error for SQL that it cannot prepare
   */
  describeSelect(sql: string): Promise<SelectedColumn[] | null>;
  /**
   * Lets statements use as many threads as the size of these files justifies, at most those of the options. A database begins
   * with what its own file justifies: in memory, one.
   */
  useThreads(files: readonly string[]): Promise<void>;
  /** Does `work` on one thread, then restores their number. */
  onOneThread<T>(work: () => Promise<T>): Promise<T>;
  /** Does `work` with another memory limit, then restores the former one. */
  withMemory<T>(limit: string, work: () => Promise<T>): Promise<T>;
  /** Stops the statement that is running. */
  interrupt(): void;
  close(): void;
}

/**
 * Opens a DuckDB database; `:memory:` has no file. Extensions are neither installed nor loaded: nothing here needs
 * one, and a query must not reach the network.
 * @throws DamagedFile; UsageError for a file of a newer DuckDB; DiskError, isLockConflict among them
 */
export async function openDatabase(path: string, options: DatabaseOptions): Promise<Database> {
  const { rowGroupSize } = options;
  const threads = await threadsFor([path], options.threads);
  const instance = await duckdb.DuckDBInstance.create(rowGroupSize === undefined ? path : ':memory:', {
    memory_limit: options.memoryLimit,
    threads: String(threads),
    temp_directory: options.tempDir,
    access_mode: options.readOnly === true ? 'READ_ONLY' : 'AUTOMATIC',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    preserve_insertion_order: 'false',
    // Memory that large statements free is returned to the system immediately: a publish then peaks at 0.4 GB, not 0.6.
    allocator_bulk_deallocation_flush_threshold: '1MB',
    // Every column of a row group begins a block of its own while it is written, of 256 KiB by default. With smaller ones a
    // publish into a new file takes a tenth less CPU time and 40 MB less memory. A file keeps the size it was made with.
    default_block_size: `${blockBytes}`,
  }).catch(rethrow);
  let connection: DuckDBConnection | undefined;
  try {
    connection = await instance.connect();
    await connection.run("set timezone = 'UTC'");
    if (rowGroupSize !== undefined)
      // row_group_size can only be set when attaching; the name is the one that opening the file would have given.
      await connection.run(
        `attach ${quoteText(path)} as ${quoteName(parse(path).name)} (row_group_size ${rowGroupSize});
        use ${quoteName(parse(path).name)}`,
      );
    return wrap(instance, connection, threads, options);
  } catch (error) {
    // Left open, it would keep its lock on the file until the process ends.
    connection?.closeSync();
    instance.closeSync();
    return rethrow(error);
  }
}

/** Whether a database did not open because another process has it open. */
export function isLockConflict(error: unknown): boolean {
  return error instanceof Error && /Could not set lock on file/.test(error.message);
}

/** Whether a statement failed because it names a table that does not exist. */
export function isMissingTable(error: unknown): boolean {
  return error instanceof Error && /^Catalog Error: Table with name .* does not exist/.test(error.message);
}

/** A missing file counts as empty. */
async function threadsFor(files: readonly string[], maxThreads: number): Promise<number> {
  const sizes = await Promise.all(files.map(async (file) => (await stat(file).catch(() => null))?.size ?? 0));
  return Math.min(maxThreads, 1 + Math.floor(sizes.reduce((sum, size) => sum + size, 0) / bytesPerThread));
}

function wrap(
  instance: DuckDBInstance,
  connection: DuckDBConnection,
  initialThreads: number,
  { threads: maxThreads, memoryLimit, signal }: DatabaseOptions,
): Database {
  let [threads, memory] = [initialThreads, memoryLimit];
  const stopInterrupting = interruptOn(signal, connection);
  const attempt = async <T>(statement: () => Promise<T>): Promise<T> => {
    signal?.throwIfAborted();
    try {
      return await statement();
    } catch (error) {
      signal?.throwIfAborted();
      return rethrow(error);
    }
  };
  const run = async (sql: string, params?: SqlParams) => {
    await attempt(() => connection.run(sql, bind(sql, params), types(params)));
  };
  const setThreads = async (count: number) => {
    if (count === threads) return;
    await run(`set threads = ${count}`);
    threads = count;
  };
  const setMemory = async (limit: string) => {
    await run(`set memory_limit = ${quoteText(limit)}`);
    memory = limit;
  };
  return {
    get memoryBytes() {
      return parseMemory(memory);
    },
    run,
    async change(sql, params) {
      const result = await attempt(() => connection.run(sql, bind(sql, params), types(params)));
      return result.rowsChanged;
    },
    async rows<T>(sql: string, params?: SqlParams) {
      const reader = await attempt(() => connection.runAndReadAll(sql, bind(sql, params), types(params)));
      return reader.getRowObjectsJS() as T[];
    },
    async *vectors(sql) {
      const result = await attempt(() => connection.stream(sql));
      for (;;) {
        const chunk = await attempt(() => result.fetchChunk());
        if (chunk === null || chunk.rowCount === 0) return;
        const values = chunk.getColumnVector(0);
        const value = (n: number) => values.getItem(n) as bigint;
        yield { first: value(0), last: value(chunk.rowCount - 1), count: chunk.rowCount };
      }
    },
    async transaction(work) {
      await run('begin');
      try {
        const result = await work();
        await run('commit');
        return result;
      } catch (error) {
        // The failure may have ended the transaction already; its own error is the one that matters.
        await connection.run('rollback').catch(() => undefined);
        throw error;
      }
    },
    describeSelect: (sql) =>
      attempt(async () => {
        const statements = await connection.extractStatements(sql);
        if (statements.count !== 1) return null;
        const statement = await statements.prepare(0);
        try {
          if (statement.statementType !== StatementType.SELECT || statement.parameterCount > 0) return null;
          return Array.from({ length: statement.columnCount }, (_, n) => ({
            name: statement.columnName(n),
            isText: textTypes.includes(statement.columnTypeId(n)),
          }));
        } finally {
          statement.destroySync();
        }
      }),
    async useThreads(files) {
      await setThreads(await threadsFor(files, maxThreads));
    },
    async onOneThread(work) {
      const former = threads;
      await setThreads(1);
      return afterwards(work, () => setThreads(former));
    },
    async withMemory(limit, work) {
      const former = memory;
      await setMemory(limit);
      // `reset memory_limit` changes the setting that is shown, but not the limit that is used.
      return afterwards(work, () => setMemory(former));
    },
    interrupt: () => connection.interrupt(),
    close() {
      stopInterrupting();
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/**
 * Interrupts a connection every 50 ms from the abort on, because DuckDB forgets an interruption that comes between two
 * statements, or while one is prepared.
 * @returns ends that
 */
export function interruptOn(signal: AbortSignal | undefined, connection: DuckDBConnection): () => void {
  let timer: NodeJS.Timeout | undefined;
  const interrupt = () => {
    connection.interrupt();
    timer = setInterval(() => connection.interrupt(), 50);
  };
  signal?.addEventListener('abort', interrupt);
  return () => {
    signal?.removeEventListener('abort', interrupt);
    clearInterval(timer);
  };
}

/** Does `work`, then `restore`. A failure may have ended the database, so an error of `work` is the one that is thrown. */
async function afterwards<T>(work: () => Promise<T>, restore: () => Promise<void>): Promise<T> {
  const result = await work().catch(async (error) => {
    await restore().catch(() => undefined);
    throw error;
  });
  await restore();
  return result;
}

/** The parameter that one of DuckDB's readers gets: it holds paths. A test refuses readers that get anything else. */
const readParam = /\b(?:read_\w+|parquet_\w+|glob)\(\s*\$(\w+)/g;

/**
 * A path as DuckDB's readers must get it: they take `[`, `*` and `?` for patterns. A path with a backslash cannot be a
 * pattern, because DuckDB takes the backslash for a separator: it stays as it is, and DuckDB takes it literally.
 * @throws Error for a relative path: DuckDB gives the files of a relative pattern other names (`./a`), so that what it says
 *   of a file would be looked up in vain
 */
function readerPath(path: string): string {
  if (!isAbsolute(path)) throw new Error(`DuckDB was to read ${path}, which is not an absolute path`);
  return path.includes('\\') ? path : path.replaceAll(/[[*?]/g, '[$&]');
}

function bind(sql: string, params: SqlParams | undefined): Record<string, DuckDBValue> | undefined {
  if (params === undefined) return undefined;
  const paths = new Set([...sql.matchAll(readParam)].map(([, name]) => name));
  const bound = Object.entries(params).map(([name, value]) => {
    const literal = (text: string) => (paths.has(name) ? readerPath(text) : text);
    if (typeof value === 'string') return [name, literal(value)];
    return [name, Array.isArray(value) ? listValue(value.map(literal)) : value];
  });
  return Object.fromEntries(bound) as Record<string, DuckDBValue>;
}

/** Lists hold text. The type is spelled out because an empty list gives none to infer. */
function types(params: SqlParams | undefined): Record<string, DuckDBType> | undefined {
  if (params === undefined) return undefined;
  const lists = Object.entries(params).flatMap(([name, value]) =>
    Array.isArray(value) ? [[name, LIST(VARCHAR)]] : [],
  );
  return Object.fromEntries(lists) as Record<string, DuckDBType>;
}

function rethrow(error: unknown): never {
  throw asDiskError(error);
}

/** Columns of a table of the main schema, in order. */
export async function listColumns(database: Database, table: string): Promise<string[]> {
  // duckdb_columns() would list the columns of every table each time.
  const rows = await database.rows<{ name: string }>(
    `select name from pragma_table_info('main.' || $table) order by cid`,
    { table },
  );
  return rows.map(({ name }) => name);
}
