import PQueue from 'p-queue';
import { ApiError } from '../api/api-errors.ts';
import { mostSevere } from '../errors.ts';
import type { Task } from '../jobs/task.ts';
import { crawlBatch } from './crawl-batch.ts';
import {
  BoundsIgnored,
  BrokenCursor,
  FeedDisorder,
  PagingLoop,
  RangesRefused,
  SlotAhead,
} from './crawl-failures.ts';
import { crawlPages } from './crawl-pages.ts';
import type { CrawlDeps, TaskStart } from './crawl-task.ts';

export interface CrawlTasksDeps extends CrawlDeps {
  /** Tasks under way at once; the client's pools decide how many requests that is. */
  concurrency: number;
  onTaskEnd(task: Task, failure: TaskFailure | null): void;
}

/** Why one target failed; `forbidden`: the key may not use the operation. */
export interface TaskFailure {
  reason: string;
  forbidden: boolean;
}

/**
 * Crawls tasks in the order given, several at once. A task the API refuses fails alone and is recorded in the
 * landing log; anything that concerns all of them (stop, key, disk) rejects, after the others have stopped, with
 * everything received landed.
 */
export async function crawlTasks(starts: readonly TaskStart[], deps: CrawlTasksDeps): Promise<void> {
  const queue = new PQueue({ concurrency: deps.concurrency });
  /** Operations the key may not use: their other tasks fail without a request. */
  const forbidden = new Map<string, TaskFailure>();
  const stops: unknown[] = [];
  const runs = starts.map((start) =>
    queue.add(async () => {
      if (stops.length > 0) return;
      try {
        await crawlToEnd(start, deps, forbidden);
      } catch (error) {
        stops.push(error);
      }
    }),
  );
  await Promise.all(runs);
  if (stops.length > 0) throw mostSevere(stops);
}

/** Crawls a task, or in place of a range that the source cannot give its whole target, and notes how it ended. */
async function crawlToEnd(
  start: TaskStart,
  deps: CrawlTasksDeps,
  forbidden: Map<string, TaskFailure>,
): Promise<void> {
  const { split } = start;
  try {
    const failure = forbidden.get(start.task.operation.name) ?? (await crawlOrFail(start, deps, forbidden));
    for (const one of [start, ...(start.twins ?? [])]) {
      if (failure !== null) await landFailure(one, deps, failure.reason);
      deps.onTaskEnd(one.task, failure);
    }
  } catch (error) {
    if (!(error instanceof RangesRefused) || split === undefined) throw error;
    // The first range to find it out walks the whole target; the others leave it alone.
    if (split.refused) return deps.onTaskEnd(start.task, null);
    split.refused = true;
    // Noted before the walk has a page, so that a run that stops in between does not pay for finding it out again.
    await landFailure({ ...split.whole, crawl: start.crawl }, deps, rangesRefused);
    await crawlToEnd(split.whole, deps, forbidden);
  }
}

/** Null when the task's crawl ended, else why its target failed. */
async function crawlOrFail(
  start: TaskStart,
  deps: CrawlDeps,
  forbidden: Map<string, TaskFailure>,
): Promise<TaskFailure | null> {
  try {
    await crawlTask(start, deps);
    return null;
  } catch (error) {
    if (!targetFailures.some((kind) => error instanceof kind)) throw error;
    const failure = {
      reason: (error as Error).message,
      forbidden: error instanceof ApiError && error.kind === 'forbidden',
    };
    if (failure.forbidden) forbidden.set(start.task.operation.name, failure);
    return failure;
  }
}

const rangesRefused = 'the API gives no ranges of ids: its pages are asked for one after another';

const targetFailures = [ApiError, PagingLoop, FeedDisorder, SlotAhead, BoundsIgnored, BrokenCursor];

async function landFailure({ task, crawl }: TaskStart, deps: CrawlDeps, reason: string): Promise<void> {
  await deps.landing.appendFailure({
    kind: 'failed',
    task: task.id,
    crawl,
    run: deps.run,
    job: task.job,
    target: task.target,
    operation: task.operation.name,
    shape: task.operation.shape,
    range: task.range,
    reason,
    failed_at: new Date().toISOString(),
  });
}

/**
 * Crawls one task to its end, from where it stopped. Every page it goes on from has landed when it resolves or rejects.
 * @throws RangesRefused when the source cannot give a range of ids
 */
export async function crawlTask(start: TaskStart, deps: CrawlDeps): Promise<void> {
  if (start.task.operation.paging === 'batch') await crawlBatch(start, deps);
  else await crawlPages(start, deps);
}
