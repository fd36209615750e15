import { basename } from 'node:path';
import { asDiskError, isOutOfMemory, LedgerlakeError } from '../errors.ts';
import { printFailure } from '../json-output.ts';
import { quoteForShell } from '../shell-words.ts';
import { visibleLines } from './visible-text.ts';

/** Prints a failure once, with what to do about it, and returns the exit code. */
export function reportFailure(failure: unknown): number {
  const error = asDiskError(failure);
  const { text, exitCode } = describeFailure(error);
  process.stderr.write(`ledgerlake: ${text}\n`);
  printFailure(error, exitCode);
  return exitCode;
}

function describeFailure(error: unknown): { text: string; exitCode: number } {
  if (error instanceof LedgerlakeError) {
    const { message, hint, exitCode } = error;
    return { text: `${visibleLines(message)}\n  ${asCalled(visibleLines(hint))}`, exitCode };
  }
  if (isOutOfMemory(error)) {
    const hint = 'Raise warehouse.memory_limit in ledgerlake.yaml; nothing received is lost.';
    return { text: `${error.message.split('\n')[0]}\n  ${hint}`, exitCode: 1 };
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const hint = 'This is a bug; please report it with the text above.';
  return { text: `unexpected: ${visibleLines(text)}\n  ${hint}`, exitCode: 1 };
}

/** Commands that a hint may name: those of command-list.ts, which cannot be imported here, because commands import this file. */
export const hintedCommands = [
  ...[
    'run',
    'crawl',
    'load',
    'publish',
    'export',
    'plan',
    'status',
    'check',
    'source',
    'runs',
    'sql',
    'call',
  ],
  ...[
    'webhook',
    'methods',
    'tables',
    'explain',
    'quarantine',
    'doctor',
    'clean',
    'reload',
    'rebuild',
    'state',
  ],
  ...['init', 'jobs', 'sandbox', 'completion', 'serve', 'worker', 'lake', 'report', 'forget'],
];

/** Commands that read neither config nor data folder, so hints name them without `--data-dir` and the like. */
const placeless = ['methods', 'tables', 'init', 'sandbox', 'completion', '--help'];

/** A command in a text: its name, its action, and the rest of its line up to a semicolon or backquote. */
const command = new RegExp(
  `(?<![\\w/.-]|npx )ledgerlake (${hintedCommands.join('|')}|--help)\\b((?: (?:list|show|retry|check|reset|move|enable|disable|install|vacuum)\\b)?)([^\\n\`;]*)`,
  'g',
);

/** The options by which this process finds its project, as they were given. */
let givenOptions: readonly [name: string, value: string | null][] = [];

interface GivenArgs {
  config?: string;
  env?: string;
  dataDir?: string;
  jobsDir: string;
  sample?: boolean;
}

/** Remembers the options that the commands in later texts need as well. */
export function rememberGiven({ config, env, dataDir, jobsDir, sample }: GivenArgs): void {
  const options: [string, string | null | undefined][] = [
    ['--config', config],
    ['--env', env],
    ['--data-dir', dataDir],
    ['--jobs-dir', jobsDir === 'jobs' ? undefined : jobsDir],
    ['--sample', sample ? null : undefined],
  ];
  givenOptions = options.filter((option): option is [string, string | null] => option[1] !== undefined);
}

/** Whether `npx ledgerlake` started this process: in a clone nothing is on the PATH. */
function isByNpx(env: NodeJS.ProcessEnv): boolean {
  return env.npm_lifecycle_event === 'npx' && /^'?ledgerlake\b/.test(env.npm_lifecycle_script ?? '');
}

/** Whether the program was started by its name, so that a shell finds it. */
export function isOnPath(env: NodeJS.ProcessEnv = process.env, script = process.argv[1] ?? ''): boolean {
  return !isByNpx(env) && /^ledgerlake(\.cmd)?$/.test(basename(script));
}

/**
 * Makes the commands in a text ready to paste: `npx ledgerlake …` where npx started the program, and with the options by which
 * this process found its project.
 */
export function asCalled(text: string, env: NodeJS.ProcessEnv = process.env): string {
  const program = isByNpx(env) ? 'npx ledgerlake' : 'ledgerlake';
  return text.replace(command, (_, name: string, action: string, rest: string) => {
    const options = placeless.includes(name)
      ? []
      : givenOptions.filter(([option]) => !rest.includes(`${option} `));
    const words = options.map(([option, value]) =>
      value === null ? ` ${option}` : ` ${option} ${quoteForShell(value)}`,
    );
    return `${program} ${name}${action}${words.join('')}${rest}`;
  });
}
