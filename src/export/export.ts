import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseMemory } from '../config/config-schema.ts';
import { refuseOddPath } from '../data-folder.ts';
import { asDiskError, UsageError } from '../errors.ts';
import { makeSharedFolder } from '../file-modes.ts';
import { quoteText } from '../sql-text.ts';
import { checkVersion } from '../warehouse/build.ts';
import { type Database, openDatabase } from '../warehouse/database.ts';
import { limitBeside, memoryLimits, retryWithMoreMemory } from '../warehouse/memory.ts';
import { describeModel } from '../warehouse/model.ts';
import { requireSnapshot } from '../warehouse/open-snapshot.ts';
import { listOwnViews } from '../warehouse/own-views.ts';
import { readTableSpecs } from '../warehouse/table-spec.ts';
import { exportToCatalog } from './catalog-export.ts';
import type { ExportOptions, ExportResult } from './export-options.ts';
import { folderMode, openFolderLake } from './folder-lake.ts';
import { type Manifest, nextExportId, setsOf } from './lake-manifest.ts';
import type { LakeStore, StoreSettings } from './lake-store.ts';
import {
  type LakeLayout,
  type LakeTable,
  readLakeTables,
  readTableFacts,
  type TableFacts,
} from './lake-table.ts';
import { sealFiles, shareFiles } from './parquet-files.ts';
import { checkPartitions, parsePartition, partitionType } from './partitions.ts';
import { openS3Lake } from './s3-lake.ts';
import { verifyFiles, writeFiles } from './write-parquet.ts';

const defaultFileBytes = 128_000_000;

/**
 * Writes tables of the snapshot as Parquet, each a folder that readers open as it is, and a manifest. A table whose rows and
 * layout are those of its current set is not written again, and one without rows is not there. Tables are published one by
 * one: when one fails, those before it are published and the others keep their former set. The caller holds the run lock,
 * because drafts of other exports are removed as leftovers.
 * @throws UsageError no snapshot, an unknown table or column, an object store, another data folder's lake
 * @throws DiskError full or unwritable @throws StoppedEarly the signal
 */
export async function exportTables(options: ExportOptions): Promise<ExportResult[]> {
  const { catalog, signal } = options;
  await requireSnapshot(options.snapshot);
  const database = await openSnapshot(options);
  try {
    await checkVersion(database);
    const views = await namedViews(database, options);
    const lakeTables = await readLakeTables(database, views, catalog?.columnType);
    const tables = chooseTables([...lakeTables.keys()], options);
    if (catalog !== undefined) {
      const chosen = tables.map((table) => lakeTables.get(table)!);
      const isFolder = !options.lake.includes('://') && catalog.extensions.includes('ducklake');
      if (isFolder) makeSharedFolder(options.lake, folderMode);
      const results = await exportToCatalog(database, catalog, chosen, options);
      if (isFolder) await shareFiles(options.lake, options.fileMode);
      return results;
    }
    const store = openStore(options);
    await store.open();
    const results: ExportResult[] = [];
    for (const table of tables) {
      signal?.throwIfAborted();
      const result = await exportTable(database, store, lakeTables.get(table)!, options);
      if (result !== null) results.push(result);
    }
    return results;
  } catch (error) {
    throw asDiskError(error);
  } finally {
    database.close();
  }
}

/** A read-only database refuses to attach one to write to: for a catalog the snapshot is attached itself. */
async function openSnapshot(options: ExportOptions): Promise<Database> {
  const { snapshot, memoryLimit, threads, tempDir, signal, catalog } = options;
  const limit = await limitBeside(snapshot, parseMemory(memoryLimit), 0.6);
  const common = { memoryLimit: limit, threads, tempDir, signal };
  if (catalog === undefined) return openDatabase(snapshot, { ...common, readOnly: true });
  const database = await openDatabase(':memory:', common);
  try {
    await database.run(`attach ${quoteText(snapshot)} as warehouse (read_only); use warehouse`);
    await database.useThreads([snapshot]);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Checks the options before the crawl, so that no night is spent on an export that must fail.
 * @throws UsageError an object store, an unknown table or column
 */
export async function checkExport(
  options: Pick<
    ExportOptions,
    keyof StoreSettings | 'tables' | 'partitionBy' | 'places' | 'views' | 'catalog' | 'changes'
  >,
): Promise<void> {
  if (options.changes === true && options.catalog === undefined)
    throw new UsageError(
      'lake.changes needs `format: iceberg` or `format: ducklake`',
      'Parquet files have no tables that grow. Compare two exports, or ask <table>_history.',
    );
  refuseOddPath(options.lake, 'lake.uri');
  const modelTables = readTableSpecs().flatMap(({ name, history }) =>
    history ? [name, `${name}_history`] : name,
  );
  const views = (options.views ?? []).filter((view) => isNamed(view, options));
  const tables = chooseTables([...modelTables, ...views], options);
  if (options.catalog === undefined) await openStore(options).check(tables);
  const partitions = Object.entries(options.partitionBy);
  if (partitions.length === 0) return;
  const model = await describeModel();
  for (const [table, partitionBy] of partitions) {
    const described = model.find(({ name }) => name === table);
    if (described !== undefined)
      checkPartitions(table, described.columns, { partitionBy, place: options.places.partitionBy });
  }
}

/** @throws UsageError another object store than S3's kind */
export function openStore(settings: StoreSettings): LakeStore {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(settings.lake) ?? [];
  if (scheme === undefined) return openFolderLake(settings);
  if (scheme === 's3') return openS3Lake(settings);
  throw new UsageError(
    `lake.uri: exporting to ${scheme}:// is not supported`,
    'Name a folder or s3://bucket/prefix; other object stores have an interface of S3 (lake.endpoint).',
  );
}

/** Views of the project that the options name. */
async function namedViews(database: Database, options: ExportOptions): Promise<string[]> {
  return (await listOwnViews(database)).filter((view) => isNamed(view, options));
}

function isNamed(view: string, { tables }: Pick<ExportOptions, 'tables'>): boolean {
  return tables?.includes(view) ?? false;
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

/** @returns null for a table that has no rows, and had none */
async function exportTable(
  database: Database,
  store: LakeStore,
  lakeTable: LakeTable,
  options: ExportOptions,
): Promise<ExportResult | null> {
  const { name: table, columns, rows } = lakeTable;
  const partitionBy = options.partitionBy[table] ?? [];
  checkPartitions(table, columns, { partitionBy, place: options.places.partitionBy });
  const layout: LakeLayout = { partitionBy, fileBytes: options.fileBytes ?? defaultFileBytes };
  const earlier = await store.openTable(table);
  const current = await store.readManifest(table);
  if (rows === 0 && (current === null || current.rows === 0)) {
    await store.show(table, null);
    return null;
  }
  const readFacts = () => readTableFacts(database, lakeTable, layout);
  const facts = await (rows === 0
    ? readFacts()
    : retryWithMoreMemory(database, readFacts, memoryLimits.exportScan));
  const written = current?.fingerprint !== facts.fingerprint;
  if (!written) await store.show(table, current.export_id);
  const manifest = written
    ? await writeSet(database, store, { table, facts, layout, earlier }, options)
    : current;
  const sets = [...new Set([...earlier, manifest.export_id])];
  for (const id of sets.slice(0, Math.max(0, sets.length - options.keep)))
    if (id !== manifest.export_id) await store.removeSet(table, id);
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  return {
    ...{ table, exportId: manifest.export_id, path: store.addressOf(table), rows, bytes },
    ...{ files: manifest.files.length, written },
  };
}

interface TableToWrite {
  table: string;
  facts: TableFacts;
  layout: LakeLayout;
  /** Ids of the existing sets. */
  earlier: readonly string[];
}

async function writeSet(
  database: Database,
  store: LakeStore,
  { table, facts, layout, earlier }: TableToWrite,
  { tempDir, fileMode }: ExportOptions,
): Promise<Manifest> {
  const now = new Date();
  const id = nextExportId(now, earlier);
  const { columns, fingerprint, rows, slot, sums } = facts;
  const partitionsDir = join(tempDir, 'partitions');
  let draft = '';
  try {
    await retryWithMoreMemory(database, async () => {
      draft = await store.makeDraft(table, id);
      await writeFiles(database, { table, columns, rows, layout, draft, id, partitionsDir });
    });
    const sealed = await sealFiles(draft, fileMode);
    const paths = sealed.map(({ path }) => path);
    const fileRows = await verifyFiles(database, draft, paths, facts);
    const manifest: Manifest = {
      table,
      export_id: id,
      created_at: now.toISOString(),
      files: sealed.map(({ path, ...file }, n) => ({
        ...{ path: `${setsOf(table)}/${id}/${path}`, rows: fileRows[n]!, ...file },
      })),
      rows,
      schema: schemaOf(facts, layout),
      slot,
      sums,
      partition_by: layout.partitionBy.map((text) => parsePartition(text).name),
      fingerprint,
    };
    await store.publish(draft, manifest);
    return manifest;
  } catch (error) {
    // The next export removes what cannot be removed now.
    if (draft !== '') await rm(draft, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
}

/** The columns as readers find them: those of the files, then those of the folders. */
function schemaOf({ columns }: TableFacts, { partitionBy }: LakeLayout): Manifest['schema'] {
  const inPaths = partitionBy.map(parsePartition).map((partition) => {
    const { type } = columns.find(({ name }) => name === partition.column)!;
    return { name: partition.name, type: partitionType(partition, type) };
  });
  const inFiles = columns.filter(({ name }) => !inPaths.some((partition) => partition.name === name));
  return [...inFiles.map(({ name, lakeType: type }) => ({ name, type })), ...inPaths];
}
