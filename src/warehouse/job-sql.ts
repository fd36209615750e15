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

/** Takes the files and the network from an open database, which cannot get them back. */
export function confineToTables(database: Database): Promise<void> {
  return database.run('set enable_external_access = false; set lock_configuration = true;');
}

/**
 * Runs the query of a job: exactly one SELECT, interrupted after 60 s.
 * @param place where it stands, for errors
 * @throws UsageError as checkJobSql
 */
export async function runJobSql(
  database: Database,
  place: string,
  sql: string,
): Promise<Record<string, unknown>[]> {
  await checkJobSql(database, place, sql);
  const timer = setTimeout(() => database.interrupt(), timeLimitMs);
  try {
    return await database.rows(sql);
  } catch (error) {
    throw asJobError(place, error);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Looks at the query of a job without running it: that it is exactly one SELECT, of tables and columns that there are.
 * @param database confined, or the query's files are looked at too
 * @throws UsageError naming the place, with DuckDB's own words
 */
export async function checkJobSql(database: Database, place: string, sql: string): Promise<SelectedColumn[]> {
  const columns = await database.describeSelect(sql).catch((error) => {
    throw asJobError(place, error);
  });
  if (columns !== null) return columns;
  throw new UsageError(
    `${place}: expected exactly one SELECT`,
    'Write one query that only reads, without parameters ($1).',
  );
}

function asJobError(place: string, error: unknown): unknown {
  if (error instanceof LedgerlakeError || !(error instanceof Error)) return error;
  const interrupted = error.message.startsWith('INTERRUPT Error');
  const [said] = error.message.replace(/^Failed to extract statements: /, '').split('\n');
  return new UsageError(
    `${place}: ${interrupted ? 'took longer than 60 s' : said}`,
    interrupted
      ? 'Make the query faster: filter earlier, or select fewer columns.'
      : 'Try it with `ledgerlake sql`; `ledgerlake tables` lists the columns.',
    { cause: error },
  );
}
