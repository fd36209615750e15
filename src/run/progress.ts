import type { Logger } from 'pino';
import type { PoolState } from '../api/client.ts';
import type { AttemptEntry } from '../api/client-state.ts';
import { type Problem, problemText } from '../config/yaml-file.ts';
import type { TaskFailure } from '../crawl/crawl-tasks.ts';
import type { UsageError } from '../errors.ts';
import type { Task } from '../jobs/task.ts';
import { createScreen, type Screen, sizeOf, useScreen } from '../screen.ts';
import { createLiveJobs, type LiveJobs } from './live-jobs.ts';
import { renderProgress } from './render-progress.ts';
import { idle, type JobProgress, type LiveJob, type RunActivity, writeRunState } from './run-state.ts';

export interface Progress extends Pick<LiveJobs, 'addTasks'> {
  /** Shows a job, also one that turns out to have no tasks. */
  addJob(job: string): void;
  /** A job's targets are known. @param before how many of them earlier runs of the round completed */
  setPlanned(job: string, before: number): void;
  onAttempt(entry: Pick<AttemptEntry, 'attempt' | 'credits'>, job: string): void;
  onPage(task: Task, page: { records: number }): void;
  onTaskEnd(task: Task, failure: TaskFailure | null): void;
  /** A job is not crawled, because its targets cannot be read. */
  onLeftOut(job: string, error: UsageError): void;
  /** A job is crawled without some lines of its target file. */
  onTargetsLeftOut(job: string, problems: readonly Problem[]): void;
  /** Shows what the run does outside a crawl, such as `publishing`; null: it crawls. */
  setStage(stage: string | null): void;
  readonly jobs: ReadonlyMap<string, JobProgress>;
  close(): Promise<void>;
}

export interface ProgressOptions {
  run: string;
  log: Logger;
  /** Whether to draw one line a job on the terminal, instead of log lines. */
  onTerminal: boolean;
  /** Jobs of later waves, which are shown as waiting. */
  coming: readonly string[];
  /** `data/run.json`, which `status` reads while the run lasts. */
  stateFile: string;
  spent: { requests: number; credits: number };
  /** The state of the API client's pools. */
  pools(): readonly PoolState[];
  /** Aborted by a signal to stop. */
  stopping: AbortSignal;
}

/** Lines of a target file that a report names. */
const maxShown = 20;

/** Failed targets of a job that a terminal names: a user wants the first few, and the count. */
const maxLoggedFailures = 10;

const stateEveryMs = 2000;
const logEveryMs = 15_000;
const drawEveryMs = 200;

/** Shows how far the run is: on the terminal, in the log, and in `data/run.json`. */
export async function createProgress(options: ProgressOptions): Promise<Progress> {
  const { log, stopping } = options;
  const live = createLiveJobs();
  const startedAt = new Date();
  let stage: string | null = null;
  const screen = options.onTerminal ? createScreen(process.stderr) : null;
  useScreen(screen);
  const view = () => readView(options, live, stage);
  const draw = () => {
    if (screen !== null) drawOn(screen, view(), startedAt);
  };
  const writeState = () => {
    const { jobs, activity } = view();
    return writeRunState(options.stateFile, {
      ...{ run: options.run, started_at: startedAt.toISOString(), ...options.spent },
      ...{ jobs: Object.fromEntries(jobs), activity },
    });
  };
  const onStopping = () => {
    draw();
    if (screen === null) log.info({ in_flight: view().activity.inFlight }, 'stopping');
  };
  stopping.addEventListener('abort', onStopping);
  const timers = [
    setInterval(() => void writeState(), stateEveryMs),
    screen === null
      ? setInterval(() => logProgress(log, view().jobs), logEveryMs)
      : setInterval(draw, drawEveryMs),
  ].map((timer) => timer.unref());
  await writeState();
  return {
    jobs: live.progress,
    addJob: (job) => void live.of(job),
    addTasks: live.addTasks,
    setPlanned: live.planned,
    onAttempt: (entry, job) => live.onAttempt(entry, job, Date.now()),
    onPage: (task, { records }) => live.onPage(task, records, Date.now()),
    onTaskEnd: (task, failure) => {
      live.onTaskEnd(task, failure);
      if (failure === null) return;
      const { job, target } = task;
      if (screen === null || live.of(job).failed <= maxLoggedFailures)
        log.warn({ job, target, reason: failure.reason }, 'target failed');
    },
    onLeftOut(job, { message: reason, hint }) {
      live.of(job).leftOut = reason;
      log.error({ job, reason, hint }, 'left out of this run');
    },
    onTargetsLeftOut(job, problems) {
      const shown = problems.slice(0, maxShown).map(problemText);
      if (problems.length > maxShown) shown.push(`and ${problems.length - maxShown} more`);
      live.of(job).targetsLeftOut = shown;
      log.error({ job, lines: shown }, 'targets left out of this run: correct their lines');
    },
    setStage(next) {
      stage = next;
      draw();
    },
    async close() {
      for (const timer of timers) clearInterval(timer);
      stopping.removeEventListener('abort', onStopping);
      if (screen !== null) {
        const last = view();
        // The last drawing stays, so it shows how far the run came, not what it was doing.
        drawOn(screen, { ...last, activity: idle }, startedAt, true);
        screen.end();
        useScreen(null);
      }
      await writeState();
    },
  };
}

interface View {
  now: number;
  jobs: Map<string, LiveJob>;
  coming: readonly string[];
  spent: ProgressOptions['spent'];
  activity: RunActivity;
}

function readView(
  { coming, spent, pools, stopping }: ProgressOptions,
  live: LiveJobs,
  stage: string | null,
): View {
  const now = Date.now();
  const states = pools();
  const limits = new Map(states.map(({ pool, rps }) => [pool, rps]));
  const jobs = live.view(now, (pool) => limits.get(pool) ?? Number.POSITIVE_INFINITY);
  const latest = (field: 'heldUntil' | 'restsUntil') => Math.max(0, ...states.map((state) => state[field]));
  const inFlight = states.reduce((sum, state) => sum + state.inFlight, 0);
  const activity = {
    ...{ stage, heldUntil: latest('heldUntil'), restsUntil: latest('restsUntil') },
    ...{ inFlight, stopping: stopping.aborted },
  };
  return { now, jobs, coming: coming.filter((job) => !jobs.has(job)), spent, activity };
}

function drawOn(screen: Screen, view: View, startedAt: Date, ended = false): void {
  const elapsedSeconds = (view.now - startedAt.getTime()) / 1000;
  screen.draw(renderProgress({ ...view, ...view.spent, elapsedSeconds, ended }, sizeOf(process.stderr)));
}

function logProgress(log: Logger, jobs: ReadonlyMap<string, LiveJob>): void {
  for (const [job, progress] of jobs)
    if (progress.done < progress.tasks) log.info({ job, ...progress }, 'crawling');
}
