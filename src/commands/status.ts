import type { DataFolder } from '../data-folder.ts';
import { describeActivity, describeEta, describeRate } from '../run/render-progress.ts';
import type { LiveJob, RunState } from '../run/run-state.ts';
import { describeRange, type Gap } from '../status/published-status.ts';
import { type JobStatus, readStatus, type Status, type TargetStatus } from '../status/read-status.ts';
import { untilStopped } from '../stop-signals.ts';
import { countOf, formatCount, formatSeconds, jobTitle } from '../words.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { readJobFiles } from './job-files.ts';
import { acceptCommand } from './run-report.ts';
import { terminalWidth } from './text-table.ts';
import type { Usage } from './usage.ts';
import { oneLine, wrapText } from './visible-text.ts';

interface StatusArgs extends GlobalArgs {
  job?: string;
}

/** Arguments of `ledgerlake status`. */
export const usage: Usage = {
  arguments: { '[job]': 'Show the targets of this job' },
  examples: {
    'ledgerlake status': 'Every job, also while a run is at work',
    'ledgerlake status collections --json': 'Every target of one job',
  },
};

/** `ledgerlake status [job]`: reads only, takes no lock. */
export async function execute(args: StatusArgs): Promise<number> {
  const context = await openContext(args, { asks: false });
  const { folder, config, jobsDir } = context;
  const files = await readJobFiles(jobsDir);
  const status = await untilStopped((signal) => readStatus(folder, config, args.job ?? null, files, signal));
  context.print(wrapText(renderStatus(status, folder), terminalWidth()), status);
  return 0;
}

/** The status as text. Pure. */
export function renderStatus(status: Status, folder: Pick<DataFolder, 'root'>): string {
  const lines = status.jobs.map((job) => describeJob(job, status.gaps));
  if (status.snapshotMissing) lines.push(describeMissing(status.lastRun));
  const [only] = status.jobs;
  for (const target of status.targets ?? []) lines.push(`  ${describeTarget(target, only, status.gaps)}`);
  for (const gap of status.gaps) {
    const start = gap.cursor === null ? 'from the head' : `at cursor ${gap.cursor}`;
    const isGone = status.jobs.some(({ job, has_file }) => job === gap.job && has_file === false);
    lines.push(
      `gap: ${nameOf(gap)} ${describeRange(gap.unit, gap.low_slot, gap.high_slot)} are not in${isGone ? '' : `; the next run continues ${start}`}`,
    );
  }
  for (const { job, target, targets, reason } of status.held) {
    const of = target === '' ? ` (${countOf(targets, 'target')})` : `/${oneLine(target)}`;
    lines.push(`held back: ${job.startsWith('_') ? jobTitle(job) : `${job}${of}`}: ${oneLine(reason)}`);
  }
  const command = acceptCommand(status.held, folder);
  if (command !== null)
    lines.push(`  a later crawl that passes the guards replaces it; if it is right: ${command}`);
  if (status.absent > 0)
    lines.push(
      `${countOf(status.absent, 'row')} missing from the lists once: a later run asks a second time (meta.absent)`,
    );
  const unfollowed = Object.entries(status.unfollowed).filter(([, rows]) => rows > 0);
  if (unfollowed.length > 0)
    lines.push(
      `rows that no job follows any more: ${unfollowed.map(([table, rows]) => `${rows} of ${table}`).join(', ')} (\`followed\` is false; \`run _refresh\` looks assets up, \`forget\` closes what a dropped target brought)`,
    );
  const { landed, lastRun } = status;
  if (landed.crawls > 0) lines.push(describeLanded(landed, status.snapshotMissing));
  if (status.running !== null) lines.push(...describeRunning(status.running, Date.now()));
  else if (lastRun !== null)
    lines.push(
      lastRun.finishedAt === null
        ? `last run ${lastRun.run} was killed; the next one continues`
        : `last run ${lastRun.run}: exit ${lastRun.exitCode} at ${lastRun.finishedAt}${lastRun.stoppedBy === null ? '' : ` (${oneLine(lastRun.stoppedBy)})`}`,
    );
  const saved = status.savedThisMonth > 0 ? `, ${countOf(status.savedThisMonth, 'request')} saved` : '';
  const left = status.creditsLeft === null ? '' : `, ${formatCount(status.creditsLeft)} left`;
  lines.push(`credits this billing month: ${formatCount(status.creditsThisMonth)}${left}${saved}`);
  return lines.join('\n');
}

/** A run that was stopped or killed may have left none yet. */
function describeMissing(lastRun: Status['lastRun']): string {
  return lastRun !== null && [null, 69, 75].includes(lastRun.exitCode)
    ? 'there is no snapshot yet: the next run continues and makes it; `ledgerlake publish` makes it now and sends no request'
    : 'the snapshot is missing: `ledgerlake publish` restores it and sends no request; then status knows the jobs';
}

/** What was received and is in no table yet. */
function describeLanded({ crawls, open, records }: Status['landed'], snapshotMissing: boolean): string {
  const what = [countOf(records, 'record')];
  if (crawls > open) what.push(countOf(crawls - open, 'finished crawl'));
  if (open > 0) what.push(`${countOf(open, 'crawl')} under way`);
  const where = snapshotMissing ? 'still in the landing log' : 'not in the tables yet';
  return `received, and ${where}: ${what.join(', ')}`;
}

/** The run at work: the progress of its jobs, and its current activity. @param now Unix ms */
function describeRunning(
  { run, started_at, requests, credits, jobs, activity }: RunState,
  now: number,
): string[] {
  const seconds = Math.max(0, (now - Date.parse(started_at)) / 1000);
  const cost = `${countOf(requests, 'request')}, ${countOf(credits, 'credit')}`;
  return [
    `running now: ${run}, for ${formatSeconds(seconds)}, ${cost}`,
    ...Object.entries(jobs).map(([name, job]) => `  ${jobTitle(name)}: ${describeRunningJob(job)}`),
    ...describeActivity({ activity, now }).map((line) => `  ${line}`),
  ];
}

function describeRunningJob(job: LiveJob): string {
  if (job.leftOut !== null) return `left out: ${oneLine(job.leftOut)}`;
  const total = job.tasks + job.before;
  if (total === 0) return job.planned ? 'nothing to request' : 'waits';
  const parts = [
    `${formatCount(job.done + job.before)} of ${countOf(total, 'target')}`,
    `${countOf(job.records, 'record')} in ${countOf(job.pages, 'page')}`,
    countOf(job.credits, 'credit'),
  ];
  if (job.failed > 0) parts.splice(1, 0, `${formatCount(job.failed)} failed`);
  if (job.retries > 0) parts.push(countOf(job.retries, 'retry', 'retries'));
  if (job.done < job.tasks) {
    parts.push(describeRate(job.rps, job.limitRps));
    if (job.etaSeconds !== null) parts.push(describeEta(job.etaSeconds));
  }
  return parts.join(', ');
}

function describeJob(job: JobStatus, gaps: readonly Gap[]): string {
  const states = [describeCount(job)];
  if (job.open > 0n) states.push(`${job.open} open`);
  if (job.failed > 0n) states.push(`${job.failed} failed`);
  if (job.held > 0n) states.push(`${job.held} held back`);
  if ((job.never_complete ?? 0n) > 0n) states.push(`${job.never_complete} never complete`);
  if (job.quarantined > 0n) states.push(`${job.quarantined} records quarantined`);
  if (job.keyless > 0n)
    states.push(`records without a key in ${job.keyless} target${job.keyless === 1n ? '' : 's'}`);
  if (job.stale > 0n)
    states.push(`older than the tables in ${job.stale} target${job.stale === 1n ? '' : 's'}`);
  const ownGaps = gaps.filter((gap) => gap.job === job.job);
  states.push(...describeSlots(job, ownGaps));
  if (job.former > 0n) states.push(`${job.former} former target${job.former === 1n ? '' : 's'}`);
  if (job.has_file === false) states.push('no job file: renamed or removed');
  if (job.other_jobs_dir !== null) states.push(`its job file is in ${job.other_jobs_dir}`);
  return `${jobTitle(job.job)}: ${states.join(', ')}`;
}

function describeCount({ targets, complete, empty, former }: JobStatus): string {
  if (targets > 0n)
    return `${complete}/${targets} targets complete${empty > 0n ? `, ${empty} without any record` : ''}`;
  return former > 0n ? 'no targets now' : 'its targets are not known yet';
}

function describeTarget(target: TargetStatus, job: JobStatus | undefined, gaps: readonly Gap[]): string {
  const state = target.state === 'held' ? 'held back' : target.state;
  const parts = [state, countOf(target.pages, 'page'), countOf(target.records, 'record')];
  if (target.former) parts.unshift('former target');
  const ownGaps = gaps.filter((gap) => gap.job === job?.job && gap.target === target.target);
  // A plain target's slot is in the line of its job.
  if (target.changes_seen_to !== null || target.covered_to !== null)
    parts.push(...describeSlots(target, ownGaps));
  if (target.keyless > 0n) parts.push(`${target.keyless} records without a key`);
  if (target.stale > 0n) parts.push(`${target.stale} records older than the tables`);
  if (target.reason !== null && (target.state === 'failed' || target.state === 'held'))
    parts.push(oneLine(target.reason));
  return `${target.target === '' ? '(the job)' : oneLine(target.target)}: ${parts.join(', ')}`;
}

function nameOf({ job, target }: Gap): string {
  return target === '' ? job : `${job} ${oneLine(target)}`;
}

type Slots = Pick<
  JobStatus,
  'complete_as_of' | 'changes_seen_to' | 'next_full_due' | 'covered_from' | 'covered_to'
> &
  Partial<Pick<TargetStatus, 'covered_unit'>>;

/** Which slots of a job or target are in. @param gaps its own */
function describeSlots(of: Slots, gaps: readonly Gap[]): string[] {
  const { covered_from: from, covered_to: to } = of;
  if (from !== null && to !== null) {
    const within = gaps.filter((gap) => gap.high_slot >= from && gap.low_slot <= to).length;
    const but = within === 0 ? '' : ` but for ${within} gap${within === 1 ? '' : 's'}`;
    return [`covers ${describeRange(of.covered_unit ?? 'slot', from, to)}${but}`];
  }
  if (of.complete_as_of === null) return [];
  if (of.changes_seen_to === null) return [`all data up to slot ${of.complete_as_of} is in`];
  const due = of.next_full_due === null ? [] : [`next full crawl after ${of.next_full_due.toISOString()}`];
  return [`full as of slot ${of.complete_as_of}, changes seen to ${of.changes_seen_to}`, ...due];
}
