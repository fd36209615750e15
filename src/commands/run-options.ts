import type { Command } from 'commander';
import { UsageError } from '../errors.ts';
import type { Job } from '../jobs/job-file.ts';
import { resolveTargets } from '../jobs/targets.ts';
import type { BudgetLimits } from '../pipeline/budget.ts';
import type { GlobalArgs } from './context.ts';

/** Arguments of the verbs that ask the API. */
export interface RunArgs extends GlobalArgs {
  job: string[];
  maxRequests?: string;
  maxCredits?: string;
  until?: string;
  acceptVanished?: string[];
}

/** Options that bound what a run may spend. Text until `readBudget`, which says what each of them takes. */
export function budgetOptions(command: Command): Command {
  return command
    .argument('[job...]', 'Jobs to run (default: all)')
    .option('--max-requests <n>', 'Stop, resumably, after so many requests (retries count)')
    .option('--max-credits <n>', 'Stop, resumably, before more credits than this are spent')
    .option('--until <duration>', 'Stop, resumably, after this time: 90s, 30m, 6h');
}

const unitMs = { s: 1000, m: 60_000, h: 3_600_000 } as const;

/** @throws UsageError for a budget that cannot be meant */
export function readBudget(args: RunArgs, now: number): Omit<BudgetLimits, 'monthlyLeft'> {
  return {
    maxRequests: readCount('--max-requests', args.maxRequests),
    maxCredits: readCount('--max-credits', args.maxCredits),
    until: args.until === undefined ? null : now + readDuration(args.until),
  };
}

function readCount(option: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  // Read as a number, an empty variable of a script would be a budget of 0.
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`${option} takes a whole number, not "${text}"`, `For example: ${option} 1000`);
}

function readDuration(text: string): number {
  const [, amount, unit] = /^(\d+)([smh])$/.exec(text) ?? [];
  if (amount === undefined)
    throw new UsageError(`--until takes a duration, not "${text}"`, 'For example: --until 6h');
  return Number(amount) * unitMs[unit as keyof typeof unitMs];
}

/**
 * `--accept-vanished <job>[/<target>]`. Targets that come from tables are known to the run alone.
 * @throws UsageError for a job that the run is not for, or a target that the job has not
 */
export async function readAccepted(
  values: readonly string[],
  jobs: readonly Job[],
): Promise<readonly string[]> {
  for (const value of values) {
    const [name = '', ...target] = value.split('/');
    const job = jobs.find((job) => job.name === name);
    if (job === undefined)
      throw new UsageError(
        `--accept-vanished takes a job of this run, or job/target, not "${value}"`,
        `Jobs of this run: ${jobs.map(({ name }) => name).join(', ')}.`,
      );
    if (target.length > 0 && job.forEach?.kind !== 'sql') await requireTarget(job, target.join('/'));
  }
  return values;
}

async function requireTarget(job: Job, target: string): Promise<void> {
  const names = (await resolveTargets(job, async () => [])).map(({ name }) => name);
  if (names.includes(target)) return;
  const shown = names.filter((name) => name !== '').slice(0, 10);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  throw new UsageError(
    `--accept-vanished: job ${job.name} has no target "${target}"`,
    shown.length === 0
      ? `It is one target: --accept-vanished ${job.name}.`
      : `Its targets are ${shown.join(', ')}${more}.`,
  );
}
