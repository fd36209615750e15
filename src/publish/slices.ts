import type { Database } from '../warehouse/database.ts';
import { countRows } from '../warehouse/parquet-rows.ts';

/** A staging file with the number of its rows. */
export interface StagedFile {
  file: string;
  rows: number;
}

/** Staging files with their rows, in the order given. */
export async function measureStaged(database: Database, files: readonly string[]): Promise<StagedFile[]> {
  const rows = await countRows(database, files);
  return files.map((file, n) => ({ file, rows: rows[n]! }));
}

/** The first files that together have at most `maxRows` rows; at least one. */
export function takeSlice(files: readonly StagedFile[], maxRows: number): readonly StagedFile[] {
  const beyond = files.findIndex((_, n) => n > 0 && sumRows(files.slice(0, n + 1)) > maxRows);
  return beyond === -1 ? files : files.slice(0, beyond);
}

export function sumRows(files: readonly StagedFile[]): number {
  return files.reduce((sum, { rows }) => sum + rows, 0);
}

export function namesOf(files: readonly StagedFile[]): string[] {
  return files.map(({ file }) => file);
}
