import type { Logger } from 'pino';
import type { PoolState } from '../api/client.ts';
import type { AttemptEntry } from '../api/client-state.ts';
import { type Problem, problemText } from '../config/yaml-file.ts';
import type { TaskFailure } from '../crawl/crawl-tasks.ts';
import type { UsageError } from '../errors.ts';
import type { Task } from '../jobs/task.ts';
import { createScreen, useScreen, widthOf } from '../screen.ts';
import { createPace } from './pace.ts';
import { renderProgress } from './render-progress.ts';
import { type JobProgress, writeRunState } from './run-state.ts';

export interface Progress {
  /** A job that has tasks to come, or none. */
  addJob(job: string): void;
  /**
   * A task to come. One that was added before in this wave, which is planned anew, counts once; what became of it then is
   * forgotten.
   */
  addTask(task: Pick<Task, 'id' | 'job'>, wave: number): void;
  /** Targets that need not be asked for: an earlier run of the round has them. Said once a job: what is planned anew has more. */
  setBefore(job: string, count: number): void;
  onAttempt(entry: Pick<AttemptEntry, 'attempt'>): void;
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
  /** What the API client is doing. */
  pools(): readonly PoolState[];
  /** Aborted once the run shall stop. */
  stopping: AbortSignal;
}

/** Lines of a target file that are named. */
const maxShown = 20;

/** Failed targets that a job's report names. */
const maxFailures = 3;

/** Failed targets of a job that stand above the lines on a terminal. */
const maxToldFailures = 10;

const stateEveryMs = 2000;
const logEveryMs = 15_000;
const drawEveryMs = 200;

/** Tells how far the run is: on the terminal, in the log, and in `data/run.json`. */
export async function createProgress(options: ProgressOptions): Promise<Progress> {
  const jobs = new Map<string, JobProgress>();
  const of = (job: string): JobProgress => {
    const known = jobs.get(job) ?? {
      ...{ tasks: 0, before: 0, done: 0, failed: 0, forbidden: 0, pages: 0, records: 0 },
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
  const begun = new Map<string, number>();
  const planned = new Set<string>();
  const pace = createPace();
  const screen = options.onTerminal ? createScreen(process.stderr) : null;
  useScreen(screen);
  const draw = () => {
    const now = Date.now();
    const pools = options.pools();
    screen?.draw(
      renderProgress(
        {
          ...{ jobs, now, ...options.spent, retries: pace.retries, rps: pace.rps(now) },
          seconds: new Map([...begun].map(([job, at]) => [job, (now - at) / 1000])),
          elapsedSeconds: (now - startedAt.getTime()) / 1000,
          limitRps:
            pools.reduce((sum, { rps, inFlight }) => (inFlight > 0 ? sum + rps : sum), 0) ||
            Number.POSITIVE_INFINITY,
          heldUntil: Math.max(0, ...pools.map(({ heldUntil }) => heldUntil)),
          inFlight: pools.reduce((sum, { inFlight }) => sum + inFlight, 0),
          stopping: options.stopping.aborted,
        },
        widthOf(process.stderr),
      ),
    );
  };
  const writeState = () =>
    writeRunState(options.stateFile, {
      run: options.run,
      started_at: startedAt.toISOString(),
      ...options.spent,
      jobs: Object.fromEntries(jobs),
    });
  const timers = [
    setInterval(() => void writeState(), stateEveryMs),
    screen === null
      ? setInterval(() => logProgress(options.log, jobs), logEveryMs)
      : setInterval(draw, drawEveryMs),
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
    setBefore(job, count) {
      if (!planned.has(job)) of(job).before = count;
      planned.add(job);
    },
    onAttempt: (entry) => pace.note(entry, Date.now()),
    onPage: ({ job }, { records }) => {
      if (!begun.has(job)) begun.set(job, Date.now());
      of(job).pages += 1;
      of(job).records += records;
    },
    onTaskEnd: ({ id, job, target }, failure) => {
      const task = added.get(id);
      // A feed's head and gaps are crawls of one task, which counts once and has failed when one of them has.
      const before = task?.failure;
      if (before === undefined) of(job).done += 1;
      if (task !== undefined) task.failure = failure ?? before ?? null;
      if (failure === null || (before !== undefined && before !== null)) return;
      of(job).failed += 1;
      if (failure.forbidden) of(job).forbidden += 1;
      if (of(job).failures.length < maxFailures) of(job).failures.push({ target, reason: failure.reason });
      // Of a hundred thousand a person wants the first few, and the count.
      if (screen === null || of(job).failed <= maxToldFailures)
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
      if (screen !== null) {
        draw();
        screen.end();
        useScreen(null);
      }
      await writeState();
    },
  };
}

function logProgress(log: Logger, jobs: ReadonlyMap<string, JobProgress>): void {
  for (const [job, progress] of jobs)
    if (progress.done < progress.tasks) log.info({ job, ...progress }, 'crawling');
}
