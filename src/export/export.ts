import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseMemory } from '../config/config-schema.ts';
import { refuseOddPath } from '../data-folder.ts';
import { asDiskError, UsageError } from '../errors.ts';
import { checkVersion } from '../warehouse/build.ts';
import { type Database, openDatabase } from '../warehouse/database.ts';
import { limitBeside, memoryLimits, retryWithMoreMemory } from '../warehouse/memory.ts';
import { describeModel } from '../warehouse/model.ts';
import { requireSnapshot } from '../warehouse/open-snapshot.ts';
import { listOwnViews } from '../warehouse/own-views.ts';
import { readTableSpecs } from '../warehouse/table-spec.ts';
import { type Manifest, nextExportId, readCurrentManifest } from './lake-manifest.ts';
import {
  createDraft,
  nameDraft,
  openLake,
  openTableFolder,
  publishDraft,
  refuseForeignSet,
  removeOldSets,
  sealDraft,
  sealFiles,
} from './lake-set.ts';
import {
  checkPartitionColumns,
  type LakeLayout,
  type LakeTable,
  readLakeTables,
  readTableFacts,
  type TableFacts,
} from './lake-table.ts';
import { verifyFiles, writeFiles } from './write-parquet.ts';

export interface ExportOptions {
  /** Path of `warehouse.duckdb`; opened read-only. */
  snapshot: string;
  /** Folder of the lake, created when missing. */
  lake: string;
  /** Null: every base table of the main schema, and the histories. */
  tables: readonly string[] | null;
  /** By table: columns its files are split by. */
  partitionBy: Readonly<Record<string, readonly string[]>>;
  /** Views of the project, which are exported only if `tables` names them. */
  views?: readonly string[];
  /** Where the config sets these two, for errors; `tables` is null for names on the command line. */
  places: { tables: string | null; partitionBy: string };
  /** Sets kept of each table, at least 1, the current one included. */
  keep: number;
  /** Permission bits of the files; folders are 0750. */
  fileMode: number;
  /** DuckDB's bound, for example `256MB`. */
  memoryLimit: string;
  threads: number;
  /** Where DuckDB spills. */
  tempDir: string;
  /** Compressed size at which a file is full. Default: 128 MB, what Spark and Trino read in one task. */
  fileBytes?: number;
  /** Stops between tables, and interrupts the one being written; former exports stay. */
  signal?: AbortSignal | undefined;
}

/** The result for one table. */
export interface ExportResult {
  table: string;
  exportId: string;
  /** Folder of the set. */
  path: string;
  rows: number;
  /** Size of all its Parquet files. */
  bytes: number;
  files: number;
  /** False: nothing has changed since the current set, which stays. */
  written: boolean;
}

const defaultFileBytes = 128_000_000;

/**
 * Writes tables of the snapshot as Parquet datasets, each `<lake>/<table>/<export id>/` with a manifest, and points
 * `<lake>/<table>/current` at it. A table whose rows and layout are those of its current set is not written again.
 * Tables are published one by one: when one fails, those before it are published and the others keep their former set.
 * The caller holds the run lock, because drafts of other exports are removed as leftovers.
 * @throws UsageError no snapshot, an unknown table or column, an object store @throws DiskError full or unwritable
 * @throws StoppedEarly the signal
 */
export async function exportTables(options: ExportOptions): Promise<ExportResult[]> {
  refuseObjectStore(options.lake);
  await requireSnapshot(options.snapshot);
  const { snapshot, memoryLimit, threads, tempDir, signal } = options;
  const database = await openDatabase(snapshot, {
    memoryLimit: await limitBeside(snapshot, parseMemory(memoryLimit), 0.6),
    ...{ threads, tempDir, readOnly: true, signal },
  });
  try {
    await checkVersion(database);
    const lakeTables = await readLakeTables(database, await namedViews(database, options));
    const tables = chooseTables([...lakeTables.keys()], options);
    await openLake(options.lake);
    const results: ExportResult[] = [];
    for (const table of tables) {
      signal?.throwIfAborted();
      results.push(await exportTable(database, lakeTables.get(table)!, options));
    }
    return results;
  } catch (error) {
    throw asDiskError(error);
  } finally {
    database.close();
  }
}

/**
 * Checks the options before the crawl, so that no night is spent on an export that must fail.
 * @throws UsageError an object store, an unknown table or column
 */
export async function checkExport(
  options: Pick<ExportOptions, 'lake' | 'tables' | 'partitionBy' | 'places' | 'views'>,
): Promise<void> {
  refuseObjectStore(options.lake);
  refuseOddPath(options.lake, 'lake.uri');
  const modelTables = readTableSpecs().flatMap(({ name, history }) =>
    history ? [name, `${name}_history`] : name,
  );
  const views = (options.views ?? []).filter((view) => isNamed(view, options));
  const tables = chooseTables([...modelTables, ...views], options);
  for (const table of tables) await refuseForeignSet(join(options.lake, table));
  const partitions = Object.entries(options.partitionBy);
  if (partitions.length === 0) return;
  const model = await describeModel();
  for (const [table, partitionBy] of partitions) {
    const described = model.find(({ name }) => name === table);
    if (described !== undefined)
      checkPartitionColumns(table, described.columns, { partitionBy, place: options.places.partitionBy });
  }
}

/** Views of the project that the options name. */
async function namedViews(database: Database, options: ExportOptions): Promise<string[]> {
  return (await listOwnViews(database)).filter((view) => isNamed(view, options));
}

function isNamed(view: string, { tables }: Pick<ExportOptions, 'tables'>): boolean {
  return tables?.includes(view) ?? false;
}

function refuseObjectStore(lake: string): void {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(lake)) return;
  throw new UsageError(
    `lake.uri: exporting to ${lake.split('://')[0]}:// is not supported yet`,
    'Name a folder, and copy it to the object store with its own tool (for example: aws s3 sync).',
  );
}

function chooseTables(
  existing: readonly string[],
  { tables, partitionBy, places }: Pick<ExportOptions, 'tables' | 'partitionBy' | 'places'>,
): readonly string[] {
  const named = [...(tables ?? []), ...Object.keys(partitionBy)];
  const unknown = named.find((table) => !existing.includes(table));
  if (unknown !== undefined) {
    const option = tables?.includes(unknown) ? places.tables : places.partitionBy;
    const message = `there is no table "${unknown}"`;
    throw new UsageError(
      option === null ? message : `${option}: ${message}`,
      `The tables are ${existing.join(', ')}.`,
    );
  }
  return tables === null ? existing : [...new Set(tables)];
}

async function exportTable(
  database: Database,
  lakeTable: LakeTable,
  options: ExportOptions,
): Promise<ExportResult> {
  const { lake, keep } = options;
  const { name: table } = lakeTable;
  const layout: LakeLayout = {
    partitionBy: options.partitionBy[table] ?? [],
    fileBytes: options.fileBytes ?? defaultFileBytes,
  };
  const earlier = await openTableFolder(lake, table);
  const readFacts = () => readTableFacts(database, lakeTable, layout);
  const facts =
    lakeTable.rows === 0
      ? await readFacts()
      : await retryWithMoreMemory(database, readFacts, memoryLimits.exportScan);
  checkPartitionColumns(table, facts.columns, {
    partitionBy: layout.partitionBy,
    place: options.places.partitionBy,
  });
  const tableDir = join(lake, table);
  const current = await readCurrentManifest(tableDir);
  if (current?.fingerprint === facts.fingerprint) {
    await removeOldSets(tableDir, earlier, keep);
    return resultOf(lake, current, false);
  }
  const manifest = await writeSet(database, { table, facts, layout, earlier }, options);
  await removeOldSets(tableDir, [...earlier, manifest.export_id], keep);
  return resultOf(lake, manifest, true);
}

interface TableToWrite {
  table: string;
  facts: TableFacts;
  layout: LakeLayout;
  /** Ids of the existing sets. */
  earlier: readonly string[];
}

async function writeSet(database: Database, set: TableToWrite, options: ExportOptions): Promise<Manifest> {
  const { table, facts, layout, earlier } = set;
  const now = new Date();
  const id = nextExportId(now, earlier);
  const draft = nameDraft(options.lake, table, id);
  try {
    const { columns, fingerprint, rows, slot, sums } = facts;
    const partitionsDir = join(options.tempDir, 'partitions');
    await retryWithMoreMemory(database, async () => {
      await createDraft(draft);
      await writeFiles(database, { table, columns, rows, layout, draft, id, partitionsDir });
    });
    const sealed = await sealFiles(draft, options.fileMode);
    const fileRows = await verifyFiles(
      database,
      draft,
      sealed.map(({ path }) => path),
      facts,
    );
    const manifest: Manifest = {
      table,
      export_id: id,
      created_at: now.toISOString(),
      files: sealed.map(({ path, ...file }, n) => ({ path, rows: fileRows[n]!, ...file })),
      rows,
      schema: columns.map(({ name, lakeType: type }) => ({ name, type })),
      slot,
      sums,
      partition_by: [...layout.partitionBy],
      fingerprint,
    };
    await sealDraft(draft, manifest, options.fileMode);
    await publishDraft(options.lake, draft, manifest);
    return manifest;
  } catch (error) {
    // The next export removes what cannot be removed now.
    await rm(draft, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
}

function resultOf(lake: string, manifest: Manifest, written: boolean): ExportResult {
  const { table, export_id: exportId, rows, files } = manifest;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { table, exportId, path: join(lake, table, exportId), rows, bytes, files: files.length, written };
}
