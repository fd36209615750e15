#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import yargs, { type Argv } from 'yargs';
import { hideBin } from 'yargs/helpers';
import { commandList } from './commands/command-list.ts';
import { reportFailure } from './commands/report-failure.ts';
import { keepFilesPrivate } from './file-modes.ts';
import { exitOnSignals } from './stop-signals.ts';

/** Version in package.json, one folder above both src/ and dist/. */
function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function describeProgram(args: string[]): Argv {
  const program = yargs(args)
    .scriptName('ledgerlake')
    .usage(
      '$0 <command>\n\nCrawls a ledger-data API into DuckDB and Parquet: exact, resumable, never paying for a page twice.',
    )
    .option('config', { type: 'string', describe: 'Config file (default: ledgerlake.yaml when present)' })
    .option('data-dir', { type: 'string', default: 'data', describe: 'Folder for everything the runs write' })
    .option('jobs-dir', { type: 'string', default: 'jobs', describe: 'Folder of the job files' })
    .option('json', { type: 'boolean', default: false, describe: 'One JSON document on stdout' })
    .option('log-level', {
      choices: ['debug', 'info', 'warn', 'error', 'silent'] as const,
      default: 'info' as const,
      describe: 'Least severe log line on stderr',
    })
    .option('progress', {
      type: 'boolean',
      default: true,
      describe: 'Progress lines on a terminal (--no-progress: log lines)',
    })
    .version(readVersion())
    .epilogue(
      'Environment: LEDGERLAKE_RPC_URL and LEDGERLAKE_API_KEY; without them the embedded sandbox answers.',
    )
    .demandCommand(1, 'Which command? `ledgerlake --help` lists them.')
    .strict()
    .recommendCommands()
    .parserConfiguration({ 'strip-dashed': true })
    .fail((message, error) => {
      throw error ?? new UsageMessage(message);
    });
  for (const { name, describe, load } of commandList) {
    program.command(
      name,
      describe,
      async (command) => (await load()).describeOptions(command),
      async (argv) => {
        process.exitCode = await (await load()).execute(withoutRepeats(name, argv) as never);
      },
    );
  }
  return program;
}

/** Options that may be given more than once. */
const repeatable = ['accept-vanished', 'acceptVanished'];

/** Of an option given twice the last counts; only the command's own `[name..]` and `repeatable` ones are lists. */
function withoutRepeats(command: string, argv: Record<string, unknown>): Record<string, unknown> {
  const list = /\[(\w+)\.\.\]/.exec(command)?.[1];
  const lists = new Set([list, '_', ...repeatable]);
  const once = (name: string, value: unknown) =>
    Array.isArray(value) && !lists.has(name) ? value.at(-1) : value;
  return Object.fromEntries(Object.entries(argv).map(([name, value]) => [name, once(name, value)]));
}

/** What yargs says of arguments it cannot take. */
class UsageMessage extends Error {}

exitOnSignals();
keepFilesPrivate();
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that has seen enough (`| head`) is no failure.
    if (error.code !== 'EPIPE') throw error;
  });
try {
  await describeProgram(hideBin(process.argv)).parseAsync();
} catch (error) {
  process.exitCode = error instanceof UsageMessage ? reportUsage(error.message) : reportFailure(error);
}

function reportUsage(message: string): number {
  process.stderr.write(
    `ledgerlake: ${message}\n  ledgerlake --help lists the commands, ledgerlake <command> --help its options.\n`,
  );
  return 2;
}
