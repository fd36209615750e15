/** Describes one export of one table: everything that a reader needs to check it. */
export interface Manifest {
  table: string;
  /** Name of the set's folder; sorts by time. */
  export_id: string;
  /** ISO time. */
  created_at: string;
  /** Paths relative to the lake; `bytes` and `sha256` are the file's. */
  files: { path: string; rows: number; bytes: number; sha256: string }[];
  rows: number;
  /** Columns as readers see them, in order, with DuckDB's names for their types: those of the files, then those of folders. */
  schema: { name: string; type: string }[];
  /** Lowest and highest `slot`; null where no row has one. */
  slot: { min: number | null; max: number | null };
  /** Sum of each u64 column, exact decimal digits. */
  sums: Record<string, string>;
  /** Columns in the names of folders, `<column>=<value>`; the files do not have them. */
  partition_by: string[];
  /** Equal for two exports exactly when their rows and layout are equal: see lake-table.ts. */
  fingerprint: string;
}

/** Where the sets of a table are, relative to the lake: in a dot-named folder, which no glob over a table finds. */
export function setsOf(table: string): string {
  return `.sets/${table}`;
}

/** The manifest of a table, relative to the lake. */
export function manifestOf(table: string): string {
  return `_manifests/${table}.json`;
}

/** An id that sorts by time, above every earlier one even when the clock was set back. */
export function nextExportId(now: Date, earlier: readonly string[]): string {
  const last = earlier.map(timeOf).reduce((latest, ms) => Math.max(latest, ms), 0);
  const time = new Date(Math.max(now.getTime(), last + 1)).toISOString();
  return time.replace(/[-:.]/g, '');
}

const idForm = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/;

/** Whether a folder's name is from nextExportId; everything else is not ours. */
export function isExportId(name: string): boolean {
  return idForm.test(name);
}

function timeOf(id: string): number {
  const [, year, month, day, hour, minute, second, ms] = idForm.exec(id) ?? [];
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
  return Number.isNaN(time) ? 0 : time;
}
