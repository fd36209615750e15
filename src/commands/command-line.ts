import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { beginOutput } from '../json-output.ts';
import { packageRoot } from '../package-root.ts';
import { asUsageError } from './argument-errors.ts';
import { commandList } from './command-list.ts';
import type { GlobalArgs } from './context.ts';
import { readPath } from './option-values.ts';
import { reportFailure } from './report-failure.ts';

/**
 * Runs one command line to its end, and prints what it gives or why it failed. One at a time in a process.
 * @param args without the names of Node and the program
 * @returns the exit code
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  beginOutput(args);
  let exitCode = 0;
  const program = describeProgram((code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportFailure(error);
    // --help and --version end so, too.
    return error.exitCode === 0 ? 0 : reportFailure(asUsageError(error, program));
  }
}

/** Version in package.json. */
function readVersion(): string {
  const text = readFileSync(new URL('package.json', packageRoot), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** The program: its options, which every command takes too, and the names of its commands. @param onEnd told its exit code */
function describeProgram(onEnd: (exitCode: number) => void): Command {
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
    .hook('preSubcommand', (_, command) => prepareCommand(command, onEnd));
  for (const { name, describe } of commandList) program.command(name).description(describe);
  return program;
}

/** Loads the command that was chosen: the others need not be, nor any for --version. */
async function prepareCommand(command: Command, onEnd: (exitCode: number) => void): Promise<void> {
  const { load } = commandList.find(({ name }) => name === command.name())!;
  const { describeOptions, execute } = await load();
  describeOptions(command).action(async () => {
    const given = command.registeredArguments.map((argument, n) => [
      argument.name(),
      command.processedArgs[n],
    ]);
    const exitCode = await execute({
      ...command.optsWithGlobals<GlobalArgs>(),
      ...Object.fromEntries(given),
    } as never);
    onEnd(exitCode);
  });
}
