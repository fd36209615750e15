import { readFile, stat } from 'node:fs/promises';
import type { Config } from '../config.ts';
import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import { type Job, requireJob } from '../jobs/job-file.ts';
import { crawlKey, isEnded, readLanding } from '../landing/reader.ts';
import { requireSchema } from '../warehouse/build.ts';
import { openDatabase } from '../warehouse/database.ts';
import { readSql } from '../warehouse/sql-text.ts';
import { billingPeriodStart } from './budget.ts';
import { countMissing } from './missing-targets.ts';
import { targetKey } from './plan-starts.ts';
import { sumRequests } from './request-log.ts';
import { type RunEntry, readRunLog } from './run-log.ts';

export interface JobStatus {
  job: string;
  /** All that its file names now, and those that it named before. */
  targets: bigint;
  complete: bigint;
  open: bigint;
  failed: bigint;
  /** Targets without a checkpoint: nothing of them was ever received in full. Null where they cannot be told. */
  never_complete: bigint | null;
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

export interface TargetStatus {
  target: string;
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
  /** From the snapshot: what was published. */
  jobs: JobStatus[];
  /** Targets of the job asked for. */
  targets: TargetStatus[] | null;
  gaps: Gap[];
  /** Rows that left their lists and wait to be looked up once more. */
  absent: number;
  /** From the landing log: received, not published yet. */
  landed: { crawls: number; open: number; records: number };
  lastRun: RunEntry | null;
  /** `data/run.json` of a run that is at work now, else null. */
  running: unknown;
  creditsThisMonth: number;
  /** Requests that were not needed in this billing month. */
  savedThisMonth: number;
}

/**
 * What is known without disturbing a run: the snapshot, the landing log's page lines, the logs.
 * @param files the job files: they say which targets there are, and how often incremental jobs are crawled in full
 * @param signal interrupts the SQL of a job
 * @throws UsageError when nothing was ever run here
 */
export async function readStatus(
  folder: DataFolder,
  config: Config,
  job: string | null,
  files: readonly Job[],
  signal?: AbortSignal,
): Promise<Status> {
  const runs = await readRunLog(folder.runs);
  const hasSnapshot = await stat(folder.snapshot).then(
    () => true,
    () => false,
  );
  if (runs.length === 0 && !hasSnapshot)
    throw new UsageError(`nothing was run in ${folder.root} yet`, 'Begin with `ledgerlake run`.');
  const published: Published = hasSnapshot
    ? await readPublished(folder, config, job)
    : { jobs: [], targets: [], gaps: [], absent: 0, done: new Set<string>(), known: new Set<string>() };
  // Jobs that nothing was published of come last.
  const names = [...new Set([...published.jobs.map((one) => one.job), ...files.map(({ name }) => name)])];
  if (job !== null) requireJob(job, names);
  const { done } = published;
  const spent = await sumRequests(folder.requests, billingPeriodStart(new Date(), config.billingDay));
  const due = (name: string, last: Date | null) =>
    nextFull(last, files.find((file) => file.name === name)?.fullEveryMs ?? null);
  const missing = await countMissing(
    files.filter(({ name }) => job === null || name === job),
    published.known,
    hasSnapshot ? { folder, config, signal } : null,
  );
  const crawls = [...(await readLanding(folder.landing))].flatMap(([key, crawl]) =>
    done.has(key) ? [] : crawl,
  );
  return {
    jobs: names
      .filter((name) => job === null || name === job)
      .map((name) => {
        const one = published.jobs.find((one) => one.job === name) ?? nothingOf(name);
        const never = missing.get(name) ?? null;
        return { ...withMissing(one, never), next_full_due: due(name, one.last_full) };
      }),
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
    running: await readRunning(folder, runs.at(-1)),
    creditsThisMonth: spent.credits,
    savedThisMonth: spent.saved,
  };
}

function nextFull(last: Date | null, everyMs: number | null): Date | null {
  return last === null || everyMs === null ? null : new Date(last.getTime() + everyMs);
}

type Undated<T> = Omit<T, 'next_full_due'>;
type PublishedJob = Omit<JobStatus, 'next_full_due' | 'never_complete'>;

/** What the snapshot says; what is missing and what is due stands in the job files. */
interface Published {
  jobs: PublishedJob[];
  /** Of the job asked for; empty without one. */
  targets: Undated<TargetStatus>[];
  gaps: Gap[];
  absent: number;
  done: ReadonlySet<string>;
  /** Targets that have a checkpoint, by `targetKey`. */
  known: ReadonlySet<string>;
}

async function readPublished(folder: DataFolder, config: Config, job: string | null): Promise<Published> {
  const { memoryLimit, threads } = config.warehouse;
  const database = await openDatabase(folder.snapshot, {
    memoryLimit,
    threads,
    tempDir: folder.temp,
    readOnly: true,
  });
  try {
    await requireSchema(database);
    await database.script(readSql('status/target-status.sql'));
    const jobs = await database.rows<PublishedJob>(readSql('status/jobs.sql'));
    const known = await database.rows<{ job: string; target: string }>(
      'select job, target from target_status',
    );
    const done = await database.rows<{ task: string; crawl: string }>(
      `select task, crawl from meta.checkpoints where state = 'complete'`,
    );
    const [absent] = await database.rows<{ n: bigint }>('select count(*) as n from meta.absent');
    return {
      absent: Number(absent?.n ?? 0n),
      done: new Set(done.map(crawlKey)),
      known: new Set(known.map(targetKey)),
      jobs,
      targets:
        job === null
          ? []
          : await database.rows<Undated<TargetStatus>>(readSql('status/targets.sql'), { job }),
      gaps: await database.rows<Gap>(readSql('status/gaps.sql')),
    };
  } finally {
    database.close();
  }
}

/** A job with the targets that have no checkpoint; null: how many those are cannot be told. */
function withMissing(one: PublishedJob, never: number | null): Undated<JobStatus> {
  if (never === null) return { ...one, never_complete: null };
  const targets = one.targets + BigInt(never);
  const known = { ...one, targets, never_complete: BigInt(never) };
  return never === 0 ? known : { ...known, complete_as_of: null, changes_seen_to: null };
}

function nothingOf(job: string): PublishedJob {
  return {
    job,
    targets: 0n,
    complete: 0n,
    open: 0n,
    failed: 0n,
    complete_as_of: null,
    changes_seen_to: null,
    last_complete: null,
    last_full: null,
    quarantined: 0n,
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
