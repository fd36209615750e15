import { ApiError } from '../api/api-errors.ts';
import { mostSevere } from '../errors.ts';
import type { Task } from '../jobs/task.ts';
import type { FailedLine } from '../landing/page-line.ts';
import { crawlBatch } from './crawl-batch.ts';
import { crawlList } from './crawl-list.ts';
import {
  BoundsIgnored,
  BrokenCursor,
  type CrawlDeps,
  FeedDisorder,
  PagingLoop,
  RangesRefused,
  SlotAhead,
  type TaskStart,
} from './crawl-task.ts';

export interface CrawlTasksDeps extends CrawlDeps {
  /** Tasks crawled side by side; the client's pools decide how many requests that is. */
  concurrency: number;
  onTaskEnd(task: Task, failure: TaskFailure | null): void;
}

/** Why one target failed. */
export interface TaskFailure {
  reason: string;
  /** Whether the key may not use the operation. */
  forbidden: boolean;
  /** The slot that was too far ahead, where that is why. */
  ahead?: FailedLine['ahead'];
}

/**
 * Crawls tasks in the order given, several side by side. A task that the API refuses fails alone and is recorded in the
 * landing log. What concerns all of them (stop, key, disk) rejects after the others have stopped, with everything
 * received landed.
 */
export async function crawlTasks(starts: readonly TaskStart[], deps: CrawlTasksDeps): Promise<void> {
  /** By operation that the key may not use: its other tasks fail without a request. */
  const forbidden = new Map<string, TaskFailure>();
  const fatalErrors: unknown[] = [];
  // Not a queue of promises: those of 200,000 targets took 130 MB before the first request.
  const waiting = starts.values();
  const work = async () => {
    for (const start of waiting) {
      try {
        await crawlAndRecordEnd(start, deps, forbidden);
      } catch (error) {
        fatalErrors.push(error);
      }
      if (fatalErrors.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: deps.concurrency }, work));
  if (fatalErrors.length > 0) throw mostSevere(fatalErrors);
}

/** Crawls a task and records how it ended. Where the source gives no ranges of ids, one range crawls the whole target. */
async function crawlAndRecordEnd(
  start: TaskStart,
  deps: CrawlTasksDeps,
  forbidden: Map<string, TaskFailure>,
): Promise<void> {
  const { split } = start;
  try {
    const failure =
      forbidden.get(start.task.operation.name) ?? (await crawlCatchingTargetFailure(start, deps, forbidden));
    for (const crawl of [start, ...(start.twins ?? [])]) {
      if (failure !== null) await landFailure(crawl, deps, failure);
      deps.onTaskEnd(crawl.task, failure);
    }
  } catch (error) {
    if (!(error instanceof RangesRefused) || split === undefined) throw error;
    // The first range that finds out crawls the whole target; the others return.
    if (split.refused) return deps.onTaskEnd(start.task, null);
    split.refused = true;
    // Recorded before the first page: a run that stops in between need not pay to find it out again.
    await landFailure({ ...split.whole, crawl: start.crawl }, deps, { reason: rangesRefused });
    await crawlAndRecordEnd(split.whole, deps, forbidden);
  }
}

/** Crawls a task; returns why its target failed, or null. @throws RangesRefused, and what concerns all tasks */
async function crawlCatchingTargetFailure(
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
      ...(error instanceof SlotAhead && { ahead: error.ahead }),
    };
    if (failure.forbidden) forbidden.set(start.task.operation.name, failure);
    return failure;
  }
}

const rangesRefused = 'the API gives no ranges of ids: its pages are asked for one after another';

const targetFailures = [ApiError, PagingLoop, FeedDisorder, SlotAhead, BoundsIgnored, BrokenCursor];

async function landFailure(
  { task, crawl }: TaskStart,
  deps: CrawlDeps,
  { reason, ahead }: Omit<TaskFailure, 'forbidden'>,
): Promise<void> {
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
    ...(ahead && { ahead }),
  });
}

/**
 * Crawls one task to its end, from where an earlier run stopped. When it resolves or rejects, every page received has
 * landed.
 * @throws RangesRefused when the source cannot give a range of ids
 */
export async function crawlTask(start: TaskStart, deps: CrawlDeps): Promise<void> {
  if (start.task.operation.paging === 'batch') await crawlBatch(start, deps);
  else await crawlList(start, deps);
}
