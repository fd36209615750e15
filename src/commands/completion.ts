import { listJobNames } from '../jobs/job-file.ts';
import { listOperations } from '../operations/catalogue.ts';
import { describeModel } from '../warehouse/model.ts';
import { findCommand, findOption, isOption } from './check-arguments.ts';
import type { GlobalArgs } from './context.ts';
import { createParser } from './parse-arguments.ts';
import { programOptions } from './program.ts';
import { type Argument, type CommandEntry, listArguments, listOptions, type Usage } from './usage.ts';

interface CompletionArgs extends GlobalArgs {
  shell?: 'bash' | 'zsh';
}

/** Arguments and options of `ledgerlake completion`. */
export const usage: Usage = {
  arguments: { '[shell]': { describe: 'Default: the one of $SHELL', choices: ['bash', 'zsh'] } },
  examples: {
    'ledgerlake completion bash >> ~/.bashrc': 'For every new shell of bash',
    'source <(ledgerlake completion zsh)': 'For this shell of zsh',
  },
  notes:
    'Completes commands, options, their values, job names and table names. `ledgerlake` must be on the PATH.',
};

/** `ledgerlake completion [shell]`: prints the script, which asks the program whenever somebody presses Tab. */
export async function execute({ shell }: CompletionArgs): Promise<number> {
  // yargs has a script for each shell and chooses by this variable.
  if (shell !== undefined) process.env.SHELL = shell;
  createParser(programOptions, [])
    .completion(`completion ${shell ?? ''}`.trim())
    .showCompletionScript();
  return 0;
}

/**
 * Candidates for the last word.
 * @param words of the line so far, from the program's name on
 */
export async function complete(
  words: readonly string[],
  commands: readonly CommandEntry[],
): Promise<readonly string[]> {
  const typed = words.slice(1, -1);
  const current = words.at(-1) ?? '';
  const name = typed[findCommand(typed)];
  const entry = commands.find((command) => command.name === name);
  const commandUsage: Usage = entry === undefined ? { examples: {} } : (await entry.load()).usage;
  const options = [...listOptions(commandUsage), ...programOptions];
  const last = typed.at(-1) ?? '';
  const pending = isOption(last) && !last.includes('=') ? findOption(last, options) : undefined;
  if (pending?.takes !== undefined && pending.choices === undefined)
    // Guards take a job, or a part of one. The shell completes all other values: they are mostly paths.
    return /^<(target|column)>$/.test(pending.takes) ? startingWith(current, await listJobs(typed)) : [];
  if (pending?.takes === undefined && !isOption(current)) {
    const candidates = await Promise.all(
      listArguments(commandUsage).map((argument) => listWords(argument, typed)),
    );
    const matches = startingWith(current, candidates.flat());
    if (matches.length > 0) return matches;
  }
  const typedOptions = options.map((option) => ({ ...option, name: option.long.slice(2) }));
  const parser = createParser(typedOptions, []);
  for (const { name, choices } of typedOptions) if (choices !== undefined) parser.choices(name, choices);
  if (name === undefined) for (const { name, describe } of commands) parser.command(name, describe);
  return startingWith(current, await parser.getCompletion([...words]));
}

function startingWith(current: string, words: readonly string[]): string[] {
  return words.filter((word) => word.startsWith(current));
}

/** What an argument may be; none where only the user knows. */
async function listWords({ name, choices }: Argument, typed: readonly string[]): Promise<readonly string[]> {
  if (choices !== undefined) return choices;
  if (name === 'job') return listJobs(typed);
  if (name === 'table') return (await describeModel()).map((table) => table.name);
  if (name === 'operation') return listOperations().map((operation) => operation.name);
  return [];
}

/** The jobs of the folder that the line names; none when it cannot be read. */
async function listJobs(typed: readonly string[]): Promise<readonly string[]> {
  const folder = createParser(programOptions, typed).parseSync()['jobs-dir'] ?? 'jobs';
  return listJobNames(String(folder)).catch(() => []);
}
