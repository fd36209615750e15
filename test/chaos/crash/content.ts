import { type Database, openDatabase } from '../../../src/warehouse/database.ts';
import { readTableSpecs } from '../../../src/warehouse/table-spec.ts';

/** Columns that say when or in which run something was seen: two runs over a ledger at one slot differ in them. */
export const timed = /^(run_id|seen_at|changed_at|valid_from|valid_to|.*_seen_at)$/;

/** Columns that say at which slot something was seen: two runs over a ledger that moves on differ in them, too. */
const slotted = /^(first_seen_slot|changed_slot|slot|(?!tx_).*_slot)$/;

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
    const specs = readTableSpecs();
    const counts = await database.rows<{ name: string; all: bigint; keys: bigint }>(
      specs
        .map(
          ({ name, key }) => `
            select '${name}' as name, count(*) as all, count(distinct (${key.join(', ')})) as keys from s0.main.${name}`,
        )
        .join(' union all '),
    );
    const rows = Object.fromEntries(counts.map(({ name, all }) => [name, Number(all)]));
    return { rows, twice: counts.flatMap(({ name, all, keys }) => (all === keys ? [] : name)) };
  });
}

interface ComparedTable {
  schema: string;
  table: string;
  columns: string[];
}

/** Tables of the first of two snapshots, in the schemas, that have rows in one of them. Throws when there are none. */
async function listTables(database: Database, schemas: readonly string[]): Promise<ComparedTable[]> {
  const found = await database.rows<{ schema: string; table: string; columns: unknown }>(
    `select schema_name as schema, table_name as table, list(column_name order by column_index) as columns
    from duckdb_columns()
    where database_name = 's0' and list_contains($schemas, schema_name)
      and (schema_name, table_name) in (select (schema_name, table_name) from duckdb_tables() where database_name = 's0')
    group by all order by all`,
    { schemas },
  );
  if (found.length === 0) throw new Error('there are no tables');
  const counts = found.flatMap(({ schema, table }, n) =>
    [0, 1].map((side) => `select ${n} as n from s${side}."${schema}"."${table}" limit 1`),
  );
  const filled = await database.rows<{ n: number }>(
    `select distinct n from (${counts.map((one) => `(${one})`).join(' union all ')})`,
  );
  const withRows = new Set(filled.map(({ n }) => n));
  return found.flatMap((one, n) => (withRows.has(n) ? { ...one, columns: listItems(one.columns) } : []));
}

/**
 * What is different between two snapshots, in every table and column that is not about time: none is [].
 * @param slots whether the slots are those of one ledger that stood still
 * Where rows' hashes differ, it is DuckDB's EXCEPT ALL in both directions that says how.
 */
export function compareContent(one: string, other: string, slots: 'equal' | 'differ'): Promise<string[]> {
  return withSnapshots([one, other], async (database) => {
    const differences: string[] = [];
    for (const of of await listTables(database, ['main'])) {
      const names = of.columns.filter(
        (name) => !timed.test(name) && (slots === 'equal' || !slotted.test(name)),
      );
      if (await haveEqualRows(database, of, names)) continue;
      const { count, sample } = await findDifferences(database, of, names);
      if (count > 0n) differences.push(`${of.table}: ${count} rows are only in one of them: ${sample}`);
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
 * @param except columns (`schema.table.column`) and tables (`schema.table`) that may differ
 */
export function compareEverything(
  one: string,
  other: string,
  except: readonly string[] = [],
): Promise<string[]> {
  return withSnapshots([one, other], async (database) => {
    const differences: string[] = [];
    for (const of of await listTables(database, ['main', 'meta', 'past'])) {
      const { schema, table, columns } = of;
      if (schema === 'meta' && ['runs', 'requests', 'schema_version'].includes(table)) continue;
      if (except.includes(`${schema}.${table}`)) continue;
      const names = columns.filter((name) => !except.includes(`${schema}.${table}.${name}`));
      if (names.length === 0) continue;
      // By column only to say where a difference is.
      if (await haveEqualRows(database, of, names)) continue;
      for (const name of names) {
        const { count } = await findDifferences(database, of, [name]);
        if (count > 0n) differences.push(`${schema}.${table}.${name}: ${count} values differ`);
      }
      if (differences.length === 0) differences.push(`${schema}.${table}: its values stand in other rows`);
    }
    return differences;
  });
}

/**
 * Whether a table has the same rows in two snapshots, each as often: their hashes, of 64 bits, have the same sum. EXCEPT ALL
 * of eighty columns takes four times as long.
 */
async function haveEqualRows(
  database: Database,
  { schema, table }: ComparedTable,
  columns: readonly string[],
): Promise<boolean> {
  const list = columns.map((name) => `"${name}"`).join(', ');
  const sumOf = (n: number) =>
    `select count(*) as rows, sum(hash(r)) as hashes from (select ${list} from s${n}."${schema}"."${table}") as r`;
  const [row] = await database.rows<{ sums: bigint }>(
    `select count(*) as sums from (${sumOf(0)} union ${sumOf(1)})`,
  );
  return row?.sums === 1n;
}

/** How many rows are only in one of two snapshots, and one of them. */
async function findDifferences(
  database: Database,
  { schema, table }: ComparedTable,
  columns: readonly string[],
): Promise<{ count: bigint; sample: string | null }> {
  const list = columns.map((name) => `"${name}"`).join(', ');
  const rowsOf = (n: number) => `select ${list} from s${n}."${schema}"."${table}"`;
  const onlyIn = (n: number) => `select r from (${rowsOf(n)} except all ${rowsOf(1 - n)}) as r`;
  const [row] = await database.rows<{ count: bigint; sample: string | null }>(
    `select count(*) as count, any_value(r)::varchar as sample from (${onlyIn(0)} union all ${onlyIn(1)})`,
  );
  return row!;
}
