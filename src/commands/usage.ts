import { UsageError } from '../errors.ts';
import type { GlobalArgs } from './context.ts';

/** What the file named after a command exports; `run` and `crawl`, which differ in a word, are both in run-jobs.ts. */
export interface CommandModule {
  /** The command's own arguments, options and examples. */
  usage: Usage;
  /**
   * @param args options and arguments by their names
   * @returns the exit code; failures are thrown
   */
  execute(args: GlobalArgs & never): Promise<number>;
}

export interface CommandEntry {
  name: string;
  describe: string;
  /** Loaded only when the command is chosen, so that --version and --help start fast. */
  load(): Promise<CommandModule>;
}

/**
 * What a command takes, declared once: the parser, `--help`, the reference and completion all read it.
 * Names come as they are typed: `[job...]`, `<id>`; `-f, --file <path>`, `--dry-run`, `--no-progress`.
 */
export interface Usage {
  /** In their order. `<…>` is required, `[…]` is not, `[…...]` takes the rest. */
  arguments?: Readonly<Record<string, string | ArgumentSpec>>;
  /** An option that takes no value is false until it is given; `--no-x` is `x`, true until it is given. */
  options?: Readonly<Record<string, string | OptionSpec>>;
  /** What it does, by command line: the end of `--help`. */
  examples: Readonly<Record<string, string>>;
  notes?: string;
}

interface ArgumentSpec {
  describe: string;
  choices?: readonly string[];
}

interface OptionSpec extends ArgumentSpec {
  default?: string | number;
  /** Converts the text to a value; without it, the value is the text. @throws UsageError */
  read?: (text: string, option: string) => unknown;
  /** May be repeated: its value is a list. */
  repeat?: true;
}

/** An argument of a command, as its declaration says. */
export interface Argument extends ArgumentSpec {
  form: string;
  name: string;
  required: boolean;
  rest: boolean;
}

/** An option, as its declaration says. */
export interface Option extends OptionSpec {
  form: string;
  /** Without dashes; `--no-progress` is `progress`. */
  name: string;
  /** As it is typed: `--no-progress`. */
  long: string;
  /** `-f` */
  short?: string;
  /** `<path>`; absent where it takes no value. */
  takes?: string;
}

/** The arguments, in their order. */
export function listArguments({ arguments: declared = {} }: Usage): Argument[] {
  return Object.entries(declared).map(([form, spec]) => ({
    form,
    name: form.replace(/[^\w-]/g, ''),
    required: form.startsWith('<'),
    rest: form.includes('...'),
    ...describedBy(spec),
  }));
}

/** The options, in their order. */
export function listOptions({ options = {} }: Pick<Usage, 'options'>): Option[] {
  return Object.entries(options).map(([form, spec]) => {
    const [, short, long = '', takes] = /^(?:(-\w), )?(--[\w-]+)(?: (<[\w-]+>))?$/.exec(form) ?? [];
    return {
      form,
      name: long.replace(/^--(no-)?/, ''),
      long,
      ...(short === undefined ? {} : { short }),
      ...(takes === undefined ? {} : { takes }),
      ...describedBy(spec),
    };
  });
}

function describedBy<T extends { describe: string }>(spec: string | T): T | { describe: string } {
  return typeof spec === 'string' ? { describe: spec } : spec;
}

/** What to do about invalid arguments. */
const hint =
  'ledgerlake --help lists the commands, ledgerlake <command> --help its options: they come after its name, and what only looks like one after --.';

/** An error about invalid arguments, of any command. */
export function argumentError(message: string): UsageError {
  return new UsageError(message, hint);
}

/**
 * A path given to an option. An empty variable of a script would name the wrong folder; one that is left out altogether
 * makes the next option the value.
 * @throws UsageError that says what the option takes
 */
export function readPath(text: string, option: string): string {
  if (text === '') throw argumentError(`${option} takes a path, not ""`);
  if (/^-./.test(text))
    throw argumentError(`${option} takes a path (one that begins so is written ./${text}), not "${text}"`);
  return text;
}

/** A number given to an option; the command checks its range. @throws as readPath */
export function readNumber(text: string, option: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isNaN(value)) throw argumentError(`${option} takes a number, not "${text}"`);
  return value;
}
