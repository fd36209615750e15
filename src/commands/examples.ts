import type { Command } from 'commander';

/**
 * Ends a command's `--help`: each example whole on a line of its own, to be copied, and what else there is to know.
 * @param examples what it does, by command line
 */
export function addExamples(
  command: Command,
  examples: Readonly<Record<string, string>>,
  notes = '',
): Command {
  const lines = Object.entries(examples).map(([line, does]) => `  ${line}\n      ${does}`);
  const text = `\nExamples:\n${lines.join('\n')}`;
  const width = command.configureOutput().getOutHelpWidth?.() ?? 80;
  return command.addHelpText('after', () =>
    notes === '' ? text : `${text}\n\n${command.createHelp().boxWrap(notes, width)}`,
  );
}
