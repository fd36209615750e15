import type { AttemptEntry } from '../api/client-state.ts';
import type { TaskFailure } from '../crawl/crawl-tasks.ts';
import type { Task } from '../jobs/task.ts';
import type { Pool } from '../operations/operation.ts';
import type { PlannedStart } from './crawl-state.ts';
import { createPace, type Pace } from './pace.ts';
import type { JobProgress, LiveJob } from './run-state.ts';

/** Failed targets that a job's report names. */
const maxFailures = 3;

/** Pages are counted over a minute: an ETA that follows every second is of no use. */
const pageWindowMs = 60_000;

/** Targets that must have ended before others are expected to be as long: the first to end are the shortest. */
const minEnded = 10;

/** What a task has to do. */
interface TaskCount {
  job: string;
  wave: number;
  /** Crawls of it that have not ended: a feed goes down from several places. */
  open: number;
  /** Of those that ended. */
  failure: TaskFailure | null;
  /** Received, also by earlier runs of the same crawl. */
  pages: number;
  /** Of its last complete crawl; null: nobody knows. */
  expected: number | null;
}

/** Sums over the tasks of one job. */
interface JobSums {
  progress: JobProgress;
  pool: Pool | null;
  isPlanned: boolean;
  requests: Pace;
  pages: Pace;
  /** Pages of all its tasks. */
  received: number;
  /** Pages still expected of tasks that were crawled before. */
  expectedLeft: number;
  /** Other tasks at work, and their pages. */
  unknown: { tasks: number; pages: number };
  ended: { tasks: number; pages: number };
}

/** Counts what a run does, by job. Holds no clock: the time is an argument. */
export interface LiveJobs {
  readonly progress: ReadonlyMap<string, JobProgress>;
  /** The counts of one job, 0 from the start. */
  of(job: string): JobProgress;
  /**
   * Tasks to come. Those that were planned before in this wave are planned anew and count once; what became of them then
   * is forgotten.
   */
  addTasks(starts: readonly Pick<PlannedStart, 'task' | 'expected' | 'resume'>[], wave: number): void;
  /** A job's targets are known; `before` of them are complete. Said once: what is planned anew has more. */
  planned(job: string, before: number): void;
  onAttempt(entry: Pick<AttemptEntry, 'attempt' | 'credits'>, job: string, now: number): void;
  onPage(task: Pick<Task, 'id' | 'job'>, records: number, now: number): void;
  onTaskEnd(task: Pick<Task, 'id' | 'job' | 'target'>, failure: TaskFailure | null): void;
  /** Every job as it stands. @param limitOf requests a second that a pool allows; Infinity: nothing limits */
  view(now: number, limitOf: (pool: Pool) => number): Map<string, LiveJob>;
}

export function createLiveJobs(): LiveJobs {
  const jobs = new Map<string, JobSums>();
  const progress = new Map<string, JobProgress>();
  const tasks = new Map<string, TaskCount>();
  const sumsOf = (job: string): JobSums => {
    const known = jobs.get(job) ?? newSums();
    jobs.set(job, known);
    progress.set(job, known.progress);
    return known;
  };
  return {
    progress,
    of: (job) => sumsOf(job).progress,
    addTasks(starts, wave) {
      for (const [id, task] of groupByTask(starts, wave)) {
        const sums = sumsOf(task.job);
        const before = tasks.get(id);
        tasks.set(id, task);
        if (before?.wave !== wave) sums.progress.tasks += 1;
        else forget(sums, before);
        count(sums, task, 1);
      }
      for (const { task } of starts) sumsOf(task.job).pool = task.operation.pool;
    },
    planned(job, before) {
      const sums = sumsOf(job);
      if (!sums.isPlanned) sums.progress.before = before;
      sums.isPlanned = true;
    },
    onAttempt({ attempt, credits }, job, now) {
      const { progress, requests } = sumsOf(job);
      requests.note(now);
      progress.requests += 1;
      progress.credits += credits;
      if (attempt > 1) progress.retries += 1;
    },
    onPage({ id, job }, records, now) {
      const sums = sumsOf(job);
      sums.pages.note(now);
      sums.progress.pages += 1;
      sums.progress.records += records;
      const task = tasks.get(id);
      if (task === undefined) return;
      count(sums, task, -1);
      task.pages += 1;
      count(sums, task, 1);
    },
    onTaskEnd({ id, job, target }, failure) {
      const sums = sumsOf(job);
      const task = tasks.get(id);
      if (task !== undefined) {
        task.failure ??= failure;
        task.open -= 1;
        if (task.open > 0) return;
        // What it was counted as while it was open.
        count(sums, { ...task, open: 1 }, -1);
        count(sums, task, 1);
      }
      const why = task?.failure ?? failure;
      const { progress } = sums;
      progress.done += 1;
      if (why === null) return;
      progress.failed += 1;
      if (why.forbidden) progress.forbidden += 1;
      if (progress.failures.length < maxFailures) progress.failures.push({ target, reason: why.reason });
    },
    view: (now, limitOf) => new Map([...jobs].map(([job, sums]) => [job, viewOf(sums, now, limitOf)])),
  };
}

function newSums(): JobSums {
  const counts = { tasks: 0, before: 0, done: 0, failed: 0, forbidden: 0, pages: 0, records: 0 };
  return {
    progress: {
      ...counts,
      ...{ requests: 0, retries: 0, credits: 0 },
      ...{ failures: [], leftOut: null, targetsLeftOut: [] },
    },
    pool: null,
    isPlanned: false,
    requests: createPace(),
    pages: createPace(pageWindowMs),
    received: 0,
    expectedLeft: 0,
    unknown: { tasks: 0, pages: 0 },
    ended: { tasks: 0, pages: 0 },
  };
}

/** Starts by task: a feed has one for its head and one for each gap. Pure. */
function groupByTask(
  starts: readonly Pick<PlannedStart, 'task' | 'expected' | 'resume'>[],
  wave: number,
): Map<string, TaskCount> {
  const tasks = new Map<string, TaskCount>();
  for (const { task, expected, resume } of starts) {
    const known = tasks.get(task.id) ?? newTask(task.job, wave);
    tasks.set(task.id, known);
    known.open += 1;
    known.pages += resume?.pages.size ?? 0;
    known.expected = known.expected === null || expected === null ? null : known.expected + expected.pages;
  }
  return tasks;
}

function newTask(job: string, wave: number): TaskCount {
  return { job, wave, open: 0, failure: null, pages: 0, expected: 0 };
}

/** Adds a task to the sums of its job, or takes it out. */
function count(sums: JobSums, { open, pages, expected }: TaskCount, sign: 1 | -1): void {
  sums.received += sign * pages;
  if (open === 0) {
    sums.ended.tasks += sign;
    sums.ended.pages += sign * pages;
  } else if (expected !== null) sums.expectedLeft += sign * Math.max(0, expected - pages);
  else {
    sums.unknown.tasks += sign;
    sums.unknown.pages += sign * pages;
  }
}

/** A task is planned anew. */
function forget(sums: JobSums, task: TaskCount): void {
  count(sums, task, -1);
  if (task.open > 0) return;
  sums.progress.done -= 1;
  if (task.failure === null) return;
  sums.progress.failed -= 1;
  if (task.failure.forbidden) sums.progress.forbidden -= 1;
}

function viewOf(sums: JobSums, now: number, limitOf: (pool: Pool) => number): LiveJob {
  const { progress, pool, isPlanned } = sums;
  const { tasks, done } = progress;
  const left = estimatePagesLeft(sums);
  const limit = pool === null ? Number.POSITIVE_INFINITY : limitOf(pool);
  const perSecond = sums.pages.perSecond(now);
  const isAtWork = done < tasks;
  return {
    ...progress,
    planned: isPlanned || tasks > 0,
    share: round(shareOf(sums, left), 3),
    pool,
    rps: isAtWork ? round(sums.requests.perSecond(now), 1) : 0,
    limitRps: Number.isFinite(limit) ? round(limit, 1) : null,
    etaSeconds: isAtWork && left !== null && perSecond > 0 ? Math.round(left / perSecond) : null,
  };
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** Pages that are still to come: of what was crawled before, as many as then; of the rest, as many as others had. Null: nobody knows. */
function estimatePagesLeft({ expectedLeft, unknown, ended }: JobSums): number | null {
  if (unknown.tasks === 0) return expectedLeft;
  if (ended.tasks < minEnded) return null;
  return expectedLeft + Math.max(0, (unknown.tasks * ended.pages) / ended.tasks - unknown.pages);
}

/** How much of a job is done, 0 to 1: by pages where they can be told, else by targets. */
function shareOf({ progress, received }: JobSums, left: number | null): number {
  const { tasks, before, done } = progress;
  if (tasks + before === 0) return 0;
  if (left === null || done === tasks || received + left === 0) return (before + done) / (before + tasks);
  return (before + tasks * (received / (received + left))) / (before + tasks);
}
