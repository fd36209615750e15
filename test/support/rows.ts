import { DuckDBInstance } from '@duckdb/node-api';

/** Rows as sorted JSON without the members that are null, by table. */
export type TableRows = Record<string, string[]>;

/** Columns that say when something came, not what it says; run ids and times differ in every installation. */
const momentary =
  /^(run_id|seen_at|changed_at|\w+_seen_at|valid_from|valid_to|found_at|first_seen_at|last_seen_at)$/;

/** Rows of a database file, or with `:memory:` of the files that the statement names. */
export function readRows<T>(path: string, sql: string): Promise<T[]> {
  return withReader(path, (read) => read<T>(sql));
}

type Reader = <T>(sql: string) => Promise<T[]>;

/** Opens a database file once for several statements: opening one takes longer than most of them. */
async function withReader<T>(path: string, work: (read: Reader) => Promise<T>): Promise<T> {
  const access = path === ':memory:' ? 'AUTOMATIC' : 'READ_ONLY';
  const instance = await DuckDBInstance.create(path, { access_mode: access, threads: '1' });
  const connection = await instance.connect();
  try {
    await connection.run("set timezone = 'UTC'");
    return await work(
      async <T>(sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson() as T[],
    );
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/**
 * Every table and history of a snapshot that has rows, without the columns that differ between installations.
 * @param besides columns that are left out, too
 */
export function readAllTables(snapshot: string, besides: RegExp = /^$/): Promise<TableRows> {
  return withReader(snapshot, async (read) => {
    const names = await read<{ name: string }>(
      `select table_name as name from information_schema.tables
      where table_schema = 'main' and (table_type = 'BASE TABLE' or table_name like '%\\_history' escape '\\')
      order by 1`,
    );
    const tables: TableRows = {};
    for (const { name } of names) {
      const rows = await read<Record<string, unknown>>(`from ${name}`);
      if (rows.length === 0) continue;
      const isKept = ([column, value]: [string, unknown]) =>
        value !== null && !momentary.test(column) && !besides.test(column);
      const kept = (row: Record<string, unknown>) => Object.fromEntries(Object.entries(row).filter(isKept));
      tables[name] = rows.map((row) => JSON.stringify(kept(row))).sort();
    }
    return tables;
  });
}

/** Rows that one of two has and the other has not, in words, the first 20; equal tables have none. */
export function compareTables(expected: TableRows, actual: TableRows): string[] {
  const found: string[] = [];
  for (const table of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const own = new Set(actual[table]);
    const other = new Set(expected[table]);
    for (const row of other) if (!own.has(row)) found.push(`${table} lacks ${row}`);
    for (const row of own) if (!other.has(row)) found.push(`${table} has besides ${row}`);
    const [count, wanted] = [actual[table]?.length ?? 0, expected[table]?.length ?? 0];
    if (count !== wanted) found.push(`${table} has ${count} rows, not ${wanted}`);
  }
  const shown = found.map((one) => (one.length > 400 ? `${one.slice(0, 400)}…` : one));
  return shown.length > 20 ? [...shown.slice(0, 20), `… ${found.length} differences`] : shown;
}
