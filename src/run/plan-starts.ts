import type { Job } from '../jobs/job.ts';
import type { Target } from '../jobs/targets.ts';
import { makeIncrementalTask, makeRangeTasks, makeTask, makeUnsplitTask, type Task } from '../jobs/task.ts';
import { isEnded, type LandedCrawl } from '../landing/reader.ts';
import type { CompleteCheckpoint, CrawlState, PlannedStart } from './crawl-state.ts';
import { planFeed } from './plan-feed.ts';
import { openRound } from './rounds.ts';

/**
 * Plans the crawls of one job, in any order, without the targets that its open round has completed. Pure.
 * @param ids a batch job's ids; null for other jobs
 */
export function planStarts(
  job: Job,
  targets: readonly Target[],
  ids: readonly string[] | null,
  state: CrawlState,
  run: string,
): PlannedStart[] {
  const round = openRound(state.runs, job.name);
  const starts = targets.flatMap((target) => {
    if (job.mode === 'incremental') return planIncremental(job, target, state, run, round);
    if (job.partitions > 1) return planRanges(job, target, state, run, round);
    const task = makeTask(job, target);
    const finished = round !== null && isFinishedSince(task, state, round);
    if (task.operation.paging === 'feed') return planFeed(task, state, run, { round, finished });
    return finished ? [] : planOne(task, ids, state, run);
  });
  if (round === null) return starts;
  // A crawl that is open was tried again since the failure.
  return starts.map((start) =>
    start.resume === null && hasFailedSince(start.task, state, round)
      ? { ...start, triedInRound: true }
      : start,
  );
}

/**
 * As `planStarts`, for a job that the user named: where its unfinished round has nothing left, a new one begins. Such a
 * round is unfinished only because of other jobs of its runs. Pure.
 * @returns `begins`: whether a round begins, to be recorded before the first request
 */
export function planOrBeginRound(
  job: Job,
  targets: readonly Target[],
  ids: readonly string[] | null,
  state: CrawlState,
  run: string,
): { starts: PlannedStart[]; begins: boolean } {
  const starts = planStarts(job, targets, ids, state, run);
  // Planned again by the same run, which continues the round it began.
  const hasBegun = openRound(state.runs, job.name) === run;
  if (starts.length > 0 || hasBegun) return { starts, begins: false };
  const others = state.runs.filter(({ jobs }) => !jobs.includes(job.name));
  return { starts: planStarts(job, targets, ids, { ...state, runs: others }, run), begins: true };
}

/**
 * Plans the ranges of one target, or the whole target where an earlier run found that the source gives no ranges. Where
 * this run finds it out, the crawl of the whole replaces those of the ranges: its name sorts behind theirs.
 */
function planRanges(
  job: Job,
  target: Target,
  state: CrawlState,
  run: string,
  round: string | null,
): PlannedStart[] {
  const unsplit = makeUnsplitTask(job, target);
  const pending = (task: Task) => round === null || !isFinishedSince(task, state, round);
  const wasUnsplit = [state.complete, state.failed, state.landed].some((tasks) => tasks.has(unsplit.id));
  if (wasUnsplit) return pending(unsplit) ? planOne(unsplit, null, state, run) : [];
  const [whole] = planOne(unsplit, null, state, `${run}-whole`);
  const split = { refused: false, whole: whole! };
  return makeRangeTasks(job, target)
    .filter(pending)
    .flatMap((task) => planOne(task, null, state, run).map((start) => ({ ...start, split })));
}

function isFinishedSince(task: Task, state: CrawlState, round: string): boolean {
  if (reliedOnShortPage(task, state)) return false;
  const complete = state.complete.get(task.id);
  if (complete !== undefined && complete.run >= round) return true;
  return (state.landed.get(task.id) ?? []).some(
    (crawl) => crawl.failed === null && isEnded(crawl) && (crawl.runs.at(-1) ?? '') >= round,
  );
}

/** Whether a target failed in a run of this round. It is tried again, because a round ends with every target tried. */
function hasFailedSince(task: Task, state: CrawlState, round: string): boolean {
  const crawls = (state.landed.get(task.id) ?? []).filter(({ failed }) => failed !== null);
  const runs = [state.failed.get(task.id), ...crawls.map((crawl) => crawl.runs.at(-1))];
  return runs.some((run) => run !== undefined && run >= round);
}

/** Whether the last crawl of a task ended with a short page, and short pages turned out not to be the end. */
export function reliedOnShortPage(task: Task, { complete, landed, refuted }: CrawlState): boolean {
  if (!refuted.has(task.operation.name)) return false;
  const published = complete.get(task.id);
  const received = (landed.get(task.id) ?? []).filter(
    (crawl) => crawl.failed === null && isEnded(crawl) && (crawl.runs.at(-1) ?? '') >= (published?.run ?? ''),
  );
  // A crawl that had nothing new ended where the crawl before did.
  const ends = [published?.end ?? null, ...received.map(({ last }) => last?.end ?? null)];
  return ends.findLast((end) => end !== 'unchanged') === 'short';
}

function planOne(task: Task, ids: readonly string[] | null, state: CrawlState, run: string): PlannedStart[] {
  const relied = reliedOnShortPage(task, state);
  const last = state.complete.get(task.id);
  // That crawl ended too early, so an unchanged source does not mean that there is nothing new.
  const complete =
    relied && last !== undefined ? { ...last, lastIndexedSlot: null, firstContent: null } : last;
  const isBatch = task.operation.paging === 'batch';
  const open = findOpen(task, state);
  if (isBatch && open === undefined && (ids ?? []).length === 0) return [];
  return [
    {
      task,
      // Another name, because the crawl that ended too early may be of the same run.
      crawl: open?.crawl ?? (relied ? `${run}-exact` : run),
      resume: open ?? null,
      // A batch requests other ids every night, so the slot of an earlier crawl means nothing.
      goal: {
        lastCompleteSlot: isBatch ? null : (complete?.lastIndexedSlot ?? null),
        seenSlot: isBatch ? null : (complete?.seenSlot ?? null),
        firstContent: isBatch ? null : (complete?.firstContent ?? null),
        coveredSlot: null,
        ...(isBatch ? {} : hadRecords(complete)),
      },
      ...(isBatch ? { ids: ids ?? [] } : {}),
      expected: isBatch ? expectBatch(ids ?? [], task.pageSize) : (complete ?? null),
      completedAt: complete?.finishedAt ?? null,
      fullPages: complete?.pages ?? null,
    },
  ];
}

/** Whether a list had records when it was last crawled to the end. */
function hadRecords(
  ...complete: readonly (CompleteCheckpoint | undefined)[]
): Pick<PlannedStart['goal'], 'hadRecords'> {
  return complete.some((last) => (last?.records ?? 0) > 0) ? { hadRecords: true } : {};
}

/** The crawl of a task that continues where it stopped. A batch whose ids were not all frozen begins anew. */
function findOpen(task: Task, state: CrawlState): LandedCrawl | undefined {
  const isBatch = task.operation.paging === 'batch';
  return (state.landed.get(task.id) ?? [])
    .filter((crawl) => !isEnded(crawl) && crawl.failed === null && (!isBatch || crawl.frozen))
    .at(-1);
}

/**
 * Plans one of the two tasks that a target of an incremental job has: the one that is open, the full one first; else the
 * full one when it was never complete or is due; else the one that crawls what changed.
 */
function planIncremental(
  job: Job,
  target: Target,
  state: CrawlState,
  run: string,
  round: string | null,
): PlannedStart[] {
  const full = makeTask(job, target);
  const recent = makeIncrementalTask(job, target);
  if (round !== null && [full, recent].some((task) => isFinishedSince(task, state, round))) return [];
  const whole = state.complete.get(full.id);
  const open = [full, recent].find((task) => findOpen(task, state) !== undefined);
  const age = whole === undefined ? null : state.now - Date.parse(whole.finishedAt);
  // A time in the future came from a wrong clock, so the age is unknown.
  const isDue = age === null || age < 0 || age >= (job.fullEveryMs ?? 0);
  const last = state.complete.get(recent.id);
  const seenSlot = newer(whole?.seenSlot, last?.seenSlot);
  if ((open ?? (isDue ? full : recent)) === full)
    return planOne(full, null, state, run).map((start) => ({ ...start, goal: { ...start.goal, seenSlot } }));
  // Both tasks bring changes, so the newer of the two counts.
  const lastCompleteSlot = newer(whole?.lastIndexedSlot, last?.lastIndexedSlot);
  const newest = last?.lastIndexedSlot === lastCompleteSlot ? last : whole;
  return planOne(recent, null, state, run).map((start) => ({
    ...start,
    goal: {
      ...{ lastCompleteSlot, firstContent: newest?.firstContent ?? null, seenSlot, coveredSlot: null },
      ...hadRecords(whole, last),
    },
    expected: last ?? { pages: 1, records: job.pageSize },
    completedAt: newer(whole?.finishedAt, last?.finishedAt),
    fullPages: whole?.pages ?? null,
  }));
}

function newer<T extends string | number>(a: T | null | undefined, b: T | null | undefined): T | null {
  if (a == null || b == null) return a ?? b ?? null;
  return a > b ? a : b;
}

function expectBatch(ids: readonly string[], pageSize: number): { pages: number; records: number } {
  return { pages: Math.ceil(ids.length / pageSize), records: ids.length };
}

/**
 * Orders the crawls of a run: heads of feeds, open tasks, tasks never crawled, then those whose last complete crawl is
 * oldest. What already failed in this round comes last, so that it does not use up a small budget every night. Jobs take
 * turns, so that a small one does not wait for a giant one.
 */
export function orderStarts(starts: readonly PlannedStart[]): PlannedStart[] {
  const rank = ({ task, resume, completedAt, triedInRound }: PlannedStart): string => {
    if (triedInRound) return '4';
    // One page shows whether a feed has anything new, so its head comes before everything.
    if (task.operation.paging === 'feed' && resume === null) return '0';
    if (resume !== null) return '1';
    return completedAt === null ? '2' : `3 ${completedAt}`;
  };
  const turns = new Map<string, number>();
  return starts
    .map((start) => ({ start, rank: rank(start) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0))
    .map(({ start }) => {
      const turn = turns.get(start.task.job) ?? 0;
      turns.set(start.task.job, turn + 1);
      return { start, turn };
    })
    .sort((a, b) => a.turn - b.turn)
    .map(({ start }) => start);
}
