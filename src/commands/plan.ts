import { readNamedJobs } from '../jobs/job-file.ts';
import { exists } from '../landing/segment-files.ts';
import { checkLake } from '../run/export-stage.ts';
import { type JobPlan, planJobs } from '../run/plan-jobs.ts';
import { readMonthlyLeft } from '../run/run-client.ts';
import { readRunLog } from '../run/run-log.ts';
import { readRunning } from '../run/run-state.ts';
import { untilStopped } from '../stop-signals.ts';
import { isSnapshotMissing, requireSnapshot } from '../warehouse/open-snapshot.ts';
import { countOf, formatBytes, formatCount, formatSeconds, jobTitle } from '../words.ts';
import { type Context, type GlobalArgs, openContext } from './context.ts';
import { requireUrls } from './endpoints.ts';
import { formatTable, terminalWidth } from './text-table.ts';
import type { Usage } from './usage.ts';
import { wrapText } from './visible-text.ts';

export interface PlanArgs extends GlobalArgs {
  job: string[];
  fullRefresh: boolean;
}

/** Arguments and options of `ledgerlake plan`. */
export const usage: Usage = {
  arguments: { '[job...]': 'Jobs to plan, or job/target (default: all)' },
  options: { '--full-refresh': 'Plan for run --full-refresh: crawl everything again' },
  examples: {
    'ledgerlake plan': 'What the next run would request and cost',
    'ledgerlake plan --json | jq .credits': 'For a script',
  },
  notes:
    'A range means that the last crawl does not show how much there is; the lines below the table say why.',
};

/** `ledgerlake plan [job…]`: sends no request and writes nothing. */
export async function execute(args: PlanArgs): Promise<number> {
  const context = await openContext(args, { asks: false });
  const { plan, month } = await untilStopped((signal) => planNamedJobs(context, args, signal));
  context.print(renderPlan(plan, month, terminalWidth()), describePlan(plan, month));
  return 0;
}

/** The plan as `--json` has it. Pure. */
export function describePlan(plan: readonly JobPlan[], month: Month) {
  return { jobs: plan, ...sumPlan(plan), creditsLeft: month.left };
}

/** What a run of the named jobs, or all, would request; prints nothing. @throws UsageError */
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
  // Without a snapshot everything would be planned as new. The first run makes it at its end.
  if (running === null && (await isSnapshotMissing(folder))) await requireSnapshot(folder.snapshot);
  const hasSnapshot = await exists(folder.snapshot);
  const planOptions = { mayBeginRound: args.job.length > 0, fullRefresh: args.fullRefresh };
  const plan = await planJobs(jobs, context.config, folder, hasSnapshot, planOptions, signal);
  return { plan, month: await readMonth(context) };
}

/** Reads the month's budget and what is left of it. */
export async function readMonth({ config, folder }: Pick<Context, 'config' | 'folder'>): Promise<Month> {
  return { credits: config.monthlyCredits, left: await readMonthlyLeft({ config, folder }) };
}

/** The month's budget; null: none is configured. */
export interface Month {
  credits: number | null;
  left: number | null;
}

/** Sums over the jobs of a plan. Pure. */
export function sumPlan(plan: readonly JobPlan[]) {
  const sum = (field: 'targets' | 'tasks' | 'requests' | 'credits' | 'seconds' | 'diskBytes') =>
    Math.round(1000 * plan.reduce((total, job) => total + (job[field] ?? 0), 0)) / 1000;
  const maxima = plan.map(({ requestsMost }) => requestsMost);
  return {
    targets: sum('targets'),
    tasks: sum('tasks'),
    requests: sum('requests'),
    requestsMost: maxima.includes(null)
      ? null
      : maxima.reduce<number>((total, most) => total + (most ?? 0), 0),
    credits: sum('credits'),
    seconds: sum('seconds'),
    diskBytes: sum('diskBytes'),
    unknown: plan.filter((job) => isMinimum(job) || job.waitsFor !== null).map((job) => job.job),
  };
}

/** Whether the job may request more than its plan says. */
function isMinimum({ unknown, growsWith }: JobPlan): boolean {
  return unknown > 0 || growsWith.length > 0;
}

/**
 * The plan for people: a table of the jobs, then notes on it. Pure.
 * @param width of the terminal that notes are wrapped to; null: none
 */
export function renderPlan(plan: readonly JobPlan[], month: Month, width: number | null = null): string {
  const share = month.credits !== null && month.credits > 0;
  const columns = [
    { name: 'job' },
    ...['targets', 'requests', 'credits', ...(share ? ['of month'] : []), 'time', 'disk'].map((name) => ({
      name,
      right: true,
    })),
  ];
  const total = sumPlan(plan);
  const cells = (
    job: Pick<JobPlan, 'targets' | 'requests' | 'requestsMost' | 'credits' | 'seconds' | 'diskBytes'>,
  ) => [
    formatCount(job.targets),
    range(job.requests, job.requestsMost),
    range(job.credits, job.requestsMost === null ? null : creditsMost(job)),
    ...(share ? [`${((100 * job.credits) / (month.credits ?? 1)).toFixed(1)} %`] : []),
    job.seconds === null ? '?' : formatSeconds(job.seconds),
    job.diskBytes === 0 ? '' : formatBytes(job.diskBytes),
  ];
  const unknown = ['?', '?', '?', ...(share ? ['?'] : []), '?', ''];
  const rows = plan.map((job) => [jobTitle(job.job), ...(job.waitsFor === null ? cells(job) : unknown)]);
  const hasTimes = plan.every(({ seconds, waitsFor }) => seconds !== null || waitsFor !== null);
  rows.push(['total', ...cells({ ...total, seconds: hasTimes ? total.seconds : null })]);
  const notes = [...noteLines(plan), ...monthLines(total, month)].map((line) => wrapText(line, width));
  return [formatTable(columns, rows).trimEnd(), ...notes].join('\n');
}

/** `40`, `40-120`, `40+`. */
function range(min: number, max: number | null): string {
  if (max === null) return `${formatCount(min)}+`;
  return max > min ? `${formatCount(min)}-${formatCount(max)}` : formatCount(min);
}

function creditsMost({
  requests,
  requestsMost,
  credits,
}: Pick<JobPlan, 'requests' | 'requestsMost' | 'credits'>) {
  return requests === 0 ? credits : Math.round((credits / requests) * (requestsMost ?? 0));
}

function noteLines(plan: readonly JobPlan[]): string[] {
  return plan.flatMap((job) => describeJob(job).map((note) => `${jobTitle(job.job)}: ${note}`));
}

/** What the numbers of a job depend on. */
function describeJob(job: JobPlan): string[] {
  if (job.waitsFor !== null) return [`its targets are known once ${job.waitsFor} has been published`];
  const notes: string[] = [];
  if (job.unknown > 0)
    notes.push(
      `${countOf(job.unknown, 'task')} never crawled to the end: the first crawl shows how many pages there are`,
    );
  else if (job.requestsMost === null && job.growsWith.length === 0)
    notes.push('a feed: as many pages as are new');
  if (job.incremental > 0)
    notes.push(`${countOf(job.incremental, 'target')} only for what changed, which may be all`);
  if (job.pastShort > 0)
    notes.push(
      `${countOf(job.pastShort, 'request')} to check that a short page was the last of its list (api.short_page_ends)`,
    );
  if (job.growsWith.length > 0)
    notes.push(`more for new targets that ${job.growsWith.join(', ')} will bring`);
  if (job.open > 0)
    notes.push(
      `${countOf(job.open, 'task')} ${job.open === 1 ? 'continues' : 'continue'} where the last run stopped`,
    );
  if (job.targetsLeftOut > 0)
    notes.push(
      `${countOf(job.targetsLeftOut, 'line')} of its target file ${job.targetsLeftOut === 1 ? 'is not a target' : 'are not targets'}: ledgerlake jobs check`,
    );
  if (job.rps === null && job.tasks > 0)
    notes.push('no rate is known yet: set api.limits, or the first run finds it');
  return notes;
}

function monthLines(total: { credits: number }, { left }: Month): string[] {
  if (left === null) return [];
  const stops =
    total.credits > left ? ': the run stops when they are spent (exit 75), and a later one continues' : '';
  return [`left of api.monthly_credits in this billing month: ${formatCount(left)} credits${stops}`];
}
