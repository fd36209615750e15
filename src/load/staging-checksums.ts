import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { readChunks, syncFile } from '../landing/segment-files.ts';

/** Beside a segment's staged Parquet files: the CRC-32 of each. DuckDB reads a flipped bit in a column as another value. */
const checksumFile = 'checksums.json';

/** Stands among the checksums, so that what another version staged, with other columns, counts as damaged. */
const layout = { layout: 2 };

/** Notes the checksum of every file of a folder that is to be staged; durable when it resolves. */
export async function writeChecksums(dir: string): Promise<void> {
  const path = join(dir, checksumFile);
  await writeFile(path, JSON.stringify({ ...layout, ...(await sumFiles(dir)) }), { mode: 0o600 });
  await syncFile(path);
}

/** Whether every file of a staged folder is as it was written. */
export async function isStagedWhole(dir: string): Promise<boolean> {
  const noted = await readFile(join(dir, checksumFile), 'utf8').catch(() => null);
  return noted === JSON.stringify({ ...layout, ...(await sumFiles(dir)) });
}

async function sumFiles(dir: string): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const name of (await readdir(dir)).filter((one) => one !== checksumFile).sort()) {
    let sum = 0;
    await readChunks(join(dir, name), (chunk) => {
      sum = crc32(chunk, sum);
    });
    sums[name] = sum;
  }
  return sums;
}
