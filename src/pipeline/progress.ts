import type { Logger } from 'pino';
import type { TaskFailure } from '../crawl/crawl-tasks.ts';
import type { UsageError } from '../errors.ts';
import type { Task } from '../jobs/task.ts';
import { type Problem, problemText } from '../yaml-file.ts';
import { type JobProgress, writeRunState } from './run-state.ts';

export interface Progress {
  /** A job that has tasks to come, or none. */
  addJob(job: string): void;
  /**
   * A task to come. One that was added before in this wave, which is planned anew, counts once; what became of it then is
   * forgotten.
   */
  addTask(task: Pick<Task, 'id' | 'job'>, wave: number): void;
  onPage(task: Task, page: { records: number }): void;
  onTaskEnd(task: Task, failure: TaskFailure | null): void;
  /** A job that is not crawled, because its targets cannot be read. */
  onLeftOut(job: string, error: UsageError): void;
  /** A job that is crawled without some lines of its target file. */
  onTargetsLeftOut(job: string, problems: readonly Problem[]): void;
  readonly jobs: ReadonlyMap<string, JobProgress>;
  close(): Promise<void>;
}

export interface ProgressOptions {
  run: string;
  log: Logger;
  /** One line a job on a terminal, instead of log lines. */
  onTerminal: boolean;
  /** `data/run.json`: what `status` shows of a running run. */
  stateFile: string;
  spent: { requests: number; credits: number };
}

/** Lines of a target file that are named. */
const maxShown = 20;

/** Failed targets that a job's report names. */
const maxFailures = 3;

const stateEveryMs = 2000;
const logEveryMs = 15_000;
const drawEveryMs = 200;

/** Tells how far the run is: on the terminal, in the log, and in `data/run.json`. */
export async function createProgress(options: ProgressOptions): Promise<Progress> {
  const jobs = new Map<string, JobProgress>();
  const of = (job: string): JobProgress => {
    const known = jobs.get(job) ?? {
      ...{ tasks: 0, done: 0, failed: 0, forbidden: 0, pages: 0, records: 0 },
      failures: [],
      leftOut: null,
      targetsLeftOut: [],
    };
    jobs.set(job, known);
    return known;
  };
  /** By task: the wave it is of, and how it ended; undefined: not yet. */
  const added = new Map<string, { wave: number; failure: TaskFailure | null | undefined }>();
  const startedAt = new Date();
  const terminal = options.onTerminal ? (await import('log-update')).createLogUpdate(process.stderr) : null;
  const writeState = () =>
    writeRunState(options.stateFile, {
      run: options.run,
      started_at: startedAt.toISOString(),
      ...options.spent,
      jobs: Object.fromEntries(jobs),
    });
  const timers = [
    setInterval(() => void writeState(), stateEveryMs),
    terminal === null
      ? setInterval(() => logProgress(options.log, jobs), logEveryMs)
      : setInterval(() => terminal(renderProgress(jobs, Date.now() - startedAt.getTime())), drawEveryMs),
  ].map((timer) => timer.unref());
  await writeState();
  return {
    jobs,
    addJob: (job) => void of(job),
    addTask({ id, job }, wave) {
      const before = added.get(id);
      added.set(id, { wave, failure: undefined });
      if (before?.wave !== wave) {
        of(job).tasks += 1;
        return;
      }
      if (before.failure === undefined) return;
      of(job).done -= 1;
      if (before.failure === null) return;
      of(job).failed -= 1;
      if (before.failure.forbidden) of(job).forbidden -= 1;
    },
    onPage: ({ job }, { records }) => {
      of(job).pages += 1;
      of(job).records += records;
    },
    onTaskEnd: ({ id, job, target }, failure) => {
      const task = added.get(id);
      if (task !== undefined) task.failure = failure;
      of(job).done += 1;
      if (failure === null) return;
      of(job).failed += 1;
      if (failure.forbidden) of(job).forbidden += 1;
      if (of(job).failures.length < maxFailures) of(job).failures.push({ target, reason: failure.reason });
      options.log.warn({ job, target, reason: failure.reason }, 'target failed');
    },
    onLeftOut(job, { message: reason, hint }) {
      of(job).leftOut = reason;
      options.log.error({ job, reason, hint }, 'left out of this run');
    },
    onTargetsLeftOut(job, problems) {
      const shown = problems.slice(0, maxShown).map(problemText);
      if (problems.length > maxShown) shown.push(`and ${problems.length - maxShown} more`);
      of(job).targetsLeftOut = shown;
      options.log.error({ job, lines: shown }, 'targets left out of this run: correct their lines');
    },
    async close() {
      for (const timer of timers) clearInterval(timer);
      if (terminal !== null) {
        terminal(renderProgress(jobs, Date.now() - startedAt.getTime()));
        terminal.done();
      }
      await writeState();
    },
  };
}

/** One line a job. Pure. */
export function renderProgress(jobs: ReadonlyMap<string, JobProgress>, elapsedMs: number): string {
  const seconds = Math.max(1, elapsedMs / 1000);
  const width = Math.max(0, ...[...jobs.keys()].map((name) => name.length));
  return [...jobs]
    .map(([name, job]) => {
      const parts = [
        `${job.done}/${job.tasks} tasks`,
        `${job.pages} pages`,
        `${job.records} records`,
        `${Math.round(job.records / seconds)}/s`,
        ...(job.failed > 0 ? [`${job.failed} failed`] : []),
        ...(job.leftOut === null ? [] : ['left out']),
      ];
      return `${name.padEnd(width)}  ${parts.join('  ')}`;
    })
    .join('\n');
}

function logProgress(log: Logger, jobs: ReadonlyMap<string, JobProgress>): void {
  for (const [job, progress] of jobs)
    if (progress.done < progress.tasks) log.info({ job, ...progress }, 'crawling');
}
