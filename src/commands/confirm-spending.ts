import { UsageError } from '../errors.ts';
import type { Job } from '../jobs/job.ts';
import { exists } from '../landing/segment-files.ts';
import { planJobs } from '../run/plan-jobs.ts';
import { readRuns } from '../run/read-runs.ts';
import { readRunLog } from '../run/run-log.ts';
import { untilStopped } from '../stop-signals.ts';
import { formatCount } from '../words.ts';
import type { Context } from './context.ts';
import { readMonth, renderPlan, sumPlan } from './plan.ts';
import { askYes } from './stdio.ts';
import { terminalWidth } from './text-table.ts';

/** A run that costs this many times what the last one did is confirmed first. */
const unusualFactor = 10;

interface Spending {
  /** The plan's minimum. */
  requests: number;
  credits: number;
  /** What the run may spend at most, by its options; null: no limit. */
  maxRequests: number | null;
  maxCredits: number | null;
  /** Credits left of the month; null: no budget. */
  monthlyLeft: number | null;
  /** What the last run cost; null: there was none. */
  lastCredits: number | null;
}

/** Why a run needs a yes; null: its cost is usual, or bounded. Pure. */
export function describeExcess(spending: Spending): string | null {
  const { requests, maxRequests, maxCredits, monthlyLeft, lastCredits } = spending;
  const perRequest = requests === 0 ? 0 : spending.credits / requests;
  const bounds = [maxCredits, maxRequests === null ? null : maxRequests * perRequest];
  const credits = Math.min(spending.credits, ...bounds.filter((bound) => bound !== null));
  const spends = `this run is to spend ${formatCount(Math.round(credits))} credits or more`;
  if (monthlyLeft !== null && credits > monthlyLeft)
    return `${spends}, and this month has ${formatCount(monthlyLeft)} left: it would stop there`;
  if (lastCredits !== null && lastCredits > 0 && credits >= unusualFactor * lastCredits)
    return `${spends}, the last one spent ${formatCount(lastCredits)}`;
  return null;
}

/**
 * On a terminal, asks before a run spends more than the month has left, or ten times what the last run did.
 * @throws UsageError for any answer but yes
 */
export async function confirmSpending(
  context: Context,
  jobs: readonly Job[],
  args: {
    job: string[];
    fullRefresh: boolean;
    yes: boolean;
    maxRequests: number | null;
    maxCredits: number | null;
  },
): Promise<void> {
  const { config, folder } = context;
  if (args.yes || config.sandbox || !process.stdin.isTTY || !process.stderr.isTTY) return;
  const planOptions = { mayBeginRound: args.job.length > 0, fullRefresh: args.fullRefresh };
  const hasSnapshot = await exists(folder.snapshot);
  const plan = await untilStopped((signal) =>
    planJobs(jobs, config, folder, hasSnapshot, planOptions, signal),
  );
  const month = await readMonth(context);
  const why = describeExcess({
    ...sumPlan(plan),
    ...{ maxRequests: args.maxRequests, maxCredits: args.maxCredits, monthlyLeft: month.left },
    lastCredits: await readLastCredits(context),
  });
  if (why !== null) await askYes(`${renderPlan(plan, month, terminalWidth())}\n${why}.\nContinue?`, notSpent);
}

const declined = new UsageError('no request was sent', 'Add --yes to run without this question.');
/** The errors where a cost is not confirmed. */
export const notSpent = { declined, unattended: declined };

/** Credits of the last finished run that spent any. */
async function readLastCredits({ folder }: Context): Promise<number | null> {
  if ((await readRunLog(folder.runs)).length === 0) return null;
  const runs = await readRuns(folder, 20, Date.now());
  return runs.find(({ state, credits }) => state === 'ended' && credits > 0)?.credits ?? null;
}
