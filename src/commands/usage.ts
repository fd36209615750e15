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
  /** Makes a value of the text; the text itself is the value without it. @throws UsageError */
  read?: (text: string, option: string) => unknown;
  /** May be given again: its value is a list. */
  repeat?: true;
}

/** An argument of a command, its form read. */
export interface Argument extends ArgumentSpec {
  form: string;
  name: string;
  required: boolean;
  rest: boolean;
}

/** An option, its form read. */
export interface Option extends OptionSpec {
  form: string;
  /** Without dashes; `--no-progress` is `progress`. */
  name: string;
  /** As it is typed: `--no-progress`. */
  long: string;
  /** `-f` */
  short?: string;
  /** `<path>`; none for one that takes no value. */
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
