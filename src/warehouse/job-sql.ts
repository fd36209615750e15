import { LedgerlakeError, UsageError } from '../errors.ts';
import { type Database, type DatabaseOptions, openDatabase, type SelectedColumn } from './database.ts';

/** How long a job's query may take, ms. */
const timeLimitMs = 60_000;

/** Opens the build, or the snapshot, for the queries of job files: read-only, and confined. */
export async function openForJobSql(path: string, options: DatabaseOptions): Promise<Database> {
  const database = await openDatabase(path, { ...options, readOnly: true });
  try {
    await confineToTables(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Takes access to files and the network from an open database, for good. */
export function confineToTables(database: Database): Promise<void> {
  return database.run('set enable_external_access = false; set lock_configuration = true;');
}

/**
 * Runs the query of a job: exactly one SELECT, interrupted after 60 s.
 * @param source the file or field that has the query, for errors
 * @throws UsageError as checkJobSql
 */
export async function runJobSql(
  database: Database,
  source: string,
  sql: string,
): Promise<Record<string, unknown>[]> {
  await checkJobSql(database, source, sql);
  const timer = setTimeout(() => database.interrupt(), timeLimitMs);
  try {
    return await database.rows(sql);
  } catch (error) {
    throw asJobError(source, error);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Checks a job's query without running it: that it is exactly one SELECT, of tables and columns that exist.
 * @param database a confined one; any other lets the query name files
 * @throws UsageError with the source and DuckDB's message
 */
export async function checkJobSql(
  database: Database,
  source: string,
  sql: string,
): Promise<SelectedColumn[]> {
  const columns = await database.describeSelect(sql).catch((error) => {
    throw asJobError(source, error);
  });
  if (columns !== null) return columns;
  throw new UsageError(
    `${source}: expected exactly one SELECT`,
    'Write one query that only reads, without parameters ($1).',
  );
}

function asJobError(source: string, error: unknown): unknown {
  if (error instanceof LedgerlakeError || !(error instanceof Error)) return error;
  const interrupted = error.message.startsWith('INTERRUPT Error');
  const [message] = error.message.replace(/^Failed to extract statements: /, '').split('\n');
  return new UsageError(
    `${source}: ${interrupted ? 'took longer than 60 s' : message}`,
    interrupted
      ? 'Make the query faster: filter earlier, or select fewer columns.'
      : 'Try it with `ledgerlake sql`; `ledgerlake tables` lists the columns.',
    { cause: error },
  );
}
