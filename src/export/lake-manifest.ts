import { lstat, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';

export const manifestName = '_manifest.json';

/** Describes one export of one table: everything that a reader needs to check it. */
export interface Manifest {
  table: string;
  /** Name of the set's folder; sorts by time. */
  export_id: string;
  /** ISO time. */
  created_at: string;
  /** Paths relative to the set's folder; `bytes` and `sha256` are the file's. */
  files: { path: string; rows: number; bytes: number; sha256: string }[];
  rows: number;
  /** Columns of the files, in order, with DuckDB's names for their types. */
  schema: { name: string; type: string }[];
  /** Lowest and highest `slot`; null where no row has one. */
  slot: { min: number | null; max: number | null };
  /** Sum of each u64 column, exact decimal digits. */
  sums: Record<string, string>;
  /** Columns the files are split by, as `<column>=<value>` folders; the files have these columns, too. */
  partition_by: string[];
  /** Equal for two exports exactly when their rows and layout are equal: see lake-table.ts. */
  fingerprint: string;
}

/** Id of the set that `current` points to; null when it is missing or not a link. */
export async function readCurrentId(tableDir: string): Promise<string | null> {
  try {
    return await readlink(join(tableDir, 'current'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EINVAL') return null;
    throw error;
  }
}

/**
 * The set in `current` where that is a folder: tools that follow links when copying (`cp -rL`, most clients of object
 * stores) turn the link into the set, whose manifest has its id.
 * @returns null for a link or nothing; `id` is null for anything but a set
 */
export async function readCopiedSet(tableDir: string): Promise<{ id: string | null } | null> {
  const path = join(tableDir, 'current');
  const entry = await lstat(path).catch(() => null);
  if (entry === null || entry.isSymbolicLink()) return null;
  try {
    const { export_id: id } = JSON.parse(await readFile(join(path, manifestName), 'utf8')) as Manifest;
    return { id: isExportId(id) ? id : null };
  } catch {
    return { id: null };
  }
}

/**
 * The current set's manifest, if every file of the set has its size. Otherwise null, so that a damaged set is written
 * again.
 */
export async function readCurrentManifest(tableDir: string): Promise<Manifest | null> {
  const id = await readCurrentId(tableDir);
  if (id === null) return null;
  try {
    const manifest = JSON.parse(await readFile(join(tableDir, id, manifestName), 'utf8')) as Manifest;
    for (const { path, bytes } of manifest.files) {
      if ((await stat(join(tableDir, id, path))).size !== bytes) return null;
    }
    return manifest;
  } catch {
    return null;
  }
}

/** An id that sorts by time, above every earlier one even when the clock was set back. */
export function nextExportId(now: Date, earlier: readonly string[]): string {
  const last = earlier.map(timeOf).reduce((latest, ms) => Math.max(latest, ms), 0);
  const time = new Date(Math.max(now.getTime(), last + 1)).toISOString();
  return time.replace(/[-:.]/g, '');
}

const idForm = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/;

/** Whether a folder's name is from nextExportId; everything else in a table's folder is not ours. */
export function isExportId(name: string): boolean {
  return idForm.test(name);
}

function timeOf(id: string): number {
  const [, year, month, day, hour, minute, second, ms] = idForm.exec(id) ?? [];
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
  return Number.isNaN(time) ? 0 : time;
}
