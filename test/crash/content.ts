import { type Database, openDatabase } from '../../src/warehouse/database.ts';
import { readTableSpecs } from '../../src/warehouse/table-spec.ts';

/** Columns that say when or in which run something was seen: two runs over equal content differ in them. */
export const timed =
  /^(run_id|seen_at|first_seen_slot|changed_slot|changed_at|slot|valid_from|valid_to|.*_seen_at|(?!tx_).*_slot)$/;

async function withSnapshots<T>(
  paths: readonly string[],
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(':memory:', { memoryLimit: '512MB', threads: 2, tempDir: '' });
  try {
    for (const [n, path] of paths.entries()) await database.run(`attach '${path}' as s${n} (read_only)`);
    return await work(database);
  } finally {
    database.close();
  }
}

/** Rows by table of a snapshot, and the rows that its keys stand for twice. Throws when it does not open. */
export function readCounts(snapshot: string): Promise<{ rows: Record<string, number>; twice: string[] }> {
  return withSnapshots([snapshot], async (database) => {
    const rows: Record<string, number> = {};
    const twice: string[] = [];
    for (const { name, key } of readTableSpecs()) {
      const [count] = await database.rows<{ all: bigint; keys: bigint }>(
        `select count(*) as all, count(distinct (${key.join(', ')})) as keys from s0.main.${name}`,
      );
      rows[name] = Number(count!.all);
      if (count!.all !== count!.keys) twice.push(name);
    }
    return { rows, twice };
  });
}

/**
 * What is different between two snapshots, in every table and column that is not about time: none is [].
 * The comparison is DuckDB's EXCEPT ALL in both directions.
 */
export function compareContent(one: string, other: string): Promise<string[]> {
  return withSnapshots([one, other], async (database) => {
    const differences: string[] = [];
    const tables = await database.rows<{ table: string; columns: { items: string[] } }>(`
      select table_name as "table", list(column_name order by column_index) as columns
      from duckdb_columns() where database_name = 's0' and schema_name = 'main' and not internal
        and table_name in (select table_name from duckdb_tables() where database_name = 's0')
      group by table_name order by table_name`);
    if (tables.length === 0) differences.push('there are no tables');
    for (const { table, columns } of tables) {
      const names = [...listItems(columns)].filter((name) => !timed.test(name)).map((name) => `"${name}"`);
      const rowsOf = (n: number) => `select ${names.join(', ')} from s${n}.main."${table}"`;
      for (const [from, without] of [
        [0, 1],
        [1, 0],
      ] as const) {
        const [row] = await database.rows<{ n: bigint; sample: string | null }>(
          `select count(*) as n, any_value(r)::varchar as sample
          from (${rowsOf(from)} except all ${rowsOf(without)}) as r`,
        );
        if (row!.n > 0n) differences.push(`${table}: ${row!.n} rows only in s${from}: ${row!.sample}`);
      }
    }
    return differences;
  });
}

/** Checkpoints of a snapshot without what depends on time; the feed's are left out, see readCoverage. */
export function readCheckpoints(snapshot: string): Promise<Record<string, unknown>[]> {
  return withSnapshots([snapshot], (database) =>
    database.rows(`
      select job, target, kind, state, pages::varchar as pages, records::varchar as records,
        quarantined::varchar as quarantined, reason
      from s0.meta.checkpoints where kind <> 'feed' order by all`),
  );
}

/** Intervals of the feeds: `{job, state, low}`; a covered one that begins at slot 0 is the whole feed. */
export function readCoverage(snapshot: string): Promise<Record<string, unknown>[]> {
  return withSnapshots([snapshot], (database) =>
    database.rows(`select job, state, low_slot::varchar as low from s0.meta.coverage order by all`),
  );
}

function listItems(list: unknown): string[] {
  return Array.isArray(list) ? (list as string[]) : (list as { items: string[] }).items;
}

/**
 * What is different between two snapshots in every column of every table, checkpoints, coverage, segments, quarantine
 * and source among them; only the list of runs is left out. None is [].
 * @param except columns that may differ, `schema.table.column`
 */
export function compareEverything(
  one: string,
  other: string,
  except: readonly string[] = [],
): Promise<string[]> {
  return withSnapshots([one, other], async (database) => {
    const tables = await database.rows<{ schema: string; table: string; columns: unknown }>(`
      select schema_name as schema, table_name as table, list(column_name order by column_index) as columns
      from duckdb_columns()
      where database_name = 's0' and not internal
        and (schema_name, table_name) in (select (schema_name, table_name) from duckdb_tables() where database_name = 's0')
        and not (schema_name = 'meta' and table_name in ('runs', 'requests', 'schema_version'))
      group by all order by all`);
    const differences = tables.length > 5 ? [] : ['there are no tables'];
    for (const { schema, table, columns } of tables) {
      const names = listItems(columns).filter((name) => !except.includes(`${schema}.${table}.${name}`));
      if (names.length === 0) continue;
      // The whole row first; by column only to say where a difference is.
      if ((await countDifferences(database, schema, table, names)) === 0n) continue;
      for (const name of names) {
        const count = await countDifferences(database, schema, table, [name]);
        if (count > 0n) differences.push(`${schema}.${table}.${name}: ${count} values differ`);
      }
      if (differences.length === 0) differences.push(`${schema}.${table}: its values stand in other rows`);
    }
    return differences;
  });
}

async function countDifferences(
  database: Database,
  schema: string,
  table: string,
  columns: readonly string[],
) {
  const list = columns.map((name) => `"${name}"`).join(', ');
  const rowsOf = (n: number) => `select ${list} from s${n}."${schema}"."${table}"`;
  const [row] = await database.rows<{ n: bigint }>(
    `select (select count(*) from (${rowsOf(0)} except all ${rowsOf(1)}))
      + (select count(*) from (${rowsOf(1)} except all ${rowsOf(0)})) as n`,
  );
  return row!.n;
}
