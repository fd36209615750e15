import { refuseGoneFolder } from '../file-modes.ts';
import { beginOutput } from '../json-output.ts';
import { suggestion } from '../suggestion.ts';
import { checkOptions, findCommand } from './check-arguments.ts';
import { commandList } from './command-list.ts';
import type { GlobalArgs } from './context.ts';
import { fullCommandHelp, programHelp } from './help.ts';
import { programOptions, readVersion } from './program.ts';
import { rememberGiven, reportFailure } from './report-failure.ts';
import { argumentError } from './usage.ts';

/**
 * Runs one command line and prints its result, or why it failed. A process runs one at a time.
 * @param args without the names of Node and the program
 * @returns the exit code
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  beginOutput(args);
  try {
    return await runCommand(args);
  } catch (error) {
    return reportFailure(error);
  }
}

/** Loads only what is needed: `--version` and `--help` without the parser, the program's help without a command. */
async function runCommand(args: readonly string[]): Promise<number> {
  if (args[0] === '--get-yargs-completions') {
    const { complete } = await import('./completion.ts');
    process.stdout.write((await complete(args.slice(1), commandList)).map((word) => `${word}\n`).join(''));
    return 0;
  }
  const options = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  if (options.includes('--version')) return print(`${readVersion()}\n`);
  const isHelp = options.some((token) => token === '--help' || token === '-h');
  const n = findCommand(args);
  const entry = n === -1 ? undefined : commandList.find(({ name }) => name === args[n]);
  const width = process.stdout.columns ?? 80;
  if (entry === undefined) {
    if (isHelp) return print(programHelp(commandList, width));
    throw unknownCommand(args, n);
  }
  refuseGoneFolder();
  const { usage, execute } = await entry.load();
  if (isHelp) return print(fullCommandHelp(entry, usage, width));
  checkOptions(
    args.slice(0, n).filter((token) => token !== '--'),
    programOptions,
  );
  const { parseArguments } = await import('./parse-arguments.ts');
  const tokens = [...args.slice(0, n), ...args.slice(n + 1)];
  const parsed = parseArguments(entry.name, usage, tokens) as unknown as GlobalArgs;
  rememberGiven(parsed);
  return execute(parsed as never);
}

/** @param n index of the command, -1 without one */
function unknownCommand(args: readonly string[], n: number): Error {
  checkOptions(n === -1 ? args : args.slice(0, n), programOptions);
  if (n === -1) return argumentError('Which command?');
  const names = commandList.map(({ name }) => name);
  return argumentError(`no command is called "${args[n]}"${suggestion(args[n]!, names)}`);
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
