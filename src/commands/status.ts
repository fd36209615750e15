import type { Command } from 'commander';
import type { DataFolder } from '../data-folder.ts';
import type { Gap } from '../pipeline/published-status.ts';
import { type JobStatus, readStatus, type Status, type TargetStatus } from '../pipeline/read-status.ts';
import { untilStopped } from '../stop-signals.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { addExamples } from './examples.ts';
import { readJobFiles } from './job-files.ts';
import { acceptCommand } from './refusal-text.ts';
import { oneLine } from './visible-text.ts';

interface StatusArgs extends GlobalArgs {
  job?: string;
}

/** Options of `ledgerlake status`. */
export function describeOptions(command: Command): Command {
  command.argument('[job]', 'Show the targets of this job');
  return addExamples(command, {
    'ledgerlake status': 'Every job, also while a run is at work',
    'ledgerlake status collections --json': 'Every target of one job',
  });
}

/** `ledgerlake status [job]`: reads only, takes no lock. */
export async function execute(args: StatusArgs): Promise<number> {
  const context = await openContext(args, { asks: false });
  const { folder, config, jobsDir } = context;
  const files = await readJobFiles(jobsDir);
  const status = await untilStopped((signal) => readStatus(folder, config, args.job ?? null, files, signal));
  context.print(renderStatus(status, folder), status);
  return 0;
}

/** What a person reads. Pure. */
export function renderStatus(status: Status, folder: Pick<DataFolder, 'root'>): string {
  const lines = status.jobs.map((job) => describeJob(job, status.gaps));
  if (status.snapshotMissing)
    lines.push(
      'the snapshot is missing: `ledgerlake publish` makes it again and asks the API nothing; then status knows the jobs',
    );
  const [only] = status.jobs;
  for (const target of status.targets ?? []) lines.push(`  ${describeTarget(target, only, status.gaps)}`);
  for (const gap of status.gaps) {
    const goesOn = gap.cursor === null ? 'from the head' : `at cursor ${gap.cursor}`;
    const isGone = status.jobs.some(({ job, has_file }) => job === gap.job && has_file === false);
    lines.push(
      `gap: ${nameOf(gap)} slots ${gap.low_slot} to ${gap.high_slot} are not in${isGone ? '' : `; the next run goes on ${goesOn}`}`,
    );
  }
  for (const { job, target, targets, reason } of status.held) {
    const of = target === '' ? ` (${targets} targets)` : `/${oneLine(target)}`;
    lines.push(`held back: ${job}${of}: ${oneLine(reason)}`);
  }
  const command = acceptCommand(status.held, folder);
  if (command !== null) lines.push(`  a right night takes its place; if it is right: ${command}`);
  if (status.absent > 0)
    lines.push(`rows that were missing once and wait for a second answer: ${status.absent} (meta.absent)`);
  const { landed, lastRun } = status;
  if (landed.crawls > 0)
    lines.push(
      `received, ${status.snapshotMissing ? 'and still in the landing log' : 'not published'}: ${landed.crawls} crawls (${landed.open} open), ${landed.records} records`,
    );
  if (status.running !== null) lines.push(`running now: ${status.running.run}`);
  else if (lastRun !== null)
    lines.push(
      lastRun.finishedAt === null
        ? `last run ${lastRun.run} was killed; the next one goes on`
        : `last run ${lastRun.run}: exit ${lastRun.exitCode} at ${lastRun.finishedAt}${lastRun.stoppedBy === null ? '' : ` (${oneLine(lastRun.stoppedBy)})`}`,
    );
  const saved = status.savedThisMonth > 0 ? `, ${status.savedThisMonth} requests saved` : '';
  const left = status.creditsLeft === null ? '' : `, ${status.creditsLeft} left`;
  lines.push(`credits this billing month: ${status.creditsThisMonth}${left}${saved}`);
  return lines.join('\n');
}

function describeJob(job: JobStatus, gaps: readonly Gap[]): string {
  const states = [describeCount(job)];
  if (job.open > 0n) states.push(`${job.open} open`);
  if (job.failed > 0n) states.push(`${job.failed} failed`);
  if ((job.never_complete ?? 0n) > 0n) states.push(`${job.never_complete} never complete`);
  if (job.quarantined > 0n) states.push(`${job.quarantined} records quarantined`);
  if (job.keyless > 0n)
    states.push(`records without a key in ${job.keyless} target${job.keyless === 1n ? '' : 's'}`);
  const ownGaps = gaps.filter((gap) => gap.job === job.job);
  states.push(...describeSlots(job, ownGaps));
  if (job.former > 0n) states.push(`${job.former} former target${job.former === 1n ? '' : 's'}`);
  if (job.has_file === false) states.push('no job file: renamed or removed');
  if (job.other_jobs_dir !== null) states.push(`its job file is in ${job.other_jobs_dir}`);
  return `${job.job}: ${states.join(', ')}`;
}

function describeCount({ targets, complete, empty, former }: JobStatus): string {
  if (targets > 0n)
    return `${complete}/${targets} targets complete${empty > 0n ? `, ${empty} without any record` : ''}`;
  return former > 0n ? 'no targets now' : 'its targets are not known yet';
}

function describeTarget(target: TargetStatus, job: JobStatus | undefined, gaps: readonly Gap[]): string {
  const parts = [target.state, `${target.pages} pages`, `${target.records} records`];
  if (target.former) parts.unshift('former target');
  const ownGaps = gaps.filter((gap) => gap.job === job?.job && gap.target === target.target);
  // What all data of a plain target is in up to is told of the job.
  if (target.changes_seen_to !== null || target.covered_to !== null)
    parts.push(...describeSlots(target, ownGaps));
  if (target.keyless > 0n) parts.push(`${target.keyless} records without a key`);
  if (target.reason !== null && target.state === 'failed') parts.push(oneLine(target.reason));
  return `${target.target === '' ? '(the job)' : oneLine(target.target)}: ${parts.join(', ')}`;
}

function nameOf({ job, target }: Gap): string {
  return target === '' ? job : `${job} ${oneLine(target)}`;
}

type Slots = Pick<
  JobStatus,
  'complete_as_of' | 'changes_seen_to' | 'next_full_due' | 'covered_from' | 'covered_to'
>;

/** Which slots of a job or target are in. @param gaps its own */
function describeSlots(of: Slots, gaps: readonly Gap[]): string[] {
  const { covered_from: from, covered_to: to } = of;
  if (from !== null && to !== null) {
    const within = gaps.filter((gap) => gap.high_slot >= from && gap.low_slot <= to).length;
    const but = within === 0 ? '' : ` but for ${within} gap${within === 1 ? '' : 's'}`;
    return [`covers slots ${from} to ${to}${but}`];
  }
  if (of.complete_as_of === null) return [];
  if (of.changes_seen_to === null) return [`all data up to slot ${of.complete_as_of} is in`];
  const due = of.next_full_due === null ? [] : [`next full crawl after ${of.next_full_due.toISOString()}`];
  return [`full as of slot ${of.complete_as_of}, changes seen to ${of.changes_seen_to}`, ...due];
}
