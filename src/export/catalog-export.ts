import { DiskError, isDiskFull, LakeError, LedgerlakeError } from '../errors.ts';
import { quoteName, quoteText } from '../sql-text.ts';
import { type Database, isMissingTable } from '../warehouse/database.ts';
import { memoryLimits, retryWithMoreMemory } from '../warehouse/memory.ts';
import { describeModel } from '../warehouse/model.ts';
import type { ExportOptions, ExportResult } from './export-options.ts';
import type { LakeCatalog } from './lake-catalog.ts';
import {
  changeColumns,
  changeStatements,
  compareStatements,
  type DeltaTable,
  deleteStatement,
  describeDelta,
  insertStatement,
} from './lake-delta-sql.ts';
import { loadExtensions } from './lake-extensions.ts';
import { makeFolderId, refuseForeignLake } from './lake-owner.ts';
import { type LakeTable, readTableFacts, type TableFacts } from './lake-table.ts';

/** Columns of `ledgerlake_exports`: a row a table that an export changed, in the transaction that changed it. */
const exportColumns = [
  { name: 'run_id', type: 'VARCHAR' },
  { name: 'exported_at', type: 'TIMESTAMPTZ' },
  { name: 'data_folder', type: 'VARCHAR' },
  { name: 'table_name', type: 'VARCHAR' },
  { name: 'row_count', type: 'BIGINT' },
  { name: 'rows_inserted', type: 'BIGINT' },
  { name: 'rows_deleted', type: 'BIGINT' },
  { name: 'sums', type: 'VARCHAR' },
  { name: 'min_slot', type: 'BIGINT' },
  { name: 'max_slot', type: 'BIGINT' },
  { name: 'fingerprint', type: 'VARCHAR' },
  { name: 'lake_version', type: 'BIGINT' },
];

/** The last row of a table in `ledgerlake_exports`. */
interface LastExport {
  table_name: string;
  row_count: bigint;
  fingerprint: string;
  lake_version: bigint;
}

/** What an export is about to do with one table. */
interface TableWork {
  table: LakeTable;
  delta: DeltaTable;
  facts: TableFacts;
  version: bigint;
  /** `none`: its rows are in the lake. `whole`: the lake's table is new. `deep`: another writer may have changed any value. */
  mode: 'none' | 'whole' | 'quick' | 'deep';
}

const attempts = 5;

/** Loads the extensions, and attaches the catalog as `lake`. @throws UsageError, LakeError */
export async function attachLake(
  database: Database,
  catalog: LakeCatalog,
  extensionDirectory: string | null,
): Promise<void> {
  await loadExtensions(database, catalog.extensions, extensionDirectory);
  await inLake(catalog, async () => {
    for (const statement of catalog.attach) await database.run(statement);
  });
}

/**
 * Brings the tables of a catalog to the state of the snapshot, in one transaction: what differs is deleted by key and
 * inserted. So a night applied twice changes nothing, and the next export makes up for a night that was not exported.
 * @param tables to export, of the attached snapshot
 * @throws UsageError another data folder's lake @throws LakeError
 */
export async function exportToCatalog(
  database: Database,
  catalog: LakeCatalog,
  tables: readonly LakeTable[],
  options: ExportOptions,
): Promise<ExportResult[]> {
  await attachLake(database, catalog, options.extensionDirectory ?? null);
  return inLake(catalog, async () => {
    await database.run(`create schema if not exists ${catalog.schema.slice(0, -1)}`);
    for (const statement of catalog.create('ledgerlake_exports', exportColumns, []))
      await database.run(statement);
    const folder = await bindCatalog(database, catalog, options);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await exportOnce(database, catalog, tables, { ...options, folder });
      } catch (error) {
        // Another writer committed in between: its commit stays, and ours is worked out anew.
        if (attempt === attempts || !isConflict(error)) throw error;
      }
    }
  });
}

/** Tables that the catalog has from exports; none before the first. @param database has it attached */
export function listExported(database: Database, catalog: LakeCatalog): Promise<string[]> {
  return inLake(catalog, async () => {
    const rows = await database
      .rows<{ name: string }>(`select distinct table_name as name from ${catalog.schema}ledgerlake_exports`)
      .catch((error) => {
        if (!isMissingTable(error)) throw error;
        return [];
      });
    return rows.map(({ name }) => name).sort();
  });
}

async function bindCatalog(
  database: Database,
  { schema, address }: LakeCatalog,
  { owner }: ExportOptions,
): Promise<string> {
  const own = await makeFolderId(owner);
  const [other] = await database.rows<{ data_folder: string }>(
    `select data_folder from ${schema}ledgerlake_exports where data_folder <> $own limit 1`,
    { own },
  );
  const remedy = `delete the rows of ${schema.slice('lake.'.length).replaceAll('"', '')}ledgerlake_exports`;
  refuseForeignLake(address, { found: other?.data_folder ?? null, own, isInside: false }, remedy);
  return own;
}

async function exportOnce(
  database: Database,
  catalog: LakeCatalog,
  tables: readonly LakeTable[],
  options: ExportOptions & { folder: string },
): Promise<ExportResult[]> {
  const { schema } = catalog;
  const last = await database.rows<LastExport>(
    `select table_name, row_count, fingerprint, lake_version from ${schema}ledgerlake_exports
    qualify row_number() over (partition by table_name order by exported_at desc) = 1`,
  );
  const work: TableWork[] = [];
  for (const table of tables) {
    options.signal?.throwIfAborted();
    const before = last.find(({ table_name: name }) => name === table.name);
    // A table that never had a row is not in the lake.
    if (table.rows > 0 || before !== undefined)
      work.push(await planTable(database, catalog, table, before, options));
  }
  const [run] = await database.rows<{ run_id: string | null }>(
    'select max_by(run_id, started_at) as run_id from meta.runs',
  );
  const runId = run?.run_id ?? '';
  const results: ExportResult[] = [];
  const doAll = async () => {
    for (const statement of catalog.sign(runId)) await database.run(statement);
    for (const table of work)
      results.push(await exportTable(database, catalog, table, { ...options, runId }));
  };
  if (work.some(({ mode }) => mode !== 'none')) await database.transaction(doAll);
  else await doAll();
  return results;
}

/** Makes what is missing of a table, and decides how it is compared. */
async function planTable(
  database: Database,
  catalog: LakeCatalog,
  table: LakeTable,
  before: LastExport | undefined,
  options: ExportOptions,
): Promise<TableWork> {
  const delta = describeDelta(table);
  const partitionBy = options.partitionBy[table.name] ?? [];
  const made = await makeTable(database, catalog, { table: table.name, columns: delta.columns, partitionBy });
  if (options.changes === true && delta.key.length > 0) {
    const columns = [
      ...changeColumns.map((column) => ({ ...column, lakeType: column.type })),
      ...delta.columns,
    ];
    await makeTable(database, catalog, { table: `${table.name}_changes`, columns, partitionBy: [] });
  }
  const layout = { partitionBy: [], fileBytes: 0 };
  const scan = () => readTableFacts(database, table, layout, delta.columns);
  const facts = await retryWithMoreMemory(database, scan, memoryLimits.exportScan);
  const [row] = await database.rows<{ version: bigint }>(catalog.version(table.name));
  const version = row!.version;
  const isOurs = before !== undefined && before.lake_version === version && made === 'none';
  const mode = isOurs && options.full !== true ? 'quick' : made === 'table' ? 'whole' : 'deep';
  const isSame = mode === 'quick' && before?.fingerprint === facts.fingerprint;
  return { table, delta, facts, version, mode: isSame ? 'none' : mode };
}

let described: ReturnType<typeof describeModel> | null = null;

/** Describes the tables, with their comments; once a process. */
function readModel() {
  described ??= describeModel();
  return described;
}

/** Makes a table, or the columns that it lacks. @returns what was made */
async function makeTable(
  database: Database,
  catalog: LakeCatalog,
  {
    table,
    columns,
    partitionBy,
  }: { table: string; columns: DeltaTable['columns']; partitionBy: readonly string[] },
): Promise<'table' | 'columns' | 'none'> {
  const target = `${catalog.schema}${quoteName(table)}`;
  const present = await database
    .rows<{ column_name: string }>(`select column_name from (describe ${target})`)
    .catch((error) => {
      if (!isMissingTable(error)) throw error;
      return null;
    });
  if (present === null) {
    const typed = columns.map(({ name, lakeType: type }) => ({ name, type }));
    const model = (await readModel()).find(({ name }) => name === table);
    const comments =
      model?.columns.filter(({ name }) => columns.some((column) => column.name === name)) ?? [];
    const statements = [
      ...catalog.create(table, typed, partitionBy),
      ...(model === undefined ? [] : catalog.comment(table, { describe: model.describe, columns: comments })),
    ];
    const runAll = async () => {
      for (const statement of statements) await database.run(statement);
    };
    // Each commit of a catalog in a file is synced.
    await (statements.length === 1 ? runAll() : database.transaction(runAll));
    return 'table';
  }
  const missing = columns.filter(({ name }) => !present.some((column) => column.column_name === name));
  for (const { name, lakeType: type } of missing)
    await database.run(`alter table ${target} add column ${quoteName(name)} ${type}`);
  return missing.length > 0 ? 'columns' : 'none';
}

/** Applies what differs, and compares rows and exact sums in the lake with the warehouse. */
async function exportTable(
  database: Database,
  catalog: LakeCatalog,
  { table: { name }, delta, facts, version, mode }: TableWork,
  { folder, runId, changes }: ExportOptions & { folder: string; runId: string },
): Promise<ExportResult> {
  const sides = { source: `main.${quoteName(name)}`, target: `${catalog.schema}${quoteName(name)}` };
  const result = {
    table: name,
    exportId: runId,
    path: `${catalog.schema.slice('lake.'.length).replaceAll('"', '')}${name}`,
  };
  if (mode === 'none') return { ...result, rows: facts.rows, bytes: 0, files: 0, changed: 0, written: false };
  const whole = mode === 'whole';
  const hasKey = delta.key.length > 0;
  if (!whole && hasKey)
    for (const statement of compareStatements(delta, sides, mode === 'deep')) await database.run(statement);
  const [counts] =
    whole || !hasKey
      ? [{ here: facts.rows > 0, there: !whole }]
      : await database.rows<{ here: boolean; there: boolean }>(
          'select coalesce(bool_or(here), false) as here, coalesce(bool_or(there), false) as there from lake_keys',
        );
  const { here, there } = counts!;
  if (changes === true && hasKey) {
    const values = `${facts.slot.max ?? 'null'}::bigint, ${quoteText(runId)}, now()`;
    const into = `${catalog.schema}${quoteName(`${name}_changes`)}`;
    for (const statement of changeStatements(delta, sides, { changes: into, whole, values }))
      await database.run(statement);
  }
  const deleted = there ? await database.change(deleteStatement(delta, sides)) : 0;
  const inserted = here ? await database.change(insertStatement(delta, sides, whole)) : 0;
  await verifyTable(database, sides.target, facts);
  const statements = Number(deleted > 0) + Number(inserted > 0);
  const { slot, sums, rows, fingerprint } = facts;
  await database.run(
    `insert into ${catalog.schema}ledgerlake_exports (${exportColumns.map((column) => column.name).join(', ')})
    values ($runId, now(), $folder, $name, ${rows}, ${inserted}, ${deleted}, $sums,
      ${slot.min ?? 'null'}, ${slot.max ?? 'null'}, $fingerprint, ${catalog.versionAfter(version, statements)})`,
    { runId, folder, name, sums: JSON.stringify(sums), fingerprint },
  );
  const changed = inserted + deleted;
  return { ...result, rows, bytes: 0, files: 0, changed, written: changed > 0 };
}

/** @throws LakeError where rows or sums differ: nothing is committed then */
async function verifyTable(database: Database, target: string, facts: TableFacts): Promise<void> {
  const names = Object.keys(facts.sums);
  const [found] = await database.rows<Record<string, string | bigint>>(
    `select count(*) as rows ${names.map((name, n) => `, coalesce(sum(${quoteName(name)}::hugeint), 0)::varchar as sum_${n}`).join('')}
    from ${target}`,
  );
  const wrong = names.filter((name, n) => found![`sum_${n}`] !== facts.sums[name]);
  if (Number(found!.rows) === facts.rows && wrong.length === 0) return;
  throw new LakeError(
    `${target.replaceAll('"', '')} would have ${found!.rows} rows for ${facts.rows}, and other sums of ${wrong.join(', ') || 'nothing'}`,
    'Nothing was committed. Run `ledgerlake export --full`, which compares every value.',
  );
}

function isConflict(error: unknown): boolean {
  return error instanceof Error && /conflict|CommitFailed|_409|branch main has changed/i.test(error.message);
}

/** Errors of the catalog or the object store become the lake's own, without what they quote of a request. */
async function inLake<T>(catalog: LakeCatalog, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // DuckDB says an I/O error of any kind: of a network it is no matter of this disk.
    const found = (error as Error).constructor === DiskError ? (error as Error).cause : error;
    if (found instanceof LedgerlakeError || !(found instanceof Error) || found.name === 'AbortError')
      throw error;
    if (isDiskFull(found)) throw error;
    const [reason = ''] = found.message.split('\n');
    throw new LakeError(
      `the lake (${catalog.address}) was not exported to: ${reason.replaceAll(/(https?:\/\/[^\s?'"]+)\?[^\s'"]*/g, '$1').slice(0, 300)}`,
      'The tables are published, and the lake is as it was. Run `ledgerlake export` when it is there again; the next run does it, too.',
      { cause: error },
    );
  }
}
