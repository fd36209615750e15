import { createHash } from 'node:crypto';
import { realTiming } from '../api/timing.ts';
import { findNewestSegment } from '../archive/retention.ts';
import type { LandedPage, TaskStart } from '../crawl/crawl-task.ts';
import { crawlTasks } from '../crawl/crawl-tasks.ts';
import { createPageSizes } from '../crawl/page-size.ts';
import { StoppedEarly } from '../errors.ts';
import { canonicalJson } from '../jobs/job.ts';
import type { Task } from '../jobs/task.ts';
import { createLandingLog } from '../landing/writer.ts';
import { openKnownRows } from '../load/known-rows.ts';
import type { Operation } from '../operations/operation.ts';
import type { PlannedStart } from './crawl-state.ts';
import { freeMemory } from './free-memory.ts';
import { startLoading } from './load-stage.ts';
import type { RunContext } from './run-context.ts';

/** Tasks crawled side by side: enough to fill every pool's concurrency at a second of latency. */
const taskConcurrency = 64;

/**
 * Crawls one wave into the landing log; where the run publishes, segments are loaded as they are sealed.
 * @returns why it stopped early, or null when every target was tried
 * @throws KeyRefused, DiskError and bugs, with everything received landed
 */
export async function crawlWave(
  starts: readonly PlannedStart[],
  { session, options, wave, client, progress, savings, slots, shortPages }: RunContext,
): Promise<StoppedEarly | null> {
  session.closeBuild();
  freeMemory();
  // Of the later waves too: a mapping that cannot be read fails before the first request.
  const shapes = options.jobs.map(({ operation }) => operation.shape);
  const loading = options.verb === 'run' ? await startLoading(session, shapes) : null;
  const knownRows = openKnownRows(session.folder);
  const onPage = (task: Task, page: LandedPage) => {
    progress.onPage(task, page);
    savings.onPage(task, page);
  };
  const landing = createLandingLog({
    dir: session.folder.landing,
    highestNumber: await findNewestSegment(session.folder),
    onSealed: (segment) => loading?.add(segment),
  });
  try {
    await crawlTasks(shareCrawls(starts), {
      ...{ client, landing, run: session.run, wave, batchConcurrency: 8, concurrency: taskConcurrency },
      ...{ timing: realTiming, isKnown: knownRows.ask, onPage, onTaskEnd: progress.onTaskEnd },
      ...{ pageSizes: createPageSizes(), shortPages, slots },
    }).finally(() => landing.close());
    return null;
  } catch (error) {
    if (error instanceof StoppedEarly) return error;
    throw error;
  } finally {
    await knownRows.close();
    freeMemory();
    if (loading !== null) progress.setStage('loading');
    await loading?.finish();
  }
}

/**
 * Joins crawls that would send the same requests: what the first receives lands for each of them, under its own task. Rows,
 * checkpoints, guards and absence stay each job's own. Stopped crawls continue together where they stopped after the same
 * answer. Batches and ranges of ids are not shared. Pure.
 */
function shareCrawls<T extends TaskStart>(starts: readonly T[]): (T | (T & { twins: T[] }))[] {
  // Targets of one job are distinct, and so are a feed's head and gaps.
  const jobsOf = new Map<Operation, Set<string>>();
  for (const { task } of starts)
    jobsOf.set(task.operation, (jobsOf.get(task.operation) ?? new Set()).add(task.job));
  const firstOf = new Map<string, T>();
  const twins = new Map<T, T[]>();
  const crawls = starts.filter((start) => {
    const requests = jobsOf.get(start.task.operation)!.size > 1 ? identifyRequests(start) : null;
    if (requests === null) return true;
    const first = firstOf.get(requests);
    if (first === undefined) firstOf.set(requests, start);
    else twins.set(first, [...(twins.get(first) ?? []), start]);
    return first === undefined;
  });
  return crawls.map((start) => (twins.has(start) ? { ...start, twins: twins.get(start)! } : start));
}

/** Everything that decides which pages a crawl requests and where it ends; null where it cannot be shared. */
function identifyRequests(start: TaskStart): string | null {
  const { task, crawl, resume, from, goal, ids, split } = start;
  if (ids !== undefined || split !== undefined || task.range !== null) return null;
  const last = resume?.last ?? null;
  if (resume !== null && last === null) return null;
  const { operation, params, pageSize, since, overlapMs, incremental } = task;
  const requests = canonicalJson({
    ...{ operation: operation.name, params, pageSize, since, overlapMs, incremental },
    ...{ crawl, from: from ?? null, goal },
    after: last === null ? null : { page: last.page, next: last.next, received_at: last.received_at },
  });
  // The text itself has half a kilobyte.
  return createHash('sha256').update(requests).digest('base64');
}
