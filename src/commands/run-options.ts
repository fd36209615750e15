import { durationForms, parseDuration } from '../duration.ts';
import { UsageError } from '../errors.ts';
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

export const jobsToRun = { '[job...]': 'Jobs to run, or job/target (default: all)' };

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

/** Ids of refusals that are to be accepted. */
export interface AcceptArgs {
  accept?: string[];
}

export const acceptOption = {
  '--accept <refusal>': {
    describe:
      'Publish what this refusal held back, and no more; its id is in the report of the run; may be repeated',
    repeat: true,
  },
} satisfies Usage['options'];
