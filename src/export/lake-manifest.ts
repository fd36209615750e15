import { lstat, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';

export const manifestName = '_manifest.json';

/** What one export of one table is: everything a reader needs to check it without asking anybody. */
export interface Manifest {
  table: string;
  /** Name of the set's folder; sorts by time. */
  export_id: string;
  /** ISO time. */
  created_at: string;
  /** Paths relative to the set's folder; `bytes` and `sha256` are the file's. */
  files: { path: string; rows: number; bytes: number; sha256: string }[];
  rows: number;
  /** Columns as they stand in the files, in order, in DuckDB's names for types. */
  schema: { name: string; type: string }[];
  /** Lowest and highest `slot`; null where no row has one. */
  slot: { min: number | null; max: number | null };
  /** Sum of each u64 column, exact decimal digits. */
  sums: Record<string, string>;
  /** Columns the files are split by, as `<column>=<value>` folders; the columns stand in the files too. */
  partition_by: string[];
  /** Says the same of two exports exactly when their rows and their layout are the same: see lake-table.ts. */
  fingerprint: string;
}

/** Id of the set that `current` points to; null when there is none, or no link. */
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
 * What stands in the place of `current` where that is no link. Tools that copy what links lead to (`cp -rL`, most
 * clients of object stores) make a folder of it, which is a set that says its id.
 * @returns null for a link, or nothing; `id` is null for what no export made
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
 * The current set's manifest when the set is whole: every file there with its size. Null when anything is missing,
 * so that a set somebody damaged is written anew.
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
  const at = new Date(Math.max(now.getTime(), last + 1)).toISOString();
  return at.replace(/[-:.]/g, '');
}

const idForm = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/;

/** True for the folder names that nextExportId gives; anything else in a table's folder is not ours. */
export function isExportId(name: string): boolean {
  return idForm.test(name);
}

function timeOf(id: string): number {
  const [, year, month, day, hour, minute, second, ms] = idForm.exec(id) ?? [];
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
  return Number.isNaN(time) ? 0 : time;
}
