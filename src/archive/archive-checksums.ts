import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { readChunks, writeSynced } from '../landing/segment-files.ts';
import { readSql } from '../sql-text.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../warehouse/database.ts';
import { isArchiveDamage } from './archive-files.ts';

/** Size and CRC-32 of a file of the archive when it was written. */
interface Checksum {
  file: string;
  bytes: number;
  crc32: number;
}

/** The checksums of the archive's files, one line per file, because DuckDB writes no checksums into Parquet. */
function checksumLog(dir: string): string {
  return join(dir, 'checksums.ndjson');
}

/**
 * Records a file's checksum before the file gets its name; durable when it resolves. A file that is written again has two
 * lines, because a kill may come before the new one has the name.
 * @param path the file's name-to-be
 * @param draft the file as it is now
 */
export async function noteChecksum(path: string, draft: string): Promise<void> {
  const { bytes, sum } = await sumFile(draft);
  const line = JSON.stringify({ file: basename(path), bytes, crc32: sum } satisfies Checksum);
  const handle = await open(checksumLog(join(path, '..')), 'a', 0o600);
  try {
    // The line break comes first, so that a line torn by a power loss stays a line of its own.
    await handle.appendFile(`\n${line}`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes the checksums of files that no longer exist, and the log when it has none left. */
export async function forgetChecksums(dir: string): Promise<void> {
  const noted = await readNoted(dir);
  const there = new Set(await readdir(dir));
  const kept = noted.filter(({ file }) => there.has(file));
  if (kept.length === noted.length) return;
  if (kept.length === 0) return rm(checksumLog(dir), { force: true });
  const draft = `${checksumLog(dir)}.tmp`;
  await writeSynced(draft, kept.map((one) => `\n${JSON.stringify(one)}`).join(''));
  await rename(draft, checksumLog(dir));
}

/**
 * Paths of the archive's files that differ from what was written.
 * @param options to read every byte, and every value of files whose checksum is lost; null: compare only
 *   sizes and look at both ends
 */
export async function listDamagedArchive(
  dir: string,
  options: Omit<DatabaseOptions, 'readOnly'> | null,
): Promise<string[]> {
  const noted = new Map<string, Checksum[]>();
  for (const one of await readNoted(dir)) noted.set(one.file, [...(noted.get(one.file) ?? []), one]);
  const damaged: string[] = [];
  const unknown: string[] = [];
  for (const file of (await readdir(dir)).filter((one) => /^\d+(\.pages|\.lost)?\.parquet$/.test(one))) {
    const path = join(dir, file);
    const sums = noted.get(file);
    const { size } = await stat(path);
    const isSound =
      (sums === undefined || sums.some(({ bytes }) => bytes === size)) &&
      (await isParquet(path)) &&
      (sums === undefined || options === null || (await hasSum(path, sums)));
    if (!isSound) damaged.push(path);
    else if (sums === undefined) unknown.push(path);
  }
  if (options === null || unknown.length === 0) return damaged;
  const database = await openDatabase(':memory:', options);
  try {
    for (const path of unknown) if (!(await isReadable(database, path))) damaged.push(path);
  } finally {
    database.close();
  }
  return damaged;
}

async function readNoted(dir: string): Promise<Checksum[]> {
  const text = await readFile(checksumLog(dir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').flatMap((line) => {
    try {
      const { file, bytes, crc32 } = JSON.parse(line) as Partial<Checksum>;
      return file === undefined || bytes === undefined || crc32 === undefined ? [] : { file, bytes, crc32 };
    } catch {
      // Torn by a power loss: every value of the file is read instead.
      return [];
    }
  });
}

async function sumFile(path: string): Promise<{ bytes: number; sum: number }> {
  let [bytes, sum] = [0, 0];
  await readChunks(path, (chunk) => {
    bytes += chunk.length;
    sum = crc32(chunk, sum);
  });
  return { bytes, sum };
}

async function hasSum(path: string, sums: readonly Checksum[]): Promise<boolean> {
  const { bytes, sum } = await sumFile(path);
  return sums.some((one) => one.bytes === bytes && one.crc32 === sum);
}

/** Whether both ends of a file have Parquet's magic bytes. */
async function isParquet(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const [first, last] = [Buffer.alloc(4), Buffer.alloc(4)];
    await file.read(first, 0, 4, 0);
    await file.read(last, 0, 4, Math.max(0, size - 4));
    return size >= 12 && first.toString() === 'PAR1' && last.toString() === 'PAR1';
  } finally {
    await file.close();
  }
}

/** Page lines have checksums; damage of records shows if DuckDB cannot decompress them. */
async function isReadable(database: Database, path: string): Promise<boolean> {
  try {
    await database.rows('select bit_xor(hash(t)) from read_parquet($path) as t', { path });
    if (!path.endsWith('.pages.parquet')) return true;
    await database.run(readSql('archive/restored-pages.sql'), { pages: path });
    return (await database.rows(readSql('archive/changed-lines.sql'))).length === 0;
  } catch (error) {
    if (isArchiveDamage(error)) return false;
    throw error;
  }
}
