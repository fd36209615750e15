import { readFile } from 'node:fs/promises';
import type { Config } from '../config.ts';
import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import { type Job, requireJob } from '../jobs/job-file.ts';
import { crawlKey, isEnded, readLanding } from '../landing/reader.ts';
import { exists } from '../landing/segment-files.ts';
import { requireSchema } from '../warehouse/build.ts';
import { type Database, openDatabase } from '../warehouse/database.ts';
import { isSnapshotMissing } from '../warehouse/open-snapshot.ts';
import { readSql } from '../warehouse/sql-text.ts';
import { billingPeriodStart, leftOf } from './budget.ts';
import { type CrawledTarget, listFormer, nameTargets } from './current-targets.ts';
import { sumRequests } from './request-log.ts';
import { type RunEntry, readRunLog } from './run-log.ts';

/** What a feed covers: the lowest and highest slot that are in, gaps between them aside. Null for all else. */
interface Covered {
  covered_from: bigint | null;
  covered_to: bigint | null;
}

/** How far a job is with the targets that it has now: all but `former` is about these. */
export interface JobStatus extends Covered {
  job: string;
  /** False: renamed or removed, it is crawled no more. Null: built in, or there is no folder of job files. */
  has_file: boolean | null;
  targets: bigint;
  /** Targets that it does not have any more (listFormer). */
  former: bigint;
  complete: bigint;
  /** Complete ones whose crawl brought no record: right for an owner without accounts, wrong for a misspelt address. */
  empty: bigint;
  open: bigint;
  failed: bigint;
  /** Targets without a checkpoint: nothing of them was ever received in full. Null where they cannot be told. */
  never_complete: bigint | null;
  /** All data up to this slot is in: of feeds only where each is covered from slot 0 on. */
  complete_as_of: bigint | null;
  /** Incremental jobs: changes up to this slot are in, which says nothing of rows that left. */
  changes_seen_to: bigint | null;
  last_complete: Date | null;
  /** When the last full crawl of the target that waited longest ended. */
  last_full: Date | null;
  /** Incremental jobs whose file is there: when the next crawl is a full one. */
  next_full_due: Date | null;
  quarantined: bigint;
}

export interface TargetStatus extends Covered {
  target: string;
  /** Whether its job does not have it any more. */
  former: boolean;
  state: string;
  complete_as_of: bigint | null;
  changes_seen_to: bigint | null;
  last_full: Date | null;
  next_full_due: Date | null;
  pages: bigint;
  records: bigint;
  quarantined: bigint;
  finished_at: Date | null;
  reason: string | null;
}

export interface Gap {
  job: string;
  target: string;
  low_slot: bigint;
  high_slot: bigint;
  /** Where the next run asks again; null where only the head leads there. */
  cursor: string | null;
}

export interface Status {
  /** The snapshot is not there though records were loaded, and no run is at work that would make it: nothing is told of jobs. */
  snapshotMissing: boolean;
  /** From the snapshot: what was published. Jobs without a file come last. */
  jobs: JobStatus[];
  /** Targets of the job asked for. */
  targets: TargetStatus[] | null;
  gaps: Gap[];
  /** Rows that left their lists and wait to be looked up once more. */
  absent: number;
  /** From the landing log: received, and in no snapshot yet. */
  landed: { crawls: number; open: number; records: number };
  lastRun: RunEntry | null;
  /** `data/run.json` of a run that is at work now, else null. */
  running: unknown;
  creditsThisMonth: number;
  /** Of `api.monthly_credits`; null: no limit is configured. */
  creditsLeft: number | null;
  /** Requests that were not needed in this billing month. */
  savedThisMonth: number;
}

/** The job files: which targets there are, and how often incremental jobs are crawled in full. */
export interface JobFiles {
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
  const published: Published = hasSnapshot
    ? await readPublished(folder, config, { job, files: files.jobs, named })
    : { jobs: [], targets: [], gaps: [], absent: 0, done: new Set<string>(), known: [] };
  const names = listJobs(published.known, files);
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
      has_file: hasFile(name, files),
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
    landed: {
      crawls: crawls.length,
      open: crawls.filter((crawl) => !isEnded(crawl) && crawl.failed === null).length,
      // What a feed has received is in its tables at once.
      records: crawls.reduce((sum, crawl) => sum + (crawl.last?.feed ? 0 : crawl.records), 0),
    },
    lastRun: runs.at(-1) ?? null,
    running,
    creditsThisMonth: spent.credits,
    creditsLeft: leftOf(config.monthlyCredits, spent.credits),
    savedThisMonth: spent.saved,
  };
}

/** Those that were published, then those that have a file only, then those that have none any more. */
function listJobs(known: readonly KnownTarget[], files: JobFiles): string[] {
  const names = [...new Set([...known.map(({ job }) => job), ...files.jobs.map(({ name }) => name)])];
  const isGone = (name: string) => hasFile(name, files) === false;
  return [...names.filter((name) => !isGone(name)), ...names.filter(isGone)];
}

/** Null where it says nothing: built-in jobs have none, and the folder may be another one. */
function hasFile(name: string, { names }: JobFiles): boolean | null {
  return names === null || name.startsWith('_') ? null : names.includes(name);
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

type Undated<T> = Omit<T, 'next_full_due'>;
type PublishedJob = Omit<JobStatus, 'next_full_due' | 'never_complete' | 'has_file' | 'former'>;

/** A target that has a checkpoint. */
interface KnownTarget {
  job: string;
  target: string;
  former: boolean;
}

/** What the snapshot says; what is missing and what is due stands in the job files. */
interface Published {
  jobs: PublishedJob[];
  /** Of the job asked for; empty without one. */
  targets: Undated<TargetStatus>[];
  /** Of the job asked for; without one, all. */
  gaps: Gap[];
  absent: number;
  done: ReadonlySet<string>;
  /** By job. */
  known: KnownTarget[];
}

/** What is asked of the snapshot, and what is known of the targets without it. */
interface Asked {
  job: string | null;
  files: readonly Job[];
  named: ReadonlyMap<string, ReadonlySet<string> | null>;
}

async function readPublished(folder: DataFolder, config: Config, asked: Asked): Promise<Published> {
  const { memoryLimit, threads } = config.warehouse;
  const database = await openDatabase(folder.snapshot, {
    memoryLimit,
    threads,
    tempDir: folder.temp,
    readOnly: true,
  });
  const { job } = asked;
  try {
    await requireSchema(database);
    await database.script(readSql('status/target-status.sql'));
    const known = await readKnown(database, asked);
    const former = known.filter(({ former }) => former);
    await database.run(readSql('status/former.sql'), {
      jobs: former.map(({ job }) => job),
      targets: former.map(({ target }) => target),
    });
    const done = await database.rows<{ task: string; crawl: string }>(
      `select task, crawl from meta.checkpoints where state = 'complete'`,
    );
    const [absent] = await database.rows<{ n: bigint }>('select count(*) as n from meta.absent');
    return {
      absent: Number(absent?.n ?? 0n),
      done: new Set(done.map(crawlKey)),
      known,
      jobs: await database.rows<PublishedJob>(readSql('status/jobs.sql')),
      targets:
        job === null
          ? []
          : await database.rows<Undated<TargetStatus>>(readSql('status/targets.sql'), { job }),
      gaps: await database.rows<Gap>(readSql('status/gaps.sql'), { job }),
    };
  } finally {
    database.close();
  }
}

/** The runs are those of the snapshot: what later ones crawled is not in its checkpoints. */
async function readKnown(database: Database, { files, named }: Asked): Promise<KnownTarget[]> {
  const runs = await database.rows<RunEntry>(readSql('status/runs.sql'));
  const rows = await database.rows<CrawledTarget & { job: string }>(
    'select job, target, last_run as "lastRun" from target_status order by job, target',
  );
  const byJob = new Map<string, CrawledTarget[]>();
  for (const row of rows) {
    const own = byJob.get(row.job);
    if (own === undefined) byJob.set(row.job, [row]);
    else own.push(row);
  }
  return [...byJob].flatMap(([job, crawled]) => {
    const file = files.find(({ name }) => name === job) ?? null;
    const former = listFormer(job, file, named.get(job) ?? null, crawled, runs);
    return crawled.map(({ target }) => ({ job, target, former: former.has(target) }));
  });
}

/** A job with the targets that have no checkpoint; null: how many those are cannot be told. */
function withMissing(
  one: PublishedJob,
  never: number | null,
): Omit<JobStatus, 'next_full_due' | 'has_file' | 'former'> {
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
    complete_as_of: null,
    changes_seen_to: null,
    last_complete: null,
    last_full: null,
    quarantined: 0n,
    covered_from: null,
    covered_to: null,
  };
}

/** The state file of the last run, when that has not ended and its process is alive. */
export async function readRunning(folder: DataFolder, last: RunEntry | undefined): Promise<unknown> {
  if (last === undefined || last.finishedAt !== null) return null;
  try {
    const state = JSON.parse(await readFile(folder.runState, 'utf8')) as { run: string; pid: number };
    process.kill(state.pid, 0);
    return state.run === last.run ? state : null;
  } catch {
    // No such file or no such process: the run was killed.
    return null;
  }
}
