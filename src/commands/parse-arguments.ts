import yargs, { type Argv } from 'yargs';
import { checkOptions, nameArguments, requireChoice } from './check-arguments.ts';
import { programName, programOptions } from './program.ts';
import { listOptions, type Option, type Usage } from './usage.ts';

/**
 * Reads the arguments of one command.
 * @param tokens without the command's name
 * @returns options and arguments by their names, `--max-requests` as `maxRequests`
 * @throws UsageError that says what is wrong with them
 */
export function parseArguments(
  command: string,
  usage: Usage,
  tokens: readonly string[],
): Record<string, unknown> {
  const options = [...listOptions(usage), ...programOptions];
  const end = tokens.includes('--') ? tokens.indexOf('--') : tokens.length;
  checkOptions(tokens.slice(0, end), options);
  const expanded = tokens.map((token, n) => (n < end ? expandShort(token, options) : token));
  const { _: positional, ...values } = createParser(options, expanded).parseSync();
  const args: Record<string, unknown> = {};
  for (const option of options) {
    const value = readValue(option, values[option.name]);
    if (value !== undefined) args[camelCase(option.name)] = value;
  }
  return { ...args, ...nameArguments(command, usage, positional.map(String)) };
}

/** A parser of these options. Every value stays text; arguments are collected, not checked. */
export function createParser(options: readonly Option[], tokens: readonly string[]): Argv {
  const parser = yargs([...tokens])
    .scriptName(programName)
    .locale('en')
    .help(false)
    .version(false)
    .exitProcess(false)
    .parserConfiguration({
      // An id or an amount is text, however much it looks like a number.
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'camel-case-expansion': false,
      'dot-notation': false,
    });
  for (const { name, long, takes, describe } of options)
    parser.option(
      name,
      takes === undefined
        ? { describe, type: 'boolean', default: long !== `--${name}` }
        : { describe, type: 'string', nargs: NaN },
    );
  return parser;
}

/** `-fa.sql` as `--file=a.sql`, `-f` as `--file`. */
function expandShort(token: string, options: readonly Option[]): string {
  const option = options.find(({ short }) => short !== undefined && token.startsWith(short));
  if (option === undefined) return token;
  const rest = token.slice(2);
  return rest === '' ? option.long : `${option.long}=${rest}`;
}

/** @param given what the parser found: an option given more than once is a list */
function readValue(option: Option, given: unknown): unknown {
  const { long, takes, read, repeat, default: fallback } = option;
  if (takes === undefined) return given;
  const texts = given === undefined ? [] : ([given].flat() as string[]);
  const values = texts.map((text) => {
    requireChoice(option, long, text);
    return read === undefined ? text : read(text, long);
  });
  if (repeat) return values.length === 0 ? undefined : values;
  return values.at(-1) ?? fallback;
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
