#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { asUsageError } from './commands/argument-errors.ts';
import { commandList } from './commands/command-list.ts';
import type { GlobalArgs } from './commands/context.ts';
import { readPath } from './commands/option-values.ts';
import { reportFailure } from './commands/report-failure.ts';
import { keepFilesPrivate } from './file-modes.ts';
import { packageRoot } from './package-root.ts';
import { exitOnSignals } from './stop-signals.ts';

/** Version in package.json. */
function readVersion(): string {
  const text = readFileSync(new URL('package.json', packageRoot), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** The program: its options, which every command takes too, and the names of its commands. */
function describeProgram(): Command {
  const program = new Command('ledgerlake')
    .usage('<command> [options]')
    .description(
      'Crawls a ledger-data API into DuckDB and Parquet: exact, resumable, never paying for a page twice.\n\nEnvironment: LEDGERLAKE_RPC_URL and LEDGERLAKE_API_KEY; without them the embedded sandbox answers.',
    )
    .option('--config <file>', 'Config file (default: ledgerlake.yaml when present)', readPath)
    .option('--data-dir <folder>', 'Folder for everything the runs write', readPath, 'data')
    .option('--jobs-dir <folder>', 'Folder of the job files', readPath, 'jobs')
    .option('--json', 'One JSON document on stdout', false)
    .addOption(
      new Option('--log-level <level>', 'Least severe log line on stderr')
        .choices(['debug', 'info', 'warn', 'error', 'silent'])
        .default('info'),
    )
    .option('--no-progress', 'Log lines instead of progress lines on a terminal')
    .addOption(new Option('--progress').hideHelp())
    .version(readVersion(), '--version', 'Show the version')
    .helpOption('-h, --help', 'Show this help')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    // Errors are thrown, and printed once, where all others are.
    .configureOutput({ writeErr: () => {} })
    .exitOverride()
    .hook('preSubcommand', prepareCommand);
  for (const { name, describe } of commandList) program.command(name).description(describe);
  return program;
}

/** Loads the command that was chosen: the others need not be, nor any for --version. */
async function prepareCommand(_program: Command, command: Command): Promise<void> {
  const { load } = commandList.find(({ name }) => name === command.name())!;
  const { describeOptions, execute } = await load();
  describeOptions(command).action(async () => {
    const given = command.registeredArguments.map((argument, n) => [
      argument.name(),
      command.processedArgs[n],
    ]);
    process.exitCode = await execute({
      ...command.optsWithGlobals<GlobalArgs>(),
      ...Object.fromEntries(given),
    } as never);
  });
}

exitOnSignals();
keepFilesPrivate();
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that has seen enough (`| head`), or a terminal that was closed, is no failure.
    const isGone = error.code === 'EPIPE' || (error.code === 'EIO' && stream.isTTY);
    if (!isGone) process.exit(reportFailure(error));
  });
const program = describeProgram();
try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) process.exitCode = reportFailure(error);
  // --help and --version end so, too.
  else if (error.exitCode !== 0) process.exitCode = reportFailure(asUsageError(error, program));
}
