import { readFile, rm } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import { exists } from '../landing/segment-files.ts';
import { readRunLog } from '../run/run-log.ts';
import { readRunning } from '../run/run-state.ts';
import { untilStopped } from '../stop-signals.ts';
import { openQuerySession } from '../warehouse/query.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { type TextFormat, textFormats } from './result-text.ts';
import { findOutput, renameOutput, writeResult } from './sql-output.ts';
import { promptOnTerminal } from './sql-prompt.ts';
import { readPath, type Usage } from './usage.ts';

/** Formats that are bytes, not text. */
const binaryFormats = ['parquet', 'arrow'] as const;
type Format = TextFormat | (typeof binaryFormats)[number];

interface SqlArgs extends GlobalArgs {
  query?: string;
  file?: string;
  format?: Format;
  output?: string;
  vertical: boolean;
}

export const usage: Usage = {
  arguments: { '[query]': 'SQL; several statements: the last result is shown' },
  options: {
    '-f, --file <path>': { describe: 'Read the SQL from this file', read: readPath },
    '--format <name>': {
      describe: 'Default: by the suffix of --output, table on a terminal, else csv',
      choices: [...textFormats, ...binaryFormats],
    },
    '--vertical': 'A table with one field a line',
    '-o, --output <path>': { describe: 'Write to this file instead of stdout', read: readPath },
  },
  examples: {
    'ledgerlake sql "select collection, count(*) from assets group by all"': 'A table',
    'ledgerlake sql -f report.sql --format csv > report.csv': 'u64 and decimals keep every digit',
    'ledgerlake sql "from token_accounts" --format parquet -o accounts.parquet':
      'u64 as DECIMAL(20,0), as in the lake',
    'ledgerlake sql "from assets" --format arrow | python -c "import pyarrow as pa, sys; print(pa.ipc.open_stream(sys.stdin.buffer).read_all())"':
      'An Arrow IPC stream: u64 as uint64, lists, structs and time zones kept',
    'ledgerlake sql': 'A prompt, on a terminal: .help lists its commands',
  },
  notes:
    'Reads the snapshot of the last finished run, also while another run is at work. Without a query, SQL comes from stdin, or from a prompt on a terminal.',
};

export async function execute(args: SqlArgs): Promise<number> {
  const format = args.format ?? defaultFormat(args);
  const { config, folder } = await openContext(args, { asks: false });
  if (args.query === undefined && args.file === undefined && process.stdin.isTTY === true) {
    await refuseFirstRun(folder);
    return promptOnTerminal(folder.snapshot, config.warehouse);
  }
  const sql = await readQuery(args);
  const output = args.output === undefined ? null : await findOutput(args.output, folder);
  if (format === 'parquet' && (output === null || !output.isFile)) {
    throw new UsageError('Parquet goes to a file', 'Name it with --output <file>.');
  }
  if (format === 'arrow' && output === null && process.stdout.isTTY === true)
    throw new UsageError('Arrow is not text for a terminal', 'Pipe it, or name a file with --output <file>.');
  // A pipe or a device is written to, not replaced.
  const draft = output?.isFile ? `${output.path}.${process.pid}.tmp` : (output?.path ?? null);
  const { memoryLimit, threads } = config.warehouse;
  await refuseFirstRun(folder);
  await untilStopped(async (signal) => {
    const outputPath = format === 'parquet' ? { outputPath: draft! } : {};
    const session = await openQuerySession(folder.snapshot, { memoryLimit, threads, signal, ...outputPath });
    try {
      signal.throwIfAborted();
      if (format === 'parquet') await session.copyToParquet(sql);
      else
        await writeResult(await session.run(sql), { format, vertical: args.vertical, file: draft, signal });
      if (output?.isFile) await renameOutput(draft!, output.path);
    } catch (error) {
      if (output?.isFile) await rm(draft!, { force: true });
      signal.throwIfAborted();
      throw error;
    } finally {
      session.close();
    }
  });
  return 0;
}

/** @throws UsageError while the first run is at work: there is no snapshot before it ends */
export async function refuseFirstRun(folder: DataFolder): Promise<void> {
  if (await exists(folder.snapshot)) return;
  const running = await readRunning(folder, (await readRunLog(folder.runs)).at(-1));
  if (running === null) return;
  throw new UsageError(
    `there is no snapshot at ${folder.snapshot} yet: run ${running.run} is at work`,
    'It is there when that run ends; `ledgerlake status` shows how far it is.',
  );
}

function defaultFormat({ json, vertical, output = '' }: SqlArgs): Format {
  if (json) return 'json';
  if (vertical) return 'table';
  const bySuffix = [...textFormats, ...binaryFormats].find((format) =>
    output.toLowerCase().endsWith(`.${format}`),
  );
  if (bySuffix !== undefined) return bySuffix;
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
  return text(process.stdin);
}
