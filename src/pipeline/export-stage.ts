import type { Config } from '../config.ts';
import type { DataFolder } from '../data-folder.ts';
import { checkExport, type ExportResult, exportTables } from '../warehouse/export.ts';

/** What is exported, and how. */
interface Settings {
  config: Config;
  folder: DataFolder;
}

/** Looks at what the config says of the lake, before anything is asked. @throws UsageError as checkExport */
export function checkLake({ config: { lake }, folder }: Settings): Promise<void> {
  return checkExport({ lake: lake.uri ?? folder.lake, ...lake });
}

/** Exports as the config says; the caller holds the run lock. @param tables null: those of the config, else all */
export function exportSnapshot(
  { config, folder }: Settings,
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
