import { join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import type { Job } from '../jobs/job.ts';
import { requireJob } from '../jobs/job-set.ts';
import { isEnded, readLanding } from '../landing/reader.ts';
import { exists } from '../landing/segment-files.ts';
import type { Waiting } from '../publish/published.ts';
import { billingPeriodStart, leftOf } from '../run/budget.ts';
import { nameTargets } from '../run/current-targets.ts';
import type { Dropped } from '../run/dropped-targets.ts';
import { sumRequests } from '../run/request-log.ts';
import { type LeftOut, lastOfTables, listLeftOut, type RunEntry, readRunLog } from '../run/run-log.ts';
import { type RunState, readRunning } from '../run/run-state.ts';
import { isSnapshotMissing } from '../warehouse/open-snapshot.ts';
import {
  type CheckpointTarget,
  type Gap,
  type Held,
  type PublishedJob,
  type PublishedStatus,
  type PublishedTarget,
  readPublished,
} from './published-status.ts';

/** How far a job is; everything but `former` is about its current targets. */
export interface JobStatus extends PublishedJob {
  /** False: it was renamed or removed. Null: it is built in, or its file is in another folder, or there is no folder. */
  has_file: boolean | null;
  /** The other folder that its last run read it from, if its file is still there; else null. */
  other_jobs_dir: string | null;
  /** Targets that it does not have any more (listFormer). */
  former: bigint;
  /** Targets without a checkpoint, which were never crawled to the end. Null where they cannot be counted. */
  never_complete: bigint | null;
  /** Incremental jobs whose file is there: when the next crawl is a full one. */
  next_full_due: Date | null;
}

export interface TargetStatus extends PublishedTarget {
  next_full_due: Date | null;
}

export interface Status {
  /** Records were loaded, but there is no snapshot and no run that would make it: `jobs` is empty. */
  snapshotMissing: boolean;
  /** What was published, from the snapshot. Jobs without a file come last. */
  jobs: JobStatus[];
  /** Targets of the requested job. */
  targets: TargetStatus[] | null;
  gaps: Gap[];
  /** Rows that were missing once and wait for a second answer. */
  absent: number;
  /** Jobs that seem to have lost most of their rows, which are kept until a second look. */
  waiting: Waiting[];
  /** Targets with rows that their jobs do not request any more. */
  dropped: Dropped[];
  /** Live rows that no job follows any more, by table. */
  unfollowed: Record<string, number>;
  /** Crawls that guards hold back. */
  held: Held[];
  /** Received and not in the snapshot yet, from the landing log. */
  landed: { crawls: number; open: number; records: number };
  /** The last run that crawls or publishes. */
  lastRun: RunEntry | null;
  /** Jobs, and lines of target files, that the last run of the job left out. */
  leftOut: LeftOut[];
  /** `data/run.json` of a run that is at work now, else null. */
  running: RunState | null;
  creditsThisMonth: number;
  /** What is left of `api.monthly_credits`; null: no limit is configured. */
  creditsLeft: number | null;
  /** Requests that were not needed in this billing month. */
  savedThisMonth: number;
}

/** The job files: which targets there are, and how often incremental jobs are crawled in full. */
export interface JobFiles {
  dir: string;
  /** Names of all job files, also those with mistakes. Null: there is no folder. */
  names: readonly string[] | null;
  /** Empty when any file has a mistake, because they are checked together. */
  jobs: readonly Job[];
}

/**
 * Reads the status without disturbing a run: from the snapshot, the landing log's page lines and the logs.
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
  const requested = files.jobs.filter(({ name }) => job === null || name === job);
  const named = await nameTargets(requested, hasSnapshot ? { folder, config, signal } : null);
  const published: PublishedStatus = hasSnapshot
    ? await readPublished(folder, config, { job, files: files.jobs, named, runs })
    : {
        jobs: [],
        targets: [],
        gaps: [],
        absent: 0,
        waiting: [],
        dropped: [],
        unfollowed: {},
        held: [],
        done: new Set<string>(),
        checkpointTargets: [],
      };
  const elsewhere = await findElsewhere(runs, files);
  const names = listJobs(published.checkpointTargets, files, elsewhere);
  if (job !== null) requireJob(job, names);
  const { done } = published;
  const spent = await sumRequests(folder.requests, billingPeriodStart(new Date(), config.billingDay));
  const due = (name: string, last: Date | null) =>
    nextFull(last, files.jobs.find((file) => file.name === name)?.fullEveryMs ?? null);
  const describeJob = (name: string): JobStatus => {
    const job = published.jobs.find((job) => job.job === name) ?? unpublishedJob(name);
    const known = published.checkpointTargets.filter((target) => target.job === name);
    const file = requested.find((file) => file.name === name);
    const never = file === undefined ? null : countNever(file, named.get(name) ?? null, known);
    return {
      ...withMissing(job, never),
      has_file: hasFile(name, files, elsewhere),
      other_jobs_dir: elsewhere.get(name) ?? null,
      former: BigInt(known.filter(({ former }) => former).length),
      next_full_due: due(name, job.last_full),
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
        : published.targets.map((target) => ({ ...target, next_full_due: due(job, target.last_full) })),
    gaps: published.gaps,
    absent: published.absent,
    waiting: published.waiting,
    dropped: published.dropped,
    unfollowed: published.unfollowed,
    held: published.held,
    landed: {
      crawls: crawls.length,
      open: crawls.filter((crawl) => !isEnded(crawl) && crawl.failed === null).length,
      // Records of a feed are published at once.
      records: crawls.reduce((sum, crawl) => sum + (crawl.last?.feed ? 0 : crawl.records), 0),
    },
    lastRun: lastOfTables(runs),
    leftOut: listLeftOut(runs).filter((entry) => job === null || entry.job === job),
    running,
    creditsThisMonth: spent.credits,
    creditsLeft: leftOf(config.monthlyCredits, spent.credits),
    savedThisMonth: spent.saved,
  };
}

/** Published jobs, then those with only a file, then those without a file any more. */
function listJobs(
  known: readonly CheckpointTarget[],
  files: JobFiles,
  elsewhere: ReadonlyMap<string, string>,
): string[] {
  const names = [...new Set([...known.map(({ job }) => job), ...files.jobs.map(({ name }) => name)])];
  const isGone = (name: string) => hasFile(name, files, elsewhere) === false;
  return [...names.filter((name) => !isGone(name)), ...names.filter(isGone)];
}

/** Null where a missing file means nothing: built-in jobs have none, and the folder may be another one. */
function hasFile(name: string, { names }: JobFiles, elsewhere: ReadonlyMap<string, string>): boolean | null {
  if (names?.includes(name)) return true;
  return names === null || name.startsWith('_') || elsewhere.has(name) ? null : false;
}

/** Jobs that are not in this folder, with the folder that their last run read them from, if they are still there. */
async function findElsewhere(
  runs: readonly RunEntry[],
  { dir, names }: JobFiles,
): Promise<Map<string, string>> {
  const last = new Map<string, string>();
  for (const { jobs, jobsDir } of runs)
    for (const job of jobs) if (jobsDir !== undefined) last.set(job, jobsDir);
  const folders = new Map<string, string>();
  for (const [job, jobsDir] of last) {
    if (names?.includes(job) || jobsDir === resolve(dir)) continue;
    if (await exists(join(jobsDir, `${job}.yaml`))) folders.set(job, jobsDir);
  }
  return folders;
}

/** How many targets have no checkpoint; null where they cannot be counted, and for jobs over ids. */
function countNever(
  job: Job,
  named: ReadonlySet<string> | null,
  known: readonly CheckpointTarget[],
): number | null {
  if (named === null || job.operation.paging === 'batch') return null;
  const crawled = new Set(known.map(({ target }) => target));
  return [...named].filter((name) => !crawled.has(name)).length;
}

function nextFull(last: Date | null, everyMs: number | null): Date | null {
  return last === null || everyMs === null ? null : new Date(last.getTime() + everyMs);
}

/** Adds the targets without a checkpoint. @param never null: they cannot be counted */
function withMissing(
  job: PublishedJob,
  never: number | null,
): PublishedJob & Pick<JobStatus, 'never_complete'> {
  if (never === null) return { ...job, never_complete: null };
  const targets = job.targets + BigInt(never);
  const counted = { ...job, targets, never_complete: BigInt(never) };
  const unknown = { complete_as_of: null, changes_seen_to: null, covered_from: null, covered_to: null };
  return never === 0 ? counted : { ...counted, ...unknown };
}

function unpublishedJob(job: string): PublishedJob {
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
