import type { Database } from './database.ts';

/** Counts the rows of Parquet files by their metadata, in the order given. @param files absolute paths */
export async function countRows(database: Database, files: readonly string[]): Promise<number[]> {
  // DuckDB does not accept an empty list of files.
  if (files.length === 0) return [];
  const found = await database.rows<{ file_name: string; num_rows: bigint }>(
    'select file_name, num_rows from parquet_file_metadata($files)',
    { files },
  );
  const rowsOf = new Map(found.map(({ file_name, num_rows }) => [file_name, Number(num_rows)]));
  return files.map((file) => {
    const rows = rowsOf.get(file);
    if (rows === undefined) throw new Error(`DuckDB read another file than ${file}`);
    return rows;
  });
}
