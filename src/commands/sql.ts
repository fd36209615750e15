import { createWriteStream } from 'node:fs';
import { readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import { exists, syncFile } from '../landing/segment-files.ts';
import { readRunLog } from '../pipeline/run-log.ts';
import { readRunning } from '../pipeline/run-state.ts';
import { untilStopped } from '../stop-signals.ts';
import { asQueryError, openQuerySession, type QuerySession } from '../warehouse/query.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { readPath } from './option-values.ts';
import { resultText, type TextFormat, textFormats } from './result-text.ts';
import { writeStdout } from './stdout.ts';
import type { Usage } from './usage.ts';

type Format = TextFormat | 'parquet';

interface SqlArgs extends GlobalArgs {
  query?: string;
  file?: string;
  format?: Format;
  output?: string;
}

export const usage: Usage = {
  arguments: { '[query]': 'SQL; several statements: the last result is shown' },
  options: {
    '-f, --file <path>': { describe: 'Read the SQL from this file', read: readPath },
    '--format <name>': {
      describe: 'Default: what the name of --output says, table on a terminal, else csv',
      choices: [...textFormats, 'parquet'],
    },
    '-o, --output <path>': { describe: 'Write to this file instead of stdout', read: readPath },
  },
  examples: {
    'ledgerlake sql "select collection, count(*) from assets group by all"': 'A table',
    'ledgerlake sql -f report.sql --format csv > report.csv': 'u64 and decimals keep every digit',
    'ledgerlake sql "from token_accounts" --format parquet -o accounts.parquet':
      'u64 as DECIMAL(20,0), as in the lake',
  },
  notes:
    'Reads the snapshot of the last finished run, while other runs go on. Without a query, SQL comes from stdin.',
};

export async function execute(args: SqlArgs): Promise<number> {
  const format = args.format ?? defaultFormat(args);
  const sql = await readQuery(args);
  const { config, folder } = await openContext(args, { asks: false });
  const output = args.output === undefined ? null : await findOutput(args.output, folder.root);
  if (format === 'parquet' && (output === null || !output.isFile)) {
    throw new UsageError('Parquet goes to a file', 'Name it with --output <file>.');
  }
  // A pipe or a device stays what it is: it is written to, not replaced.
  const written = output?.isFile ? `${output.path}.${process.pid}.tmp` : (output?.path ?? null);
  const { memoryLimit, threads } = config.warehouse;
  await refuseFirstRun(folder);
  await untilStopped(async (signal) => {
    const outputPath = format === 'parquet' ? { outputPath: written! } : {};
    const session = await openQuerySession(folder.snapshot, { memoryLimit, threads, signal, ...outputPath });
    try {
      signal.throwIfAborted();
      if (format === 'parquet') await session.copyToParquet(sql);
      else await writeText(session, sql, { format, file: written, signal });
      if (output?.isFile) await keepFile(written!, output.path);
    } catch (error) {
      if (output?.isFile) await rm(written!, { force: true });
      signal.throwIfAborted();
      throw error;
    } finally {
      session.close();
    }
  });
  return 0;
}

/** Until the first run ends there is nothing to read, and nothing to do but wait. @throws UsageError that says so */
async function refuseFirstRun(folder: DataFolder): Promise<void> {
  if (await exists(folder.snapshot)) return;
  const running = await readRunning(folder, (await readRunLog(folder.runs)).at(-1));
  if (running === null) return;
  throw new UsageError(
    `there is no snapshot at ${folder.snapshot} yet: run ${running.run} is at work`,
    'It is there when that run ends; `ledgerlake status` shows how far it is.',
  );
}

interface Output {
  /** Where symbolic links lead: what they point at is replaced, not they. */
  path: string;
  /** A file, or nothing yet; false for a pipe or a device. */
  isFile: boolean;
}

/** @throws UsageError for a file in the data folder, a folder, and a file in no folder */
async function findOutput(given: string, dataFolder: string): Promise<Output> {
  const real = (path: string) => realpath(path).catch(() => resolve(path));
  const path = await real(join(await real(dirname(resolve(given))), basename(given)));
  if (!relative(await real(dataFolder), path).startsWith('..'))
    throw new UsageError(
      `${given} is in the data folder`,
      "Everything there is the program's own: name a file elsewhere.",
    );
  if (!(await exists(dirname(path))))
    throw new UsageError(`there is no folder ${dirname(path)}`, 'Make it, or name another --output.');
  const stats = await stat(path).catch(() => null);
  if (stats?.isDirectory()) throw new UsageError(`${given} is a folder`, 'Name a file in it.');
  return { path, isFile: stats === null || stats.isFile() };
}

function defaultFormat({ json, output = '' }: SqlArgs): Format {
  if (json) return 'json';
  const named = [...textFormats, 'parquet' as const].find((format) =>
    output.toLowerCase().endsWith(`.${format}`),
  );
  if (named !== undefined) return named;
  return process.stdout.isTTY && output === '' ? 'table' : 'csv';
}

async function readQuery({ query, file }: SqlArgs): Promise<string> {
  if (query !== undefined && file !== undefined) {
    throw new UsageError('a query and --file are given', 'Give one of them.');
  }
  if (query !== undefined) return query;
  if (file !== undefined) {
    return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`cannot read ${file} (${error.code})`, 'Check the path given with --file.');
    });
  }
  if (!process.stdin.isTTY) return text(process.stdin);
  throw new UsageError(
    'which query?',
    'Give it in quotes, in a file (-f), or on stdin: ledgerlake sql "select count(*) from assets"',
  );
}

async function writeText(
  session: QuerySession,
  sql: string,
  { format, file, signal }: { format: TextFormat; file: string | null; signal: AbortSignal },
): Promise<void> {
  const result = await session.run(sql);
  // A statement without rows of its own (SET, CREATE TEMP TABLE) has nothing to show.
  if (result.columns.length === 0) return;
  const toTerminal = file === null && process.stdout.isTTY === true;
  const pieces = resultText(result, format, toTerminal ? (process.stdout.columns ?? 80) : undefined);
  try {
    if (file !== null) await pipeline(pieces, createWriteStream(file), { signal });
    else await writeStdout(pieces, signal);
  } catch (error) {
    throw asQueryError(error);
  }
}

async function keepFile(draft: string, output: string): Promise<void> {
  await syncFile(draft);
  await rename(draft, output);
}
