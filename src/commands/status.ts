import type { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { type Job, readJobs } from '../jobs/job-file.ts';
import { type JobStatus, readStatus, type Status } from '../pipeline/read-status.ts';
import { untilStopped } from '../stop-signals.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { addExamples } from './examples.ts';
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
  const files = await readFiles(jobsDir);
  const status = await untilStopped((signal) => readStatus(folder, config, args.job ?? null, files, signal));
  context.print(renderStatus(status), status);
  return 0;
}

/** Job files with mistakes do not hide what was published. */
async function readFiles(jobsDir: string): Promise<Job[]> {
  return readJobs(jobsDir).catch((error: unknown) => {
    if (error instanceof UsageError) return [];
    throw error;
  });
}

/** What a person reads. Pure. */
export function renderStatus(status: Status): string {
  const lines: string[] = [];
  for (const job of status.jobs) {
    if (job.targets === 0n && job.never_complete === null) {
      lines.push(`${job.job}: its targets are not known yet`);
      continue;
    }
    const states = [`${job.complete}/${job.targets} targets complete`];
    if (job.open > 0n) states.push(`${job.open} open`);
    if (job.failed > 0n) states.push(`${job.failed} failed`);
    if ((job.never_complete ?? 0n) > 0n) states.push(`${job.never_complete} never complete`);
    if (job.quarantined > 0n) states.push(`${job.quarantined} records quarantined`);
    states.push(...describeSlots(job));
    lines.push(`${job.job}: ${states.join(', ')}`);
  }
  for (const target of status.targets ?? []) {
    const parts = [target.state, `${target.pages} pages`, `${target.records} records`];
    if (target.changes_seen_to !== null) parts.push(...describeSlots(target));
    if (target.reason !== null && target.state === 'failed') parts.push(oneLine(target.reason));
    lines.push(`  ${target.target === '' ? '(the job)' : oneLine(target.target)}: ${parts.join(', ')}`);
  }
  for (const gap of status.gaps)
    lines.push(
      `gap: ${gap.job} slots ${gap.low_slot} to ${gap.high_slot} are not in; the next run goes on ${gap.cursor === null ? 'from the head' : `at cursor ${gap.cursor}`}`,
    );
  if (status.absent > 0)
    lines.push(`${status.absent} rows left their lists and wait to be looked up once more (meta.absent)`);
  const { landed, lastRun } = status;
  if (landed.crawls > 0)
    lines.push(
      `received, not published: ${landed.crawls} crawls (${landed.open} open), ${landed.records} records`,
    );
  if (status.running !== null) lines.push(`running now: ${lastRun?.run}`);
  else if (lastRun !== null)
    lines.push(
      lastRun.finishedAt === null
        ? `last run ${lastRun.run} was killed; the next one goes on`
        : `last run ${lastRun.run}: exit ${lastRun.exitCode} at ${lastRun.finishedAt}${lastRun.stoppedBy === null ? '' : ` (${lastRun.stoppedBy})`}`,
    );
  const saved = status.savedThisMonth > 0 ? `, ${status.savedThisMonth} requests saved` : '';
  lines.push(`credits this billing month: ${status.creditsThisMonth}${saved}`);
  return lines.join('\n');
}

/** Up to where the data of a job or target is in. */
function describeSlots(
  of: Pick<JobStatus, 'complete_as_of' | 'changes_seen_to' | 'next_full_due'>,
): string[] {
  if (of.complete_as_of === null) return [];
  if (of.changes_seen_to === null) return [`all data up to slot ${of.complete_as_of} is in`];
  const due = of.next_full_due === null ? [] : [`next full crawl after ${of.next_full_due.toISOString()}`];
  return [`full as of slot ${of.complete_as_of}, changes seen to ${of.changes_seen_to}`, ...due];
}
