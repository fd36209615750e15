import type { LeftOut, RunEntry } from '../run/run-log.ts';
import { quoteForShell } from '../shell-words.ts';
import { describeRange, type Held } from './published-status.ts';
import type { JobStatus, Status, TargetStatus } from './read-status.ts';

/** Something that `check` found: one line, and exit 5. */
export interface FreshnessFinding {
  kind:
    | 'not complete'
    | 'too old'
    | 'refused'
    | 'quarantined'
    | 'stale'
    | 'gap'
    | 'left out'
    | 'last run'
    | 'damaged';
  /** Empty for what is about the folder. */
  job: string;
  target: string;
  message: string;
}

/** A job with its targets, as `status <job>` reads it. */
export type CheckedJob = Pick<Status, 'jobs' | 'targets' | 'gaps' | 'held' | 'leftOut'>;

/**
 * What is not as fresh, or not as sound, as somebody who reads the tables expects. Built-in jobs, jobs without a file and
 * former targets are left out: nothing will move them. Pure.
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
        ...checkWhole(job),
        ...(targets ?? [])
          .filter(({ former }) => !former)
          .flatMap((target) => checkTarget(job, target, held, maxAgeMs, now)),
        ...tellLeftOut(leftOut),
        ...gaps.map(({ target, unit, low_slot, high_slot }) => {
          const message = `${describeRange(unit, low_slot, high_slot)} are not in`;
          return { kind: 'gap' as const, job: job.job, target, message };
        }),
      ]),
  );
}

function tellLeftOut(leftOut: readonly LeftOut[]): FreshnessFinding[] {
  return leftOut.map(({ job, problem }) => ({ kind: 'left out', job, target: '', message: problem }));
}

/**
 * What guards hold back, once for a job where one counted over it, under the job that the guard's option takes: look-ups
 * are of a built-in job. Pure.
 * @param all of all jobs
 * @param names jobs to tell of
 * @param howTo the command that accepts it
 */
export function checkHeld(
  all: readonly Held[],
  names: readonly string[],
  howTo: (held: Held) => string | null,
): FreshnessFinding[] {
  const isWhole = (one: Held) => one.targets > 1n;
  return all.flatMap((held) => {
    const job = held.accept.split('/')[0] as string;
    const isTold =
      !isWhole(held) && all.some((one) => isWhole(one) && one.job === held.job && one.guard === held.guard);
    if (isTold || !names.includes(job)) return [];
    const target = held.job === job ? held.target : '';
    const of = isWhole(held) ? ` (${held.targets} targets)` : '';
    const message = `${held.reason}${of}; if it is right: ${howTo(held)}`;
    return { kind: 'refused' as const, job, target, message };
  });
}

function checkWhole({ job, targets, never_complete }: JobStatus): FreshnessFinding[] {
  const found = (message: string) => [{ kind: 'not complete' as const, job, target: '', message }];
  if ((never_complete ?? 0n) > 0n) return found(`${never_complete} targets were never crawled to the end`);
  return targets === 0n ? found('nothing of it was ever published') : [];
}

/** Reasons of checkpoints that publish refused, not the API. */
const ofPublish = /^(audit|vanished|blank|quarantined|stale)\b/;

function checkTarget(
  { job }: JobStatus,
  { target, state, reason, finished_at, quarantined_new, stale }: TargetStatus,
  held: readonly Held[],
  maxAgeMs: number,
  now: number,
): FreshnessFinding[] {
  const isHeld = held.some((one) => one.target === '' || one.target === target);
  const findings: FreshnessFinding[] = [];
  const add = (kind: FreshnessFinding['kind'], message: string) =>
    findings.push({ kind, job, target, message });
  if (state === 'held' || (state === 'failed' && ofPublish.test(reason ?? ''))) {
    if (!isHeld) add('refused', reason ?? 'held back');
  } else if (state === 'failed') add('not complete', `failed: ${reason ?? 'no reason is known'}`);
  else if (state !== 'complete') add('not complete', 'its crawl is open');
  else if (finished_at !== null && now - finished_at.getTime() > maxAgeMs)
    add('too old', `last complete at ${finished_at.toISOString()}`);
  // What was there before, somebody has been told of.
  if (quarantined_new > 0n)
    add('quarantined', `${quarantined_new} new records with something that did not fit`);
  if (stale > 0n)
    add(
      'stale',
      `${stale} records are older than what the tables have, which stays; if the source went back for good: ledgerlake run ${quoteForShell(job)} --accept-rollback ${quoteForShell(job)}`,
    );
  return findings;
}

/** Exit codes of a run after which nobody has to look: what stopped as asked goes on. */
const fineEnds = new Set([0, 3, 4, 75]);

/** The last run that ended, when somebody has to look at how. Pure. */
export function checkLastRun({ lastRun, running }: Pick<Status, 'lastRun' | 'running'>): FreshnessFinding[] {
  if (lastRun === null || running !== null) return [];
  const found = (message: string) => [{ kind: 'last run' as const, job: '', target: '', message }];
  if (lastRun.exitCode === null) return found(`run ${lastRun.run} was killed`);
  const audits = lastRun.found?.audits ?? [];
  if (audits.length > 0) return audits.flatMap((audit) => found(`${audit}; the snapshot stays as it was`));
  return fineEnds.has(lastRun.exitCode) ? [] : found(describeEnd(lastRun));
}

function describeEnd({ run, exitCode, stoppedBy }: RunEntry): string {
  return `run ${run} ended with ${exitCode}${stoppedBy === null ? '' : `: ${stoppedBy}`}`;
}
