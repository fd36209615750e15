import type { Job } from '../jobs/job.ts';
import type { Target } from '../jobs/targets.ts';
import { makeIncrementalTask, makeRangeTasks, makeTask, makeUnsplitTask, type Task } from '../jobs/task.ts';
import { isEnded, type LandedCrawl } from '../landing/reader.ts';
import type { CrawlState, PlannedStart } from './crawl-state.ts';
import { planFeed } from './plan-feed.ts';
import { openRound } from './run-log.ts';

/** Name of a target in maps. */
export function targetKey(of: { job: string; target: string }): string {
  return `${of.job}/${of.target}`;
}

/**
 * What a run has to crawl of one job, in any order. Targets that are complete in the job's open round are left
 * out. Pure.
 * @param ids a batch job's ids; an empty list is nothing to do
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
    if (task.operation.paging === 'feed') return planFeed(task, state, run, finished);
    return finished ? [] : planOne(task, ids, state, run);
  });
  if (round === null) return starts;
  // One that is open was tried again since.
  return starts.map((start) =>
    start.resume === null && hasFailedSince(start.task, state, round)
      ? { ...start, failedInRound: true }
      : start,
  );
}

/**
 * As `planStarts` for a job that somebody named: a new round where its unfinished one has nothing left, because another
 * job's targets hold nobody. Pure.
 * @returns `begins`: whether such a round begins, to be noted before the first request
 */
export function planOrBeginRound(
  job: Job,
  targets: readonly Target[],
  ids: readonly string[] | null,
  state: CrawlState,
  run: string,
): { starts: PlannedStart[]; begins: boolean } {
  const starts = planStarts(job, targets, ids, state, run);
  // Planned again by the same run, the round it began goes on.
  const hasBegun = openRound(state.runs, job.name) === run;
  if (starts.length > 0 || hasBegun) return { starts, begins: false };
  const others = state.runs.filter(({ jobs }) => !jobs.includes(job.name));
  return { starts: planStarts(job, targets, ids, { ...state, runs: others }, run), begins: true };
}

/**
 * The ranges of one target, or the whole of it where an earlier run found that the source has none. Found out in this
 * run, the crawl of the whole takes the place of the ranges' crawls: its name comes after theirs.
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
  const isKnown = [state.complete, state.failed, state.landed].some((known) => known.has(unsplit.id));
  if (isKnown) return pending(unsplit) ? planOne(unsplit, null, state, run) : [];
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

/** Whether a target failed in a run of this round. It is tried again, or the round would end as if it were complete. */
function hasFailedSince(task: Task, state: CrawlState, round: string): boolean {
  const crawls = (state.landed.get(task.id) ?? []).filter(({ failed }) => failed !== null);
  const runs = [state.failed.get(task.id), ...crawls.map((crawl) => crawl.runs.at(-1))];
  return runs.some((run) => run !== undefined && run >= round);
}

/** Whether the last crawl of a task ended with a short page, at a source where that turned out not to be the end. */
export function reliedOnShortPage(task: Task, { complete, landed, refuted }: CrawlState): boolean {
  if (!refuted.has(task.operation.name)) return false;
  const published = complete.get(task.id);
  const received = (landed.get(task.id) ?? []).filter(
    (crawl) => crawl.failed === null && isEnded(crawl) && (crawl.runs.at(-1) ?? '') >= (published?.run ?? ''),
  );
  // One that had nothing new ended where the one before it did.
  const ends = [published?.end ?? null, ...received.map(({ last }) => last?.end ?? null)];
  return ends.findLast((end) => end !== 'unchanged') === 'short';
}

function planOne(task: Task, ids: readonly string[] | null, state: CrawlState, run: string): PlannedStart[] {
  const relied = reliedOnShortPage(task, state);
  const known = state.complete.get(task.id);
  // What it ended with says nothing of what comes behind.
  const complete =
    relied && known !== undefined ? { ...known, lastIndexedSlot: null, firstContent: null } : known;
  const isBatch = task.operation.paging === 'batch';
  const open = findOpen(task, state);
  if (isBatch && open === undefined && (ids ?? []).length === 0) return [];
  return [
    {
      task,
      // The same run may have made the crawl that ended too early.
      crawl: open?.crawl ?? (relied ? `${run}-exact` : run),
      resume: open ?? null,
      // A batch asks for other ids every night, so an old slot says nothing about it.
      goal: {
        lastCompleteSlot: isBatch ? null : (complete?.lastIndexedSlot ?? null),
        seenSlot: isBatch ? null : (complete?.seenSlot ?? null),
        firstContent: isBatch ? null : (complete?.firstContent ?? null),
        coveredSlot: null,
      },
      ...(isBatch ? { ids: ids ?? [] } : {}),
      expected: isBatch ? expectBatch(ids ?? [], task.pageSize) : (complete ?? null),
      completedAt: complete?.finishedAt ?? null,
      fullPages: complete?.pages ?? null,
    },
  ];
}

/** The crawl of a task that goes on where it stopped. A batch whose ids were not all frozen begins anew. */
function findOpen(task: Task, state: CrawlState): LandedCrawl | undefined {
  const isBatch = task.operation.paging === 'batch';
  return (state.landed.get(task.id) ?? [])
    .filter((crawl) => !isEnded(crawl) && crawl.failed === null && (!isBatch || crawl.frozen))
    .at(-1);
}

/**
 * A target of an incremental job has two tasks, of which one is crawled in a round: the one that is open, the full one
 * first; else the full one when it was never complete or is due; else the one that looks for what changed.
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
  // One from the future was timed by a wrong clock: how old it is, nobody knows.
  const isDue = age === null || age < 0 || age >= (job.fullEveryMs ?? 0);
  const last = state.complete.get(recent.id);
  const seenSlot = newer(whole?.seenSlot, last?.seenSlot);
  if ((open ?? (isDue ? full : recent)) === full)
    return planOne(full, null, state, run).map((start) => ({ ...start, goal: { ...start.goal, seenSlot } }));
  // Changes up to either are in.
  const lastCompleteSlot = newer(whole?.lastIndexedSlot, last?.lastIndexedSlot);
  const newest = last?.lastIndexedSlot === lastCompleteSlot ? last : whole;
  return planOne(recent, null, state, run).map((start) => ({
    ...start,
    goal: { lastCompleteSlot, firstContent: newest?.firstContent ?? null, seenSlot, coveredSlot: null },
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
 * Order of a run: heads of feeds, open tasks, tasks never crawled, then the ones whose last complete crawl is oldest,
 * and last what failed in this round already, so that it does not use up a small budget every night. The jobs take turns in it, so that a small one is not kept waiting by a giant one.
 */
export function orderStarts(starts: readonly PlannedStart[]): PlannedStart[] {
  const rank = ({ task, resume, completedAt, failedInRound }: PlannedStart): string => {
    if (failedInRound) return '4';
    // One page tells whether a feed has anything new: the head goes before everything, its open crawls after it.
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
