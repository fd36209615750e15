import { createWriteStream } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type DataFolder, refuseOwnPath } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import { exists, syncFile } from '../landing/segment-files.ts';
import { asQueryError, type QueryResult } from '../warehouse/query.ts';
import { resultText, type TextFormat } from './result-text.ts';
import { writeStdout } from './stdio.ts';

/** Where a query's result goes. */
export interface Output {
  /** With symbolic links resolved: the file is replaced, the link stays. */
  path: string;
  /** True for a file and for a path without one yet; false for a pipe or a device. */
  isFile: boolean;
}

/** @throws UsageError for a file in the data folder, a folder, and a file in no folder */
export async function findOutput(given: string, folder: Pick<DataFolder, 'root'>): Promise<Output> {
  const path = await refuseOwnPath(given, '--output', folder);
  if (!(await exists(dirname(path))))
    throw new UsageError(`there is no folder ${dirname(path)}`, 'Make it, or name another --output.');
  const stats = await stat(path).catch(() => null);
  if (stats?.isDirectory()) throw new UsageError(`${given} is a folder`, 'Name a file in it.');
  return { path, isFile: stats === null || stats.isFile() };
}

/** How a result is written. */
export interface WriteOptions {
  format: TextFormat | 'arrow';
  /** One field a line. */
  vertical: boolean;
  /** Null: stdout. */
  file: string | null;
  signal: AbortSignal;
}

/** Writes a result; nothing for a statement without rows (SET, CREATE TEMP TABLE). */
export async function writeResult(
  result: QueryResult,
  { format, vertical, file, signal }: WriteOptions,
): Promise<void> {
  if (result.columns.length === 0) return;
  const toTerminal = file === null && process.stdout.isTTY === true;
  const width = toTerminal ? (process.stdout.columns ?? 80) : undefined;
  const pieces =
    format === 'arrow'
      ? (await import('./arrow-stream.ts')).arrowBytes(result)
      : resultText(result, format, width, vertical);
  try {
    if (file !== null) await pipeline(pieces, createWriteStream(file), { signal });
    else await writeStdout(pieces, signal);
  } catch (error) {
    throw asQueryError(error);
  }
}

/** Renames a written file to its name, durably. */
export async function renameOutput(draft: string, output: string): Promise<void> {
  await syncFile(draft);
  await rename(draft, output);
}
