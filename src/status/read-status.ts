import { join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import type { Job } from '../jobs/job.ts';
import { requireJob } from '../jobs/job-file.ts';
import { isEnded, readLanding } from '../landing/reader.ts';
import { exists } from '../landing/segment-files.ts';
import { billingPeriodStart, leftOf } from '../run/budget.ts';
import { nameTargets } from '../run/current-targets.ts';
import { sumRequests } from '../run/request-log.ts';
import { type LeftOut, lastOfTables, listLeftOut, type RunEntry, readRunLog } from '../run/run-log.ts';
import { type RunState, readRunning } from '../run/run-state.ts';
import { isSnapshotMissing } from '../warehouse/open-snapshot.ts';
import {
  type Gap,
  type Held,
  type KnownTarget,
  type PublishedJob,
  type PublishedStatus,
  type PublishedTarget,
  readPublished,
} from './published-status.ts';

/** How far a job is with the targets that it has now: all but `former` is about these. */
export interface JobStatus extends PublishedJob {
  /**
   * False: renamed or removed, it is crawled no more. Null: built in, or there is no folder of job files, or its file is
   * in another one.
   */
  has_file: boolean | null;
  /** The other folder of job files that has it, where its last run read it; else null. */
  other_jobs_dir: string | null;
  /** Targets that it does not have any more (listFormer). */
  former: bigint;
  /** Targets without a checkpoint: nothing of them was ever received in full. Null where they cannot be told. */
  never_complete: bigint | null;
  /** Incremental jobs whose file is there: when the next crawl is a full one. */
  next_full_due: Date | null;
}

export interface TargetStatus extends PublishedTarget {
  next_full_due: Date | null;
}

export interface Status {
  /** The snapshot is not there though records were loaded, and no run is at work that would make it: nothing is told of jobs. */
  snapshotMissing: boolean;
  /** From the snapshot: what was published. Jobs without a file come last. */
  jobs: JobStatus[];
  /** Targets of the job asked for. */
  targets: TargetStatus[] | null;
  gaps: Gap[];
  /** Rows that were missing once and wait for a second answer. */
  absent: number;
  /** Rows that live on and that no target of a job should show any more, by table. */
  unfollowed: Record<string, number>;
  /** What guards hold back of it. */
  held: Held[];
  /** From the landing log: received, and in no snapshot yet. */
  landed: { crawls: number; open: number; records: number };
  /** Of those that crawl or publish. */
  lastRun: RunEntry | null;
  /** Jobs, and lines of target files, that the last run of the job left out. */
  leftOut: LeftOut[];
  /** `data/run.json` of a run that is at work now, else null. */
  running: RunState | null;
  creditsThisMonth: number;
  /** Of `api.monthly_credits`; null: no limit is configured. */
  creditsLeft: number | null;
  /** Requests that were not needed in this billing month. */
  savedThisMonth: number;
}

/** The job files: which targets there are, and how often incremental jobs are crawled in full. */
export interface JobFiles {
  dir: string;
  /** Also of files with mistakes. Null: there is no folder of them. */
  names: readonly string[] | null;
  /** Empty when a file has a mistake: they are checked against each other. */
  jobs: readonly Job[];
}

/**
 * What is known without disturbing a run: the snapshot, the landing log's page lines, the logs.
 * @param signal interrupts the SQL of a job
 * @throws UsageError when nothing was ever run here
 */
export async function readStatus(
  folder: DataFolder,
  config: Config,
  job: string | null,
  files: JobFiles,
  signal?: AbortSignal,
): Promise<Status> {
  const runs = await readRunLog(folder.runs);
  const running = await readRunning(folder, runs.at(-1));
  const hasSnapshot = await exists(folder.snapshot);
  if (runs.length === 0 && !hasSnapshot)
    throw new UsageError(`nothing was run in ${folder.root} yet`, 'Begin with `ledgerlake run`.');
  const snapshotMissing = running === null && (await isSnapshotMissing(folder));
  const asked = files.jobs.filter(({ name }) => job === null || name === job);
  const named = await nameTargets(asked, hasSnapshot ? { folder, config, signal } : null);
  const published: PublishedStatus = hasSnapshot
    ? await readPublished(folder, config, { job, files: files.jobs, named })
    : {
        jobs: [],
        targets: [],
        gaps: [],
        absent: 0,
        unfollowed: {},
        held: [],
        done: new Set<string>(),
        known: [],
      };
  const elsewhere = await findElsewhere(runs, files);
  const names = listJobs(published.known, files, elsewhere);
  if (job !== null) requireJob(job, names);
  const { done } = published;
  const spent = await sumRequests(folder.requests, billingPeriodStart(new Date(), config.billingDay));
  const due = (name: string, last: Date | null) =>
    nextFull(last, files.jobs.find((file) => file.name === name)?.fullEveryMs ?? null);
  const describeJob = (name: string): JobStatus => {
    const one = published.jobs.find((one) => one.job === name) ?? nothingOf(name);
    const known = published.known.filter((target) => target.job === name);
    const file = asked.find((file) => file.name === name);
    const never = file === undefined ? null : countNever(file, named.get(name) ?? null, known);
    return {
      ...withMissing(one, never),
      has_file: hasFile(name, files, elsewhere),
      other_jobs_dir: elsewhere.get(name) ?? null,
      former: BigInt(known.filter(({ former }) => former).length),
      next_full_due: due(name, one.last_full),
    };
  };
  const crawls = [...(await readLanding(folder.landing))].flatMap(([key, crawl]) =>
    done.has(key) ? [] : crawl,
  );
  return {
    snapshotMissing,
    jobs: snapshotMissing ? [] : names.filter((name) => job === null || name === job).map(describeJob),
    targets:
      job === null
        ? null
        : published.targets.map((one) => ({ ...one, next_full_due: due(job, one.last_full) })),
    gaps: published.gaps,
    absent: published.absent,
    unfollowed: published.unfollowed,
    held: published.held,
    landed: {
      crawls: crawls.length,
      open: crawls.filter((crawl) => !isEnded(crawl) && crawl.failed === null).length,
      // What a feed has received is in its tables at once.
      records: crawls.reduce((sum, crawl) => sum + (crawl.last?.feed ? 0 : crawl.records), 0),
    },
    lastRun: lastOfTables(runs),
    leftOut: listLeftOut(runs).filter((one) => job === null || one.job === job),
    running,
    creditsThisMonth: spent.credits,
    creditsLeft: leftOf(config.monthlyCredits, spent.credits),
    savedThisMonth: spent.saved,
  };
}

/** Those that were published, then those that have a file only, then those that have none any more. */
function listJobs(
  known: readonly KnownTarget[],
  files: JobFiles,
  elsewhere: ReadonlyMap<string, string>,
): string[] {
  const names = [...new Set([...known.map(({ job }) => job), ...files.jobs.map(({ name }) => name)])];
  const isGone = (name: string) => hasFile(name, files, elsewhere) === false;
  return [...names.filter((name) => !isGone(name)), ...names.filter(isGone)];
}

/** Null where it says nothing: built-in jobs have none, and the folder may be another one. */
function hasFile(name: string, { names }: JobFiles, elsewhere: ReadonlyMap<string, string>): boolean | null {
  if (names?.includes(name)) return true;
  return names === null || name.startsWith('_') || elsewhere.has(name) ? null : false;
}

/** Jobs that are not in this folder of job files, with the folder that their last run read them in, where they still are. */
async function findElsewhere(
  runs: readonly RunEntry[],
  { dir, names }: JobFiles,
): Promise<Map<string, string>> {
  const last = new Map<string, string>();
  for (const { jobs, jobsDir } of runs)
    for (const job of jobs) if (jobsDir !== undefined) last.set(job, jobsDir);
  const found = new Map<string, string>();
  for (const [job, jobsDir] of last) {
    if (names?.includes(job) || jobsDir === resolve(dir)) continue;
    if (await exists(join(jobsDir, `${job}.yaml`))) found.set(job, jobsDir);
  }
  return found;
}

/** How many targets have no checkpoint; null where they cannot be told. Of jobs over ids they are not counted. */
function countNever(
  job: Job,
  named: ReadonlySet<string> | null,
  known: readonly KnownTarget[],
): number | null {
  if (named === null || job.operation.paging === 'batch') return null;
  const begun = new Set(known.map(({ target }) => target));
  return [...named].filter((name) => !begun.has(name)).length;
}

function nextFull(last: Date | null, everyMs: number | null): Date | null {
  return last === null || everyMs === null ? null : new Date(last.getTime() + everyMs);
}

/** A job with the targets that have no checkpoint; null: how many those are cannot be told. */
function withMissing(
  one: PublishedJob,
  never: number | null,
): PublishedJob & Pick<JobStatus, 'never_complete'> {
  if (never === null) return { ...one, never_complete: null };
  const targets = one.targets + BigInt(never);
  const known = { ...one, targets, never_complete: BigInt(never) };
  const nothing = { complete_as_of: null, changes_seen_to: null, covered_from: null, covered_to: null };
  return never === 0 ? known : { ...known, ...nothing };
}

function nothingOf(job: string): PublishedJob {
  return {
    job,
    targets: 0n,
    complete: 0n,
    empty: 0n,
    open: 0n,
    failed: 0n,
    held: 0n,
    complete_as_of: null,
    changes_seen_to: null,
    last_complete: null,
    last_full: null,
    quarantined: 0n,
    keyless: 0n,
    stale: 0n,
    covered_from: null,
    covered_to: null,
  };
}
