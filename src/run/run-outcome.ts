import type { Logger } from 'pino';
import { KeyRefused, type StoppedEarly } from '../errors.ts';
import { isHeldBack, type Published } from '../publish/published.ts';
import type { Dropped } from './dropped-targets.ts';
import type { RunContext } from './run-context.ts';
import type { LeftOut } from './run-log.ts';
import type { JobProgress } from './run-state.ts';
import type { Ended } from './session.ts';

export interface RunReport extends Ended {
  run: string;
  jobs: Record<string, JobProgress>;
  requests: number;
  credits: number;
  /** Requests that were not needed, because crawls ended where everything was stored already. */
  saved: number;
  seconds: number;
  published: Published;
  /** Targets with rows that its jobs do not request any more. */
  dropped: readonly Dropped[];
}

/**
 * Reports what a run did and how it ended.
 * @param failed whether a target failed or was left out
 */
export function reportRun(run: RunContext, stopped: StoppedEarly | null, failed = false): RunReport {
  const { session, progress, published, budget, savings, startedAt } = run;
  const refused = isHeldBack(published);
  const exitCode = decideExitCode({ refused, stopped: stopped?.exitCode ?? null, failed });
  const jobs = Object.fromEntries(progress.jobs);
  const ended = { run: session.run, exitCode, stopped, published, leftOut: listLeftOut(jobs) };
  const seconds = (Date.now() - startedAt) / 1000;
  return { ...ended, jobs, ...budget.spent, saved: savings.requests, seconds, dropped: run.dropped };
}

/**
 * The exit code, where several may apply, in the order of the contract (74 and 77 are thrown). Pure.
 * @param outcome `stopped`: the code of what stopped the run early
 */
export function decideExitCode(outcome: {
  refused: boolean;
  stopped: 69 | 75 | null;
  failed: boolean;
}): number {
  if (outcome.refused) return 4;
  return outcome.stopped ?? (outcome.failed ? 3 : 0);
}

/** Whether a target of a job failed or was left out. Pure. */
export function hasFailed({ failed, leftOut, targetsLeftOut }: JobProgress): boolean {
  return failed > 0 || leftOut !== null || targetsLeftOut.length > 0;
}

/**
 * Refuses a key that may use none of the jobs' operations.
 * @throws KeyRefused
 */
export function refuseForbidden(jobs: readonly JobProgress[]): void {
  const count = (field: 'tasks' | 'forbidden') => jobs.reduce((sum, job) => sum + job[field], 0);
  if (count('tasks') === 0 || count('forbidden') < count('tasks')) return;
  throw new KeyRefused(
    'the key may use none of the operations asked for (403)',
    "Check the key's plan and its allowed IP addresses in the dashboard.",
  );
}

/** Warns where this computer's clock differs from the API's. */
export function warnOfClockSkew(aheadMs: number, log: Logger): void {
  if (aheadMs === 0) return;
  const minutes = Math.round(Math.abs(aheadMs) / 60_000);
  log.warn(
    { minutes },
    `this computer's clock is ${aheadMs > 0 ? 'ahead of' : 'behind'} the API's: using the API's time; correct the clock`,
  );
}

function listLeftOut(jobs: Readonly<Record<string, JobProgress>>): LeftOut[] {
  return Object.entries(jobs).flatMap(([job, { leftOut, targetsLeftOut }]) =>
    [...(leftOut === null ? [] : [leftOut]), ...targetsLeftOut].map((problem) => ({ job, problem })),
  );
}
