import { relative } from 'node:path';
import type { Config } from '../config/config.ts';
import { type DataFolder, refuseOwnPath } from '../data-folder.ts';
import { checkExport, type ExportResult, exportTables } from '../export/export.ts';
import { readUserSql } from '../warehouse/user-sql.ts';

interface Settings {
  config: Config;
  folder: DataFolder;
  /** Folder of the jobs; the project's views are beside it. */
  jobsDir: string;
}

/** The folder or object store of the lake. @throws UsageError for a folder among the data folder's own */
async function lakeOf({ config, folder }: Omit<Settings, 'jobsDir'>): Promise<string> {
  const { uri } = config.lake;
  const isOwn = uri === null || uri.includes('://') || !relative(folder.lake, uri).startsWith('..');
  if (!isOwn) await refuseOwnPath(uri, 'lake.uri', folder);
  return uri ?? folder.lake;
}

/** Checks the config's lake before the first request. @throws UsageError as checkExport */
export async function checkLake({ jobsDir, ...settings }: Settings): Promise<void> {
  const views = (await readUserSql(jobsDir))?.views.map(({ name }) => name) ?? [];
  return checkExport({ ...settings.config.lake, ...(await placeOf(settings)), views });
}

/** Where the lake is, and whose it is. */
async function placeOf({ config, folder }: Omit<Settings, 'jobsDir'>) {
  const lake = await lakeOf({ config, folder });
  const owner = { idFile: folder.lakeId, isInside: lake === folder.lake };
  return { lake, fileMode: config.warehouse.fileMode, owner };
}

/** Exports as the config says; the caller holds the run lock. @param tables null: the config's, else all */
export async function exportSnapshot(
  settings: Omit<Settings, 'jobsDir'>,
  tables: readonly string[] | null,
  signal?: AbortSignal,
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
    memoryLimit: warehouse.memoryLimit,
    threads: warehouse.threads,
    tempDir: folder.temp,
    ...(signal === undefined ? {} : { signal }),
  });
}
