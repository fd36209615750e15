import { durationForms, parseDuration } from '../duration.ts';
import { UsageError } from '../errors.ts';
import type { Job } from '../jobs/job.ts';
import { resolveTargets } from '../jobs/targets.ts';
import { type Accepted, type Guard, guards, makeAccepted } from '../publish/accepted.ts';
import type { BudgetLimits } from '../run/budget.ts';
import type { GlobalArgs } from './context.ts';
import { readPath, type Usage } from './usage.ts';

/** Arguments of `run` and `crawl`. */
export interface RunArgs extends GlobalArgs, AcceptArgs {
  job: string[];
  maxRequests?: string;
  maxCredits?: string;
  until?: string;
  fullRefresh: boolean;
  dryRun: boolean;
  yes: boolean;
  metricsFile?: string;
}

export const jobsToRun = { '[job...]': 'Jobs to run (default: all)' };

/** Options that bound what a run may spend; `readBudget` parses them. */
export const budgetOptions = {
  '--max-requests <n>': 'Stop after so many requests, retries included; the next run continues',
  '--max-credits <n>': 'Stop before more credits than this are spent; the next run continues',
  '--until <duration>': 'Stop after this time: 90s, 1h30m, 2d; the next run continues',
  '--full-refresh': 'Crawl all of the named jobs again, whatever was crawled before',
  '--dry-run': 'Only show what it would request and cost, as plan does',
  '--yes': 'Do not ask before spending more than the month has left, or ten times what the last run did',
  '--metrics-file <path>': { describe: 'Write the outcome to this file, for Prometheus', read: readPath },
} satisfies Usage['options'];

/** @throws UsageError for an invalid budget */
export function readBudget(
  args: Pick<RunArgs, 'maxRequests' | 'maxCredits' | 'until'>,
  now: number,
): Omit<BudgetLimits, 'monthlyLeft'> {
  return {
    maxRequests: readCount('--max-requests', args.maxRequests),
    maxCredits: readCount('--max-credits', args.maxCredits),
    until: args.until === undefined ? null : now + readDuration('--until', args.until),
  };
}

function readCount(option: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  // Read as a number, an empty variable of a script would be a budget of 0.
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const range = /^\d+$/.test(text) ? ' up to 999999999999999' : '';
  throw new UsageError(
    `${option} takes a whole number${range}, not "${text}"`,
    `For example: ${option} 1000`,
  );
}

/** @returns milliseconds @param option its name, for the message @throws UsageError */
export function readDuration(option: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== null) return ms;
  throw new UsageError(
    `${option} takes a duration, not "${text}"`,
    `Durations are ${durationForms}. For example: ${option} 6h`,
  );
}

/** Arguments that let a guard pass: `--accept-vanished` and the like. */
export type AcceptArgs = { [guard in Guard as `accept${Capitalize<guard>}`]?: string[] };

interface AcceptOption {
  /** What help shows behind the option: a target of a job, or a column of its table. */
  takes: 'target' | 'column';
  description: string;
}

const acceptOption: Readonly<Record<Guard, AcceptOption>> = {
  vanished: {
    takes: 'target',
    description: 'Publish this job, or job/target, although so many rows vanished',
  },
  blank: {
    takes: 'column',
    description: 'Publish this job, or job/column, although so many fields became empty',
  },
  quarantine: {
    takes: 'target',
    description: 'Publish this job, or job/target, without the records that were quarantined',
  },
  rollback: {
    takes: 'target',
    description: 'Publish this job, or job/target, although its source went back to lower slots',
  },
  ahead: {
    takes: 'target',
    description: 'Publish this job, or job/target, although its slot is further ahead than the time allows',
  },
};

/** An option for each guard. */
export const acceptOptions: NonNullable<Usage['options']> = Object.fromEntries(
  guards.map((guard) => {
    const { takes, description } = acceptOption[guard];
    const describe = `${description}; may be repeated`;
    return [`${nameOf(guard)} <${takes}>`, { describe, repeat: true as const }];
  }),
);

function nameOf(guard: Guard): string {
  return `--accept-${guard}`;
}

/**
 * Reads what the guards let pass: a job of the run, or a target of one. Targets from SQL are checked by the run, columns by
 * the guard.
 * @throws UsageError for a job that the run is not for, or a target that the job does not have
 */
export async function readAccepted(args: AcceptArgs, jobs: readonly Job[]): Promise<Accepted> {
  const accepted = makeAccepted((guard) => listAccepted(args, guard));
  for (const guard of guards)
    for (const value of accepted[guard]) await requireAcceptable(guard, value, jobs);
  return accepted;
}

/** The values given for one guard's option. */
export function listAccepted(args: AcceptArgs, guard: Guard): readonly string[] {
  return args[`accept${capitalize(guard)}`] ?? [];
}

function capitalize<T extends string>(text: T): Capitalize<T> {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}` as Capitalize<T>;
}

async function requireAcceptable(guard: Guard, value: string, jobs: readonly Job[]): Promise<void> {
  const { takes } = acceptOption[guard];
  const [name = '', ...part] = value.split('/');
  const job = jobs.find((job) => job.name === name);
  if (job === undefined)
    throw new UsageError(
      `${nameOf(guard)} takes a job of this run, or job/${takes}, not "${value}"`,
      `Jobs of this run: ${jobs.map(({ name }) => name).join(', ')}.`,
    );
  if (takes === 'target' && part.length > 0 && job.forEach?.kind !== 'sql')
    await requireTarget(guard, job, part.join('/'));
}

async function requireTarget(guard: Guard, job: Job, target: string): Promise<void> {
  const names = (
    await resolveTargets(
      job,
      async () => [],
      () => undefined,
    )
  ).map(({ name }) => name);
  if (names.includes(target)) return;
  const shown = names.filter((name) => name !== '').slice(0, 10);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  throw new UsageError(
    `${nameOf(guard)}: job ${job.name} has no target "${target}"`,
    shown.length === 0
      ? `It is one target: ${nameOf(guard)} ${job.name}.`
      : `Its targets are ${shown.join(', ')}${more}.`,
  );
}
