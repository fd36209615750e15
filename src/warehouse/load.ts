import { chmod, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { describeSegment } from '../landing/reader.ts';
import { listSegments, pageFile, recordFile, syncDirectory, syncFile } from '../landing/segment-files.ts';
import { type Database, listColumns } from './database.ts';
import { stagedHashes } from './merge-sql.ts';
import { readSql } from './sql-text.ts';
import { readTableSpecs } from './table-spec.ts';

/** Where a segment's typed rows stand. */
export function stagingFile(folder: DataFolder, segment: number): string {
  return join(folder.staging, `${segment}.parquet`);
}

/** Segments that are staged, oldest first. */
export async function listStaged(folder: DataFolder): Promise<number[]> {
  return (await readdir(folder.staging))
    .map((name) => /^(\d+)\.parquet$/.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

/** Segments of the landing log without typed rows yet. Only whole (sealed or recovered) segments may be asked for. */
export async function listUnloaded(folder: DataFolder): Promise<number[]> {
  const staged = new Set(await listStaged(folder));
  return (await listSegments(folder.landing)).filter((segment) => !staged.has(segment));
}

/** Turns segments into typed rows; holds the macros and what each shape's rows get for their tables. */
export interface Loader {
  /**
   * Turns one whole segment into one typed Parquet file, by rename: loading it again gives the same file.
   * A segment without records (frozen ids, failures) has none.
   * @returns records loaded
   */
  loadSegment(segment: number): Promise<number>;
}

/** @param database an in-memory one that only the loader uses */
export async function createLoader(database: Database, folder: DataFolder): Promise<Loader> {
  await database.script(readSql('macros.sql'));
  const hashes = await readHashes(database);
  return {
    async loadSegment(segment) {
      const records = recordFile(folder.landing, segment);
      if ((await stat(records)).size === 0) return 0;
      const { shape, longest } = await describeSegment(folder.landing, segment);
      const normalised = `${readSql('landing.sql')}${readSql(`shapes/${shape}.sql`)}`;
      const rows = `select ${['*', ...(hashes.get(shape) ?? [])].join(', ')} from (${normalised})`;
      const file = stagingFile(folder, segment);
      const temporary = `${file}.tmp`;
      await rm(temporary, { force: true });
      await database.run(
        `copy (${rows}) to $file (format parquet, compression zstd, compression_level 1, row_group_size 8192)`,
        // The reader's buffer must hold a whole line: the record and what the log writes around it.
        {
          pages: pageFile(folder.landing, segment),
          records,
          largest: Math.max(4 << 20, longest * 2 + 65_536),
          file: temporary,
        },
      );
      await chmod(temporary, 0o600);
      await syncFile(temporary);
      await rename(temporary, file);
      await syncDirectory(folder.staging);
      const [row] = await database.rows<{ n: bigint }>('select count(*) as n from read_parquet($file)', {
        file,
      });
      return Number(row?.n ?? 0n);
    },
  };
}

/** By shape: the hashes its rows need for the merge tables they go to. */
async function readHashes(database: Database): Promise<Map<string, string[]>> {
  const hashes = new Map<string, string[]>();
  for (const spec of readTableSpecs().filter(({ publish }) => publish === 'merge')) {
    await database.script(spec.ddl);
    const columns = await listColumns(database, spec.name);
    hashes.set(spec.shape, [...(hashes.get(spec.shape) ?? []), ...stagedHashes(spec, columns)]);
  }
  return hashes;
}
