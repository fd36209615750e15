import { relative } from 'node:path';
import type { Config } from '../config/config.ts';
import { type DataFolder, refuseOwnPath } from '../data-folder.ts';
import { checkExport, exportTables } from '../export/export.ts';
import type { ExportResult } from '../export/export-options.ts';
import { describeCatalog, type LakeCatalog } from '../export/lake-catalog.ts';
import { requireExtensions } from '../export/lake-extensions.ts';
import type { StoreSettings } from '../export/lake-store.ts';
import { withEmptyTables } from '../warehouse/model.ts';
import { readUserSql } from '../warehouse/user-sql.ts';

/** What an export needs of a context. */
export interface LakeSettings {
  config: Config;
  folder: DataFolder;
}

interface Settings extends LakeSettings {
  /** Folder of the jobs; the project's views are beside it. */
  jobsDir: string;
}

/** The folder or object store of the lake. @throws UsageError for a folder among the data folder's own */
async function lakeOf({ config, folder }: LakeSettings): Promise<string> {
  const { uri } = config.lake;
  const isOwn = uri === null || uri.includes('://') || !relative(folder.lake, uri).startsWith('..');
  if (!isOwn) await refuseOwnPath(uri, 'lake.uri', folder);
  return uri ?? folder.lake;
}

/** Checks the config's lake before the first request. @throws UsageError as checkExport */
export async function checkLake({ jobsDir, ...settings }: Settings): Promise<void> {
  const views = (await readUserSql(jobsDir))?.views.map(({ name }) => name) ?? [];
  const { tables, partitionBy, places, changes } = settings.config.lake;
  const place = await placeOf(settings);
  await checkExport({ tables, partitionBy, places, changes, ...place, views });
  if (place.catalog === undefined) return;
  const { extensions } = place.catalog;
  const { extensionDirectory } = settings.config.lake;
  // What is missing is not fetched in a night, so it is said before one.
  await withEmptyTables((database) => requireExtensions(database, extensions, extensionDirectory));
}

/** Where the lake is, whose it is, and how it is reached. @throws UsageError for a place or catalog that cannot be */
export async function placeOf({
  config,
  folder,
}: LakeSettings): Promise<StoreSettings & { catalog?: LakeCatalog }> {
  const lake = await lakeOf({ config, folder });
  const { format, endpoint, forcePathStyle } = config.lake;
  return {
    ...{ lake, endpoint, forcePathStyle, fileMode: config.warehouse.fileMode, tempDir: folder.temp },
    owner: { idFile: folder.lakeId, isInside: lake === folder.lake },
    ...(format === 'parquet'
      ? {}
      : { catalog: describeCatalog({ ...config.lake, format, lake }, process.env) }),
  };
}

interface ExportChoice {
  /** Null: the config's, else all. */
  tables: readonly string[] | null;
  /** Compares every value with the lake's. */
  full?: boolean;
  signal?: AbortSignal;
}

/** Exports as the config says; the caller holds the run lock. */
export async function exportSnapshot(
  settings: LakeSettings,
  { tables, full = false, signal }: ExportChoice,
): Promise<ExportResult[]> {
  const { folder } = settings;
  const { lake, warehouse } = settings.config;
  return exportTables({
    ...(await placeOf(settings)),
    snapshot: folder.snapshot,
    tables: tables ?? lake.tables,
    partitionBy: lake.partitionBy,
    places: tables === null ? lake.places : { ...lake.places, tables: null },
    keep: lake.keep,
    changes: lake.changes,
    extensionDirectory: lake.extensionDirectory,
    full,
    memoryLimit: warehouse.memoryLimit,
    threads: warehouse.threads,
    ...(signal === undefined ? {} : { signal }),
  });
}
