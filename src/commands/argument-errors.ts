import type { Command, CommanderError } from 'commander';
import { UsageError } from '../errors.ts';

const hint =
  'ledgerlake --help lists the commands, ledgerlake <command> --help its options: they come after its name, and what only looks like one after --.';

/** What the argument library says, and how this program says it. Each pattern is one of its messages, whole. */
const wordings: readonly [RegExp, (...parts: string[]) => string][] = [
  [
    /^option '(?:-\w, )?(--[\w-]+)[^']*' argument '(.*)' is invalid\. Allowed choices are (.*)\.$/s,
    (option, value, choices) => `${option} takes ${oneOf(choices)}, not "${value}"`,
  ],
  [
    /^option '(?:-\w, )?(--[\w-]+)[^']*' argument '(.*)' is invalid\. (.*)$/s,
    (option, value, wanted) => `${option} takes ${wanted}, not "${value}"`,
  ],
  [
    /^option '(?:-\w, )?(--[\w-]+) (<\w+>)' argument missing$/,
    (option, what) => `${option} needs a value: ${option} ${what}`,
  ],
  [
    /^command-argument value '(.*)' is invalid for argument '(\w+)'\. Allowed choices are (.*)\.$/s,
    (value, name, choices) => `<${name}> takes ${oneOf(choices)}, not "${value}"`,
  ],
  [/^missing required argument '(.+)'$/, (name) => `<${name}> is missing`],
  [
    /^too many arguments for '(\w+)'\. Expected (\d+) arguments? but got (\d+)\.$/,
    (command, most, given) =>
      `${command} takes ${most === '0' ? 'no arguments' : `${most} argument${most === '1' ? '' : 's'}`}, not ${given}`,
  ],
  [
    /^unknown command '(.*?)'(?:\n\(Did you mean (.*)\?\))?$/s,
    (name, near) => unknown('command', name, near),
  ],
  // What a mistyped option was to be set to may be a secret.
  [
    /^unknown option '(-[^=]*?)(?:=.*)?'(?:\n\(Did you mean (.*)\?\))?$/s,
    (name, near) => unknown('option', name, near),
  ],
];

function unknown(what: string, name: string, near = ''): string {
  return `no ${what} is called "${name}"${near === '' ? '' : `, did you mean ${near}?`}`;
}

function oneOf(choices: string): string {
  return choices.replace(/, ([^,]+)$/, ' or $1');
}

/** What is wrong with the arguments, as the program's own error. @param program its options, and those of the command */
export function asUsageError({ code, message }: CommanderError, program: Command): UsageError {
  if (code === 'commander.help') return new UsageError('Which command?', hint);
  const text = message.replace(/^error: /, '');
  const [, flag = ''] = /^unknown option '(--[\w-]+)=/.exec(text) ?? [];
  const flags = [program, ...program.commands].flatMap(({ options }) => options.map(({ long }) => long));
  if (flags.includes(flag))
    return new UsageError(`${flag} takes no value: give it alone, or leave it out`, hint);
  for (const [pattern, say] of wordings) {
    const [, ...parts] = pattern.exec(text) ?? [];
    if (parts.length > 0) return new UsageError(say(...parts), hint);
  }
  return new UsageError(text, hint);
}
