import type { Job } from '../jobs/job.ts';
import type { Refresh } from '../publish/crawl-tables.ts';
import type { RunEntry } from './run-log.ts';

/** Exit codes after which every target was complete or failed: the next run begins a new round. */
const roundEnds = new Set([0, 3, 4]);

const crawls = new Set(['run', 'crawl']);

/**
 * The first run of a job's unfinished round, or null when the next run begins a new one. A run that stopped early, failed
 * or was killed leaves its round open: what it finished is not crawled again.
 */
export function openRound(runs: readonly RunEntry[], job: string): string | null {
  return readRounds(runs, job).open;
}

/**
 * The first run of the last round that a job finished, with every target tried; null where there is none.
 * @param lastBegin only rounds that began with this run or an earlier one; null: all
 */
export function lastRound(runs: readonly RunEntry[], job: string, lastBegin: string | null): string | null {
  const { finished } = readRounds(runs, job);
  return finished.findLast((first) => lastBegin === null || first <= lastBegin) ?? null;
}

/** A job's rounds, each by its first run: the finished ones, oldest first, and the open one. */
function readRounds(runs: readonly RunEntry[], job: string): { finished: string[]; open: string | null } {
  const finished: string[] = [];
  let open: string | null = null;
  for (const { run, jobs, begins, exitCode } of runs) {
    if (!jobs.includes(job)) continue;
    if (open !== null && begins?.includes(job)) {
      finished.push(open);
      open = null;
    }
    open ??= run;
    if (exitCode === null || !roundEnds.has(exitCode)) continue;
    finished.push(open);
    open = null;
  }
  return { finished, open };
}

/**
 * Runs that began before a moment (Unix ms) and that no job's unfinished round needs. The last run stays, and so do runs
 * that moved the source, accepted something, or found that a short page is not the end. Pure.
 */
export function listOldRuns(runs: readonly RunEntry[], before: number): ReadonlySet<string> {
  const from = new Date(before).toISOString();
  const jobs = new Set(runs.flatMap((entry) => entry.jobs));
  const needed = [...jobs].flatMap((job) => openRound(runs, job) ?? []);
  const first = [...needed, runs.at(-1)?.run ?? ''].sort()[0] as string;
  // A rebuilt build has to know where its source moved, which targets jobs have, and which of them somebody let go.
  const old = runs.filter(
    ({ run, startedAt, moved, shortPages, targets, accepted }) =>
      startedAt < from &&
      run < first &&
      [moved, shortPages, targets, accepted].every((kept) => kept === undefined),
  );
  return new Set(old.map(({ run }) => run));
}

/** The rounds that crawl anew what a run reset. A run of single targets is one by itself. Pure. */
export function listRefreshes(runs: readonly RunEntry[]): Refresh[] {
  return runs.flatMap((reset, n) =>
    (reset.reset ?? []).map((name) => {
      const isLast = ({ jobs, exitCode }: RunEntry) =>
        jobs.some((job) => name === job || name.startsWith(`${job}/`)) && roundEnds.has(exitCode ?? -1);
      const isOfTargets = crawls.has(reset.verb) && !reset.jobs.includes(name.split('/')[0] as string);
      const last = isOfTargets ? reset : runs.slice(n).find(isLast);
      return { name, first: reset.run, last: last?.run ?? null };
    }),
  );
}

/** Jobs, or their chosen targets as `job/target`. Pure. */
export function namesOf(jobs: readonly Pick<Job, 'name' | 'onlyTargets'>[]): string[] {
  return jobs.flatMap(({ name, onlyTargets }) => onlyTargets?.map((target) => `${name}/${target}`) ?? name);
}

/**
 * Whether a full refresh of exactly these jobs was stopped or killed and its round is not over, so that the next full
 * refresh continues it. Pure.
 */
export function isInFullRefresh(runs: readonly RunEntry[], jobs: readonly string[]): boolean {
  const last = runs.findLast(
    (run) =>
      run.reset !== undefined &&
      run.jobs.length === jobs.length &&
      jobs.every((job) => run.jobs.includes(job) && run.reset?.includes(job)),
  );
  if (last === undefined) return false;
  return jobs.some((job) => {
    const open = openRound(runs, job);
    return open !== null && open <= last.run;
  });
}
