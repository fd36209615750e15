import type { LakeCatalog } from './lake-catalog.ts';
import type { StoreSettings } from './lake-store.ts';

/** What is exported, from where, and to which lake. */
export interface ExportOptions extends StoreSettings {
  /** Path of `warehouse.duckdb`; opened read-only. */
  snapshot: string;
  /** Null: every base table of the main schema, and the histories. */
  tables: readonly string[] | null;
  /** Tables of a catalog instead of files. */
  catalog?: LakeCatalog | undefined;
  extensionDirectory?: string | null;
  /** Of a catalog: tables of what each export changed, too. */
  changes?: boolean;
  /** Of a catalog: compares every value, whatever former exports say. */
  full?: boolean;
  /** By table: what its files are split by, as partitions.ts reads it. */
  partitionBy: Readonly<Record<string, readonly string[]>>;
  /** Views of the project, which are exported only if `tables` names them. */
  views?: readonly string[];
  /** Where the config sets these two, for errors; `tables` is null for names on the command line. */
  places: { tables: string | null; partitionBy: string };
  /** Sets kept of each table, at least 1, the current one included. */
  keep: number;
  /** DuckDB's bound, for example `256MB`. */
  memoryLimit: string;
  threads: number;
  /** Compressed size at which a file is full. Default: 128 MB, what Spark and Trino read in one task. */
  fileBytes?: number;
}

/** The result for one table. */
export interface ExportResult {
  table: string;
  exportId: string;
  /** What readers open. */
  path: string;
  rows: number;
  /** Size of all its Parquet files. */
  bytes: number;
  files: number;
  /** Of a catalog: rows inserted and deleted. */
  changed?: number;
  /** False: nothing has changed since the current set, which stays. */
  written: boolean;
}
