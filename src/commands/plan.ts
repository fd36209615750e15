import { readNamedJobs } from '../jobs/refresh-job.ts';
import { exists } from '../landing/segment-files.ts';
import { checkLake } from '../run/export-stage.ts';
import { type JobPlan, planJobs } from '../run/plan-jobs.ts';
import { readMonthlyLeft } from '../run/run-client.ts';
import { readRunLog } from '../run/run-log.ts';
import { readRunning } from '../run/run-state.ts';
import { untilStopped } from '../stop-signals.ts';
import { isSnapshotMissing, requireSnapshot } from '../warehouse/open-snapshot.ts';
import { type Context, type GlobalArgs, openContext } from './context.ts';
import { requireUrls } from './endpoints.ts';
import { type Month, renderPlan, sumPlan } from './plan-text.ts';
import type { Usage } from './usage.ts';

export interface PlanArgs extends GlobalArgs {
  job: string[];
  fullRefresh: boolean;
}

/** Arguments and options of `ledgerlake plan`. */
export const usage: Usage = {
  arguments: { '[job...]': 'Jobs to plan (default: all)' },
  options: { '--full-refresh': 'As run --full-refresh would: everything anew' },
  examples: {
    'ledgerlake plan': 'What the next run would request and cost',
    'ledgerlake plan --json | jq .credits': 'For a script',
  },
  notes:
    'A range stands where the last crawl does not tell how much there is: the lines below the table say why.',
};

/** `ledgerlake plan [job…]`: asks the API nothing and writes nothing. */
export async function execute(args: PlanArgs): Promise<number> {
  const context = await openContext(args, { asks: false });
  const { plan, month } = await untilStopped((signal) => planNamedJobs(context, args, signal));
  context.print(renderPlan(plan, month), describePlan(plan, month));
  return 0;
}

/** The plan as `--json` has it. Pure. */
export function describePlan(plan: readonly JobPlan[], month: Month) {
  return { jobs: plan, ...sumPlan(plan), creditsLeft: month.left };
}

/** What a run of the jobs that are named, or all, would ask for; prints nothing. @throws UsageError */
export async function planNamedJobs(
  context: Context,
  args: Pick<PlanArgs, 'job' | 'fullRefresh'>,
  signal?: AbortSignal,
): Promise<{ plan: JobPlan[]; month: Month }> {
  const jobs = await readNamedJobs(context.jobsDir, args.job);
  requireUrls(context.config, jobs);
  await checkLake(context);
  const { folder } = context;
  const running = await readRunning(folder, (await readRunLog(folder.runs)).at(-1));
  // Without it everything would be planned as if it were new. The first run makes it as it ends.
  if (running === null && (await isSnapshotMissing(folder))) await requireSnapshot(folder.snapshot);
  const hasSnapshot = await exists(folder.snapshot);
  const asked = { areNamed: args.job.length > 0, fullRefresh: args.fullRefresh };
  const plan = await planJobs(jobs, context.config, folder, hasSnapshot, asked, signal);
  return { plan, month: await readMonth(context) };
}

/** The month's budget, and what of it is left. */
export async function readMonth({ config, folder }: Pick<Context, 'config' | 'folder'>): Promise<Month> {
  return { credits: config.monthlyCredits, left: await readMonthlyLeft({ config, folder }) };
}
