import type { Config } from '../config/config.ts';
import type { DataFolder } from '../data-folder.ts';
import { checkExport, type ExportResult, exportTables } from '../export/export.ts';
import { readUserSql } from '../warehouse/user-sql.ts';

interface Settings {
  config: Config;
  folder: DataFolder;
  /** Folder of the jobs; the project's views are beside it. */
  jobsDir: string;
}

/** Checks the config's lake before the first request. @throws UsageError as checkExport */
export async function checkLake({ config: { lake }, folder, jobsDir }: Settings): Promise<void> {
  const views = (await readUserSql(jobsDir))?.views.map(({ name }) => name) ?? [];
  return checkExport({ lake: lake.uri ?? folder.lake, ...lake, views });
}

/** Exports as the config says; the caller holds the run lock. @param tables null: the config's, else all */
export function exportSnapshot(
  { config, folder }: Omit<Settings, 'jobsDir'>,
  tables: readonly string[] | null,
  signal?: AbortSignal,
): Promise<ExportResult[]> {
  const { lake, warehouse } = config;
  return exportTables({
    snapshot: folder.snapshot,
    lake: lake.uri ?? folder.lake,
    tables: tables ?? lake.tables,
    partitionBy: lake.partitionBy,
    places: tables === null ? lake.places : { ...lake.places, tables: null },
    keep: lake.keep,
    fileMode: warehouse.fileMode,
    memoryLimit: warehouse.memoryLimit,
    threads: warehouse.threads,
    tempDir: folder.temp,
    ...(signal === undefined ? {} : { signal }),
  });
}
