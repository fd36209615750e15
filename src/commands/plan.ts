import { readJobs } from '../jobs/job-file.ts';
import { exists } from '../landing/segment-files.ts';
import { checkLake } from '../pipeline/export-stage.ts';
import { type JobPlan, planJobs } from '../pipeline/plan-jobs.ts';
import { readMonthlyLeft } from '../pipeline/run-client.ts';
import { readRunLog } from '../pipeline/run-log.ts';
import { readRunning } from '../pipeline/run-state.ts';
import { untilStopped } from '../stop-signals.ts';
import { isSnapshotMissing, requireSnapshot } from '../warehouse/open-snapshot.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { requireUrls } from './endpoints.ts';
import type { Usage } from './usage.ts';

interface PlanArgs extends GlobalArgs {
  job: string[];
  fullRefresh: boolean;
}

/** Arguments and options of `ledgerlake plan`. */
export const usage: Usage = {
  arguments: { '[job...]': 'Jobs to plan (default: all)' },
  options: { '--full-refresh': 'As run --full-refresh would: everything anew' },
  examples: { 'ledgerlake plan': 'What the next run would ask for and cost' },
};

/** `ledgerlake plan [job…]`: asks the API nothing and writes nothing. */
export async function execute(args: PlanArgs): Promise<number> {
  const context = await openContext(args, { asks: false });
  const jobs = await readJobs(context.jobsDir, args.job);
  requireUrls(context.config, jobs);
  await checkLake(context);
  const { folder } = context;
  const running = await readRunning(folder, (await readRunLog(folder.runs)).at(-1));
  // Without it everything would be planned as if it were new. The first run makes it as it ends.
  if (running === null && (await isSnapshotMissing(folder))) await requireSnapshot(folder.snapshot);
  const hasSnapshot = await exists(folder.snapshot);
  const asked = { areNamed: args.job.length > 0, fullRefresh: args.fullRefresh };
  const plan = await untilStopped((signal) =>
    planJobs(jobs, context.config, folder, hasSnapshot, asked, signal),
  );
  const creditsLeft = await readMonthlyLeft(context);
  context.print(renderPlan(plan, creditsLeft), { jobs: plan, ...sumPlan(plan), creditsLeft });
  return 0;
}

function sumPlan(plan: readonly JobPlan[]) {
  const sum = (field: 'tasks' | 'requests' | 'credits' | 'seconds' | 'diskBytes') =>
    Math.round(1000 * plan.reduce((total, job) => total + (job[field] ?? 0), 0)) / 1000;
  return {
    tasks: sum('tasks'),
    requests: sum('requests'),
    credits: sum('credits'),
    seconds: sum('seconds'),
    diskBytes: sum('diskBytes'),
    unknown: plan.filter((job) => isLeast(job) || job.waitsFor !== null).map((job) => job.job),
  };
}

/** Whether the job may ask for more than its plan says. */
function isLeast({ unknown, growsWith }: JobPlan): boolean {
  return unknown > 0 || growsWith.length > 0;
}

/** What a person reads. Pure. @param creditsLeft of the billing month; null: no limit is configured */
export function renderPlan(plan: readonly JobPlan[], creditsLeft: number | null): string {
  const lines = plan.map((job) => {
    if (job.waitsFor !== null)
      return `${job.job}: its targets are known when ${job.waitsFor} has been published`;
    const parts = [`${job.tasks} tasks`];
    if (job.incremental > 0) parts.push(`${job.incremental} only for what changed`);
    if (job.open > 0) parts.push(`${job.open} go on`);
    parts.push(`${isLeast(job) ? 'at least ' : 'about '}${job.requests} requests`, `${job.credits} credits`);
    if (job.seconds !== null) parts.push(`${Math.ceil(job.seconds)} s at ${job.rps} requests/s`);
    if (job.diskBytes > 0) parts.push(`${Math.ceil(job.diskBytes / 1e6)} MB landing`);
    if (job.unknown > 0) parts.push(`${job.unknown} never crawled: their size is unknown`);
    if (job.targetsLeftOut > 0)
      parts.push(`${job.targetsLeftOut} lines of its target file are no targets: \`ledgerlake jobs check\``);
    if (job.growsWith.length > 0)
      parts.push(`more for new targets that ${job.growsWith.join(', ')} will bring`);
    return `${job.job}: ${parts.join(', ')}`;
  });
  const total = sumPlan(plan);
  lines.push(
    `total: ${total.tasks} tasks, ${total.unknown.length > 0 ? 'at least ' : 'about '}${total.requests} requests, ${total.credits} credits`,
  );
  if (creditsLeft !== null) {
    const stops =
      total.credits > creditsLeft ? ': the run stops when they are spent (exit 75), and goes on later' : '';
    lines.push(`left of api.monthly_credits in this billing month: ${creditsLeft} credits${stops}`);
  }
  return lines.join('\n');
}
