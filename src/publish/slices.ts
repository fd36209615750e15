import type { Database } from '../warehouse/database.ts';

/** A staging file with the number of its rows. */
export interface StagedFile {
  file: string;
  rows: number;
}

/** Counts the rows of staging files, in the order given. */
export async function countRows(database: Database, files: readonly string[]): Promise<StagedFile[]> {
  if (files.length === 0) return [];
  const sizes = await database.rows<{ file_name: string; num_rows: bigint }>(
    'select file_name, num_rows from parquet_file_metadata($files)',
    { files },
  );
  const rowsOf = new Map(sizes.map(({ file_name, num_rows }) => [file_name, Number(num_rows)]));
  return files.map((file) => ({ file, rows: rowsOf.get(file) ?? 0 }));
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
