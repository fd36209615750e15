import { chmod, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { DataFolder } from '../data-folder.ts';
import { listSegments, readChunks, syncDirectory, syncFile } from '../landing/segment-files.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';

/** A staged segment and the shape of its records. */
export interface StagedSegment {
  segment: number;
  shape: string;
}

/** The file of a segment's typed rows for one table. */
export function stagingFile(folder: DataFolder, segment: number, table: string): string {
  return join(folder.staging, String(segment), `${table}.parquet`);
}

/** The staging files of a table, in landing order. */
export function listFiles(folder: DataFolder, spec: TableSpec, segments: readonly StagedSegment[]): string[] {
  return segments
    .filter(({ shape }) => spec.shapes.includes(shape))
    .map(({ segment }) => stagingFile(folder, segment, spec.name));
}

/** Segments that are staged, oldest first. */
export async function listStaged(folder: DataFolder): Promise<number[]> {
  return (await readdir(folder.staging))
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** Segments of the landing log that are not staged. Call it only when all of them are sealed or recovered. */
export async function listUnloaded(folder: DataFolder): Promise<number[]> {
  const staged = new Set(await listStaged(folder));
  return (await listSegments(folder.landing)).filter((segment) => !staged.has(segment));
}

/** Renames the folder before it deletes it: a half-deleted folder must not look staged. */
export async function removeStaged(folder: DataFolder, segment: number): Promise<void> {
  const staged = join(folder.staging, String(segment));
  await rm(`${staged}.tmp`, { recursive: true, force: true });
  await rename(staged, `${staged}.tmp`).catch((error: NodeJS.ErrnoException) => {
    // A segment without records was never staged.
    if (error.code !== 'ENOENT') throw error;
  });
  await rm(`${staged}.tmp`, { recursive: true, force: true });
}

/**
 * Removes staged segments whose files differ from what was written. Nothing is lost: staging is made from the landing log,
 * which has a checksum for every page.
 * @returns the segments
 */
export async function removeDamagedStaging(folder: DataFolder): Promise<number[]> {
  const damaged = await listDamagedStaging(folder);
  for (const segment of damaged) await removeStaged(folder, segment);
  return damaged;
}

export async function listDamagedStaging(folder: DataFolder): Promise<number[]> {
  const damaged: number[] = [];
  for (const segment of await listStaged(folder))
    if (!(await isStagedWhole(join(folder.staging, String(segment))))) damaged.push(segment);
  return damaged;
}

/** The folder in which a segment's staging files are written, before `finishStaging`. */
export function temporaryStaging(folder: DataFolder, segment: number): string {
  return join(folder.staging, `${segment}.tmp`);
}

/** Makes the temporary folder the segment's staging: sync, checksums, rename. */
export async function finishStaging(
  folder: DataFolder,
  segment: number,
  files: readonly string[],
): Promise<void> {
  const temporary = temporaryStaging(folder, segment);
  for (const file of files) {
    await chmod(file, 0o600);
    await syncFile(file);
  }
  const checksums = join(temporary, checksumFile);
  await writeFile(checksums, await describeStaging(temporary), { mode: 0o600 });
  await syncFile(checksums);
  await syncDirectory(temporary);
  await rename(temporary, join(folder.staging, String(segment)));
  await syncDirectory(folder.staging);
}

/** Beside a segment's staging files: the CRC-32 of each, because DuckDB reads a flipped bit in a column as another value. */
const checksumFile = 'checksums.json';

/** The version of the staging files' columns: what a version with other columns staged counts as damaged. */
const layout = 2;

async function isStagedWhole(dir: string): Promise<boolean> {
  const recorded = await readFile(join(dir, checksumFile), 'utf8').catch(() => null);
  return recorded === (await describeStaging(dir));
}

async function describeStaging(dir: string): Promise<string> {
  const sums: Record<string, number> = {};
  for (const name of (await readdir(dir)).filter((file) => file !== checksumFile).sort()) {
    let sum = 0;
    await readChunks(join(dir, name), (chunk) => {
      sum = crc32(chunk, sum);
    });
    sums[name] = sum;
  }
  return JSON.stringify({ layout, ...sums });
}

/** Makes `withheld`: crawls that were refused, or that are published after those in `ready`. */
export const makeWithheld = `
  create or replace temp table withheld as
  select task, crawl
  from crawl_state
  where state in ('refused', 'held', 'replaced')
    or state = 'ready' and not exists (from ready r where r.task = crawl_state.task and r.crawl = crawl_state.crawl)`;

/** Rows of staging files ($files) that an append-only table takes. */
export const appliedRows = '(from read_parquet($files) anti join withheld using (task, crawl))';
