import { stat } from 'node:fs/promises';
import { parse } from 'node:path';
import type { DuckDBConnection, DuckDBInstance, DuckDBType, DuckDBValue } from '@duckdb/node-api';
import { parseMemory } from '../config/config-schema.ts';
import { asDiskError } from '../errors.ts';
import { escapeGlob, quoteName, quoteText } from '../sql-text.ts';
import { duckdb } from './duckdb.ts';

const { DuckDBTypeId, LIST, listValue, StatementType, VARCHAR } = duckdb;

export interface DatabaseOptions {
  /** DuckDB's own bound, for example `256MB`; what does not fit goes to `tempDir`. */
  memoryLimit: string;
  /** At most; see `useThreads`. */
  threads: number;
  tempDir: string;
  readOnly?: boolean;
  /** Rows of the row groups that are written; DuckDB's own default where it is not given. */
  rowGroupSize?: number;
  /** Stops the statement that is running and refuses those that come; its reason is what they throw. */
  signal?: AbortSignal | undefined;
}

/**
 * Bytes of work that are worth a thread more. One that is woken for a statement with little to do looks for more of it for
 * a while: a night of a few pages takes a sixth less CPU on one thread than on two. Tables without rows take 4 MB.
 */
const bytesAThread = 8_000_000;

/** Bytes of a block of files made here. */
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
  /** The memory limit in force: who has much to do at once takes as much of it as that allows. */
  readonly memoryBytes: number;
  /** Runs one statement. */
  run(sql: string, params?: SqlParams): Promise<void>;
  /** Runs one statement that changes rows; returns how many. */
  change(sql: string, params?: SqlParams): Promise<number>;
  /** Runs a file's statements in order. */
  script(sql: string): Promise<void>;
  /** All rows of one statement: BIGINT and wider as bigint, times as Date, NULL as null. */
  rows<T = Row>(sql: string, params?: SqlParams): Promise<T[]>;
  /**
   * What a SELECT of one BIGINT column gives, vector by vector as DuckDB scans it. On one thread (`onOneThread`) a
   * plain scan gives a table's rows in order, and no vector has rows of two row groups.
   */
  vectors(sql: string): AsyncIterable<{ first: bigint; last: bigint; count: number }>;
  /** Runs `work` in a transaction: committed when it resolves, rolled back when it rejects. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
  /**
   * The columns that a SELECT gives, without running it; null for what is not exactly one SELECT, or has a parameter.
   * @throws what DuckDB says of a text it cannot read
   */
  listSelected(sql: string): Promise<SelectedColumn[] | null>;
  /**
   * Lets statements use the threads that these files are worth, at most those of the options. It begins with what its
   * own file is worth: in memory, one.
   */
  useThreads(files: readonly string[]): Promise<void>;
  /** Does `work` on one thread; then there are as many as before. */
  onOneThread<T>(work: () => Promise<T>): Promise<T>;
  /** Does `work` with another memory limit; then the one before holds again. */
  withMemory<T>(limit: string, work: () => Promise<T>): Promise<T>;
  /** Stops the statement that is running. */
  interrupt(): void;
  close(): void;
}

/**
 * Opens a DuckDB database (`:memory:` for none). Extensions are neither installed nor loaded: nothing here needs
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
    // What large statements free goes back to the system at once: a publish then peaks at 0.4 GB instead of 0.6.
    allocator_bulk_deallocation_flush_threshold: '1MB',
    // Every column of a row group begins a block of its own while it is written, 256 KiB where DuckDB has its way. With
    // these a publish into a new file takes a tenth less CPU time and 40 MB less memory. A file keeps what it was made with.
    default_block_size: `${blockBytes}`,
  }).catch(rethrow);
  let connection: DuckDBConnection | undefined;
  try {
    connection = await instance.connect();
    await connection.run("set timezone = 'UTC'");
    if (rowGroupSize !== undefined)
      // It can be said of an attached database only; the name is the one that opening it would have given.
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

/** Whether a statement named a table that there is not. */
export function isMissingTable(error: unknown): boolean {
  return error instanceof Error && /^Catalog Error: Table with name .* does not exist/.test(error.message);
}

/** A missing file counts as empty. */
async function threadsFor(files: readonly string[], most: number): Promise<number> {
  const sizes = await Promise.all(files.map(async (file) => (await stat(file).catch(() => null))?.size ?? 0));
  return Math.min(most, 1 + Math.floor(sizes.reduce((sum, size) => sum + size, 0) / bytesAThread));
}

function wrap(
  instance: DuckDBInstance,
  connection: DuckDBConnection,
  begunWith: number,
  { threads: most, memoryLimit, signal }: DatabaseOptions,
): Database {
  let [threads, memory] = [begunWith, memoryLimit];
  const release = interruptOn(signal, connection);
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
    await attempt(() => connection.run(sql, bind(params), types(params)));
  };
  const setThreads = async (count: number) => {
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
      const result = await attempt(() => connection.run(sql, bind(params), types(params)));
      return result.rowsChanged;
    },
    script: (sql) => run(sql),
    async rows<T>(sql: string, params?: SqlParams) {
      const reader = await attempt(() => connection.runAndReadAll(sql, bind(params), types(params)));
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
    listSelected: (sql) =>
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
      await setThreads(await threadsFor(files, most));
    },
    async onOneThread(work) {
      const former = threads;
      await setThreads(1);
      return afterwards(work, () => setThreads(former));
    },
    async withMemory(limit, work) {
      const former = memory;
      await setMemory(limit);
      // `reset memory_limit` would change what DuckDB says, and not what it does.
      return afterwards(work, () => setMemory(former));
    },
    interrupt: () => connection.interrupt(),
    close() {
      release();
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/**
 * Interrupts what a connection is at from the abort on, again and again: DuckDB forgets an interruption that comes
 * between two statements, or while one is prepared. @returns ends that
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

/** Does `work`, then restores what held before. A failure may have ended the database: its own error is what matters. */
async function afterwards<T>(work: () => Promise<T>, restore: () => Promise<void>): Promise<T> {
  const result = await work().catch(async (error) => {
    await restore().catch(() => undefined);
    throw error;
  });
  await restore();
  return result;
}

/** Parameters that hold paths of files to read, by which DuckDB's readers know them. */
const pathParams = new Set(['files', 'page_files', 'pages', 'records', 'requests']);

function bind(params: SqlParams | undefined): Record<string, DuckDBValue> | undefined {
  if (params === undefined) return undefined;
  const bound = Object.entries(params).map(([name, value]) => {
    const literal = (text: string) => (pathParams.has(name) ? escapeGlob(text) : text);
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
