import { durationForms, parseDuration } from '../duration.ts';
import { UsageError } from '../errors.ts';
import type { BudgetLimits } from '../run/budget.ts';
import type { AcceptArgs } from './accept-options.ts';
import type { GlobalArgs } from './context.ts';
import { readPath, type Usage } from './usage.ts';

/** Arguments of the verbs that ask the API. */
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

/** Options that bound what a run may spend. Text until `readBudget`, which says what each of them takes. */
export const budgetOptions = {
  '--max-requests <n>': 'Stop after so many requests, retries included; the next run continues',
  '--max-credits <n>': 'Stop before more credits than this are spent; the next run continues',
  '--until <duration>': 'Stop after this time: 90s, 1h30m, 2d; the next run continues',
  '--full-refresh': 'Ask for everything of the jobs named anew, whatever was crawled before',
  '--dry-run': 'Only say what it would ask for and cost, as plan does',
  '--yes': 'Do not ask before it spends more than is left of the month, or ten times what the last run did',
  '--metrics-file <path>': { describe: 'Write how it ended for Prometheus to read', read: readPath },
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
  const most = /^\d+$/.test(text) ? ' up to 999999999999999' : '';
  throw new UsageError(`${option} takes a whole number${most}, not "${text}"`, `For example: ${option} 1000`);
}

/** @param option what was given, for the message @throws UsageError */
export function readDuration(option: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== null) return ms;
  throw new UsageError(
    `${option} takes a duration, not "${text}"`,
    `Durations are ${durationForms}. For example: ${option} 6h`,
  );
}
