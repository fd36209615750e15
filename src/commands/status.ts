import type { Argv } from 'yargs';
import { readStatus, type Status } from '../pipeline/read-status.ts';
import { type GlobalArgs, openContext } from './context.ts';

interface StatusArgs extends GlobalArgs {
  job?: string;
}

/** Options of `ledgerlake status`. */
export function describeOptions(command: Argv): Argv {
  return command
    .positional('job', { type: 'string', describe: 'Show the targets of this job' })
    .example('$0 status', 'Every job, also while a run is at work')
    .example('$0 status collections --json', 'Every target of one job');
}

/** `ledgerlake status [job]`: reads only, takes no lock. */
export async function execute(args: StatusArgs): Promise<number> {
  const context = await openContext(args, { asks: false });
  const status = await readStatus(context.folder, context.config, args.job ?? null);
  context.print(renderStatus(status), status);
  return 0;
}

/** What a person reads. Pure. */
export function renderStatus(status: Status): string {
  const lines: string[] = [];
  for (const job of status.jobs) {
    const states = [`${job.complete}/${job.targets} targets complete`];
    if (job.open > 0n) states.push(`${job.open} open`);
    if (job.failed > 0n) states.push(`${job.failed} failed`);
    if (job.quarantined > 0n) states.push(`${job.quarantined} records quarantined`);
    if (job.complete_as_of !== null) states.push(`all data up to slot ${job.complete_as_of} is in`);
    lines.push(`${job.job}: ${states.join(', ')}`);
  }
  for (const target of status.targets ?? []) {
    const parts = [target.state, `${target.pages} pages`, `${target.records} records`];
    if (target.reason !== null && target.state === 'failed') parts.push(target.reason);
    lines.push(`  ${target.target === '' ? '(the job)' : target.target}: ${parts.join(', ')}`);
  }
  for (const gap of status.gaps)
    lines.push(
      `gap: ${gap.job} slots ${gap.low_slot} to ${gap.high_slot} are not in; the next run goes on there`,
    );
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
  lines.push(`credits this billing month: ${status.creditsThisMonth}`);
  return lines.join('\n');
}
