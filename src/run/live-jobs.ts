import type { AttemptEntry } from '../api/client-state.ts';
import type { TaskFailure } from '../crawl/crawl-tasks.ts';
import type { Task } from '../jobs/task.ts';
import type { Pool } from '../operations/operation.ts';
import type { PlannedStart } from './crawl-state.ts';
import type { JobProgress, LiveJob } from './run-state.ts';

/** Failed targets that a job's report names. */
const maxFailures = 3;

/** The rate of pages is taken over a minute: a shorter window makes the ETA jump. */
const pageWindowMs = 60_000;

/** Targets that must have ended before others are estimated by them: the first to end are the shortest. */
const minEnded = 10;

interface TaskCount {
  job: string;
  wave: number;
  /** Crawls of the task that have not ended: a feed has one for its head and one for each gap. */
  open: number;
  /** The first failure of a crawl of the task. */
  failure: TaskFailure | null;
  /** Pages received, by earlier runs of the same crawl too. */
  pages: number;
  /** Pages of its last complete crawl; null: unknown. */
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
  /** Open tasks of unknown size, and their pages so far. */
  unknown: { tasks: number; pages: number };
  ended: { tasks: number; pages: number };
}

/** Counts the work of a run, by job. Has no clock: the time is an argument. */
export interface LiveJobs {
  readonly progress: ReadonlyMap<string, JobProgress>;
  /** The counts of one job, which start at 0. */
  of(job: string): JobProgress;
  /** Adds tasks to crawl. A task that was planned before in this wave counts once, and its former end is forgotten. */
  addTasks(starts: readonly Pick<PlannedStart, 'task' | 'expected' | 'resume'>[], wave: number): void;
  /** A job's targets are known; earlier runs completed `before` of them. Only the first call counts. */
  planned(job: string, before: number): void;
  onAttempt(entry: Pick<AttemptEntry, 'attempt' | 'credits'>, job: string, now: number): void;
  onPage(task: Pick<Task, 'id' | 'job'>, records: number, now: number): void;
  onTaskEnd(task: Pick<Task, 'id' | 'job' | 'target'>, failure: TaskFailure | null): void;
  /** The state of every job. @param limitOf requests a second that a pool allows; Infinity: no limit */
  view(now: number, limitOf: (pool: Pool) => number): Map<string, LiveJob>;
}

export function createLiveJobs(): LiveJobs {
  const jobs = new Map<string, JobSums>();
  const progress = new Map<string, JobProgress>();
  const tasks = new Map<string, TaskCount>();
  const sumsOf = (job: string): JobSums => {
    const sums = jobs.get(job) ?? newSums();
    jobs.set(job, sums);
    progress.set(job, sums.progress);
    return sums;
  };
  return {
    progress,
    of: (job) => sumsOf(job).progress,
    addTasks(starts, wave) {
      for (const [id, task] of groupByTask(starts, wave)) {
        const sums = sumsOf(task.job);
        const former = tasks.get(id);
        tasks.set(id, task);
        if (former?.wave !== wave) sums.progress.tasks += 1;
        else forget(sums, former);
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
      requests.add(now);
      progress.requests += 1;
      progress.credits += credits;
      if (attempt > 1) progress.retries += 1;
    },
    onPage({ id, job }, records, now) {
      const sums = sumsOf(job);
      sums.pages.add(now);
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
        // It was counted as open until now.
        count(sums, { ...task, open: 1 }, -1);
        count(sums, task, 1);
      }
      const cause = task?.failure ?? failure;
      const { progress } = sums;
      progress.done += 1;
      if (cause === null) return;
      progress.failed += 1;
      if (cause.forbidden) progress.forbidden += 1;
      if (progress.failures.length < maxFailures) progress.failures.push({ target, reason: cause.reason });
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

/** Sums starts by task. Pure. */
function groupByTask(
  starts: readonly Pick<PlannedStart, 'task' | 'expected' | 'resume'>[],
  wave: number,
): Map<string, TaskCount> {
  const tasks = new Map<string, TaskCount>();
  for (const { task, expected, resume } of starts) {
    const sum = tasks.get(task.id) ?? newTask(task.job, wave);
    tasks.set(task.id, sum);
    sum.open += 1;
    sum.pages += resume?.pages.size ?? 0;
    sum.expected = sum.expected === null || expected === null ? null : sum.expected + expected.pages;
  }
  return tasks;
}

function newTask(job: string, wave: number): TaskCount {
  return { job, wave, open: 0, failure: null, pages: 0, expected: 0 };
}

/** Adds a task to the sums of its job, or subtracts it. */
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

/** Subtracts a task that is planned again. */
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

/** Pages still to come: as many as last time for known targets, the average of ended ones for others. Null: unknown. */
function estimatePagesLeft({ expectedLeft, unknown, ended }: JobSums): number | null {
  if (unknown.tasks === 0) return expectedLeft;
  if (ended.tasks < minEnded) return null;
  return expectedLeft + Math.max(0, (unknown.tasks * ended.pages) / ended.tasks - unknown.pages);
}

/** How much of a job is done, 0 to 1: by pages where they can be estimated, else by targets. */
function shareOf({ progress, received }: JobSums, left: number | null): number {
  const { tasks, before, done } = progress;
  if (tasks + before === 0) return 0;
  if (left === null || done === tasks || received + left === 0) return (before + done) / (before + tasks);
  return (before + tasks * (received / (received + left))) / (before + tasks);
}

/** The rate of an event. */
export interface Pace {
  add(now: number): void;
  /** Events a second over the window. */
  perSecond(now: number): number;
}

const steps = 10;

/** Counts events in tenths of the window, which takes the same memory at any rate. */
export function createPace(windowMs = 5000): Pace {
  const stepMs = windowMs / steps;
  const counts = new Map<number, number>();
  let first: number | null = null;
  return {
    add(now) {
      first ??= now;
      const step = Math.floor(now / stepMs);
      counts.set(step, (counts.get(step) ?? 0) + 1);
      for (const old of counts.keys()) if (old < step - steps) counts.delete(old);
    },
    perSecond(now) {
      const from = Math.floor((now - windowMs) / stepMs);
      let sum = 0;
      for (const [step, count] of counts) if (step >= from) sum += count;
      const since = Math.max(from * stepMs, first ?? now);
      return sum / (Math.max(1000, now - since) / 1000);
    },
  };
}
