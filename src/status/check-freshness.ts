import { describeWaiting, type Waiting } from '../publish/published.ts';
import { type Dropped, describeDropped } from '../run/dropped-targets.ts';
import type { LeftOut, RunEntry } from '../run/run-log.ts';
import { describeRange, type Held } from './published-status.ts';
import type { JobStatus, Status, TargetStatus } from './read-status.ts';

/** Something that `check` found: one line, and exit 5. */
export interface FreshnessFinding {
  kind:
    | 'not complete'
    | 'too old'
    | 'refused'
    | 'waiting'
    | 'dropped'
    | 'stale'
    | 'gap'
    | 'left out'
    | 'last run'
    | 'damaged';
  /** Empty for a finding about the folder. */
  job: string;
  target: string;
  message: string;
}

/** A job with its targets, as `status <job>` reads it. */
export type CheckedJob = Pick<Status, 'jobs' | 'targets' | 'gaps' | 'held' | 'leftOut'>;

/**
 * Everything that is older or less sound than a reader of the tables expects. Built-in jobs, jobs without a file and
 * former targets are left out, because no run moves them. Pure.
 * @param now Unix ms
 */
export function checkFreshness(
  checked: readonly CheckedJob[],
  maxAgeMs: number,
  now: number,
): FreshnessFinding[] {
  return checked.flatMap(({ jobs, targets, gaps, held, leftOut }) =>
    jobs
      .filter(({ job, has_file }) => has_file !== false && !job.startsWith('_'))
      .flatMap((job) => [
        ...checkJob(job),
        ...(targets ?? [])
          .filter(({ former }) => !former)
          .flatMap((target) => checkTarget(job, target, held, maxAgeMs, now)),
        ...findLeftOut(leftOut),
        ...gaps.map(({ target, unit, low_slot, high_slot }) => {
          const message = `${describeRange(unit, low_slot, high_slot)} are not in`;
          return { kind: 'gap' as const, job: job.job, target, message };
        }),
      ]),
  );
}

function findLeftOut(leftOut: readonly LeftOut[]): FreshnessFinding[] {
  return leftOut.map(({ job, problem }) => ({ kind: 'left out', job, target: '', message: problem }));
}

/** What is not requested any more, until that is accepted. Pure. @param names jobs to report; null: all */
export function checkDropped(
  all: readonly Dropped[],
  names: readonly string[] | null,
  accept: (dropped: Dropped) => string | null,
): FreshnessFinding[] {
  return all
    .filter(({ job }) => names === null || names.includes(job))
    .map((one) => ({
      ...{ kind: 'dropped', job: one.job, target: '' },
      message: `${describeDropped(one)}; if that is right: ${accept(one)}`,
    }));
}

/**
 * Crawls that guards hold back, once a job where the guard counts over the whole job. A look-up belongs to a built-in job
 * and is reported under the job whose rows it looked up. Pure.
 * @param all of all jobs
 * @param names jobs to report
 * @param acceptCommand the command that accepts it
 */
export function checkHeld(
  all: readonly Held[],
  names: readonly string[],
  acceptCommand: (held: Held) => string | null,
): FreshnessFinding[] {
  return all.flatMap((held) => {
    const job = held.for_job;
    if (!names.includes(job)) return [];
    const target = held.job === job ? held.target : '';
    const of = held.targets > 1n ? ` (${held.targets} targets)` : '';
    const message = `${held.reason}${of}; if it is right: ${acceptCommand(held)}`;
    return { kind: 'refused' as const, job, target, message };
  });
}

/** What waits for a second look. Pure. @param names jobs to report */
export function checkWaiting(waiting: readonly Waiting[], names: readonly string[]): FreshnessFinding[] {
  return waiting
    .filter(({ job }) => names.includes(job))
    .map((one) => ({ kind: 'waiting', job: one.job, target: '', message: describeWaiting(one) }));
}

function checkJob({ job, targets, never_complete }: JobStatus): FreshnessFinding[] {
  const found = (message: string) => [{ kind: 'not complete' as const, job, target: '', message }];
  if ((never_complete ?? 0n) > 0n) return found(`${never_complete} targets were never crawled to the end`);
  return targets === 0n ? found('nothing of it was ever published') : [];
}

/** Reasons of checkpoints that publish refused, not the API. */
const refusedByPublish = /^(audit|vanished|blank|collapse|quarantined|stale)\b/;

function checkTarget(
  { job }: JobStatus,
  { target, state, reason, finished_at, stale }: TargetStatus,
  held: readonly Held[],
  maxAgeMs: number,
  now: number,
): FreshnessFinding[] {
  const isHeld = held.some((crawl) => crawl.target === '' || crawl.target === target);
  const findings: FreshnessFinding[] = [];
  const add = (kind: FreshnessFinding['kind'], message: string) =>
    findings.push({ kind, job, target, message });
  if (state === 'held' || (state === 'failed' && refusedByPublish.test(reason ?? ''))) {
    if (!isHeld) add('refused', reason ?? 'held back');
  } else if (state === 'failed') add('not complete', `failed: ${reason ?? 'no reason is known'}`);
  else if (state !== 'complete') add('not complete', 'its crawl is open');
  else if (finished_at !== null && now - finished_at.getTime() > maxAgeMs)
    add('too old', `last complete at ${finished_at.toISOString()}`);
  if (stale > 0n) add('stale', `${stale} records are older than what the tables have, which stays`);
  return findings;
}

/** Exit codes that need no attention: other findings cover 3 and 4, and a run continues after 75. */
const harmlessExitCodes = new Set([0, 3, 4, 75]);

/** The end of the last run, where it needs attention. Pure. */
export function checkLastRun({ lastRun, running }: Pick<Status, 'lastRun' | 'running'>): FreshnessFinding[] {
  if (lastRun === null || running !== null) return [];
  const found = (message: string) => [{ kind: 'last run' as const, job: '', target: '', message }];
  if (lastRun.exitCode === null) return found(`run ${lastRun.run} was killed`);
  const audits = lastRun.found?.audits ?? [];
  if (audits.length > 0) return audits.flatMap((audit) => found(`${audit}; the snapshot stays as it was`));
  return harmlessExitCodes.has(lastRun.exitCode) ? [] : found(describeEnd(lastRun));
}

function describeEnd({ run, exitCode, stoppedBy }: RunEntry): string {
  return `run ${run} ended with ${exitCode}${stoppedBy === null ? '' : `: ${stoppedBy}`}`;
}
