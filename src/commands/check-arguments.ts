import { suggestion } from '../suggestion.ts';
import { programOptions } from './program.ts';
import { type Argument, argumentError, listArguments, type Option, type Usage } from './usage.ts';

/** Whether a token is an option; `-` and negative numbers are not. */
export function isOption(token: string): boolean {
  return /^-[^\d.]/.test(token);
}

/** The option that a token names, whatever it is set to; `--x` counts for one declared as `--no-x`. */
export function findOption(token: string, options: readonly Option[]): Option | undefined {
  const flag = token.startsWith('--') ? token.replace(/=.*/s, '') : token.slice(0, 2);
  return options.find(({ long, short, name }) => [long, short, `--${name}`].includes(flag));
}

/** Index of the command: the first argument that is neither an option nor the value of one. -1 without one. */
export function findCommand(args: readonly string[]): number {
  for (let n = 0; n < args.length; n += 1) {
    const token = args[n]!;
    if (token === '--') return n + 1 < args.length ? n + 1 : -1;
    if (!isOption(token)) return n;
    const takes = !token.includes('=') && findOption(token, programOptions)?.takes;
    if (takes && !isOption(args[n + 1] ?? '')) n += 1;
  }
  return -1;
}

/**
 * Checks that every option exists, and has a value where it takes one; yargs would guess.
 * @param tokens without what comes after `--`
 * @throws UsageError
 */
export function checkOptions(tokens: readonly string[], options: readonly Option[]): void {
  tokens.forEach((token, n) => {
    if (!isOption(token)) return;
    const option = findOption(token, options);
    if (option === undefined) throw unknownOption(token, options);
    const [flag = token] = /^--[^=]+/.exec(token) ?? [option.long];
    if (option.takes === undefined) {
      if (token.includes('=')) throw argumentError(`${flag} takes no value: give it alone, or leave it out`);
      if (!token.startsWith('--') && token !== option.short) throw unknownOption(token, options);
      return;
    }
    if (token !== option.long && token !== option.short) return;
    const next = tokens[n + 1];
    if (next !== undefined && !isOption(next)) return;
    if (next !== undefined) option.read?.(next, option.long);
    throw argumentError(`${option.long} needs a value: ${option.long} ${option.takes}`);
  });
}

/** @param token the value given to an option that does not exist may be a secret, so it is not repeated */
function unknownOption(token: string, options: readonly Option[]): Error {
  const name = token.replace(/=.*/s, '');
  const near = name.startsWith('--')
    ? suggestion(
        name,
        options.map(({ long }) => long),
      )
    : '';
  return argumentError(`no option is called "${name}"${near}`);
}

/** Assigns the arguments of a command to their names. @throws UsageError for one too few, too many, or not of its choices */
export function nameArguments(
  command: string,
  usage: Usage,
  given: readonly string[],
): Record<string, string | readonly string[]> {
  const named: Record<string, string | readonly string[]> = {};
  const declared = listArguments(usage);
  declared.forEach((argument, n) => {
    const { name, required, rest } = argument;
    if (required && given[n] === undefined) throw argumentError(`<${name}> is missing`);
    if (rest) named[name] = given.slice(n);
    else if (given[n] !== undefined) named[name] = requireChoice(argument, `<${name}>`, given[n]);
  });
  const max = declared.length;
  if (given.length > max && !declared.some(({ rest }) => rest)) {
    const takes = max === 0 ? 'no arguments' : `${max} argument${max === 1 ? '' : 's'}`;
    throw argumentError(`${command} takes ${takes}, not ${given.length}`);
  }
  return named;
}

/** @param what as the message names it @throws UsageError */
export function requireChoice({ choices }: Pick<Argument, 'choices'>, what: string, value: string): string {
  if (choices === undefined || choices.includes(value)) return value;
  const list = choices.join(', ').replace(/, ([^,]+)$/, ' or $1');
  throw argumentError(`${what} takes ${list}, not "${value}"`);
}
