import { basename } from 'node:path';

/** Commands that a hint may name. */
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

const command = new RegExp(`(?<![\\w/.-]|npx )ledgerlake (?=(${hintedCommands.join('|')}|--help)\\b)`, 'g');

/** Whether `npx ledgerlake` started this process: in a clone nothing is on the PATH. */
function isByNpx(env: NodeJS.ProcessEnv): boolean {
  return env.npm_lifecycle_event === 'npx' && /^'?ledgerlake\b/.test(env.npm_lifecycle_script ?? '');
}

/** Whether a shell finds the program by its name, as far as the way it was started tells. */
export function isOnPath(env: NodeJS.ProcessEnv = process.env, script = process.argv[1] ?? ''): boolean {
  return !isByNpx(env) && /^ledgerlake(\.cmd)?$/.test(basename(script));
}

/** A text for people with the commands in it as they can be pasted: `npx ledgerlake …` where the program was started so. */
export function asCalled(text: string, env: NodeJS.ProcessEnv = process.env): string {
  return isByNpx(env) ? text.replace(command, 'npx ledgerlake ') : text;
}
