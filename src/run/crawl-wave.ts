import { realTiming } from '../api/timing.ts';
import { findNewestSegment } from '../archive/retention.ts';
import type { LandedPage } from '../crawl/crawl-task.ts';
import { crawlTasks } from '../crawl/crawl-tasks.ts';
import { createPageSizes } from '../crawl/page-size.ts';
import { StoppedEarly } from '../errors.ts';
import type { Task } from '../jobs/task.ts';
import { createLandingLog } from '../landing/writer.ts';
import { openKnownRows } from '../load/known-rows.ts';
import type { PlannedStart } from './crawl-state.ts';
import { freeMemory } from './free-memory.ts';
import { startLoading } from './load-stage.ts';
import type { RunContext } from './run-context.ts';
import { shareCrawls } from './share-crawls.ts';

/** Tasks at work at once: enough to fill every pool's concurrency at a second of latency. */
const taskConcurrency = 64;

/**
 * Crawls one wave into the landing log; where the run publishes, segments are loaded as they are sealed. Returns why it
 * stopped early, or null when all were tried.
 * @throws KeyRefused, DiskError and bugs, with everything received landed
 */
export async function crawlWave(
  starts: readonly PlannedStart[],
  { session, options, wave, client, progress, savings, slots, shortPages, acceptsAhead }: RunContext,
): Promise<StoppedEarly | null> {
  session.closeBuild();
  // Of all jobs, later waves' too.
  const shapes = options.jobs.map(({ operation }) => operation.shape);
  const loading = options.verb === 'run' ? await startLoading(session, shapes) : null;
  const known = openKnownRows(session.folder);
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
    await crawlTasks(shareCrawls(starts, acceptsAhead), {
      ...{ client, landing, run: session.run, wave, batchConcurrency: 8, concurrency: taskConcurrency },
      ...{ timing: realTiming, isKnown: known.ask, onPage, onTaskEnd: progress.onTaskEnd },
      ...{ pageSizes: createPageSizes(), shortPages, slots, acceptsAhead },
    }).finally(() => landing.close());
    return null;
  } catch (error) {
    if (error instanceof StoppedEarly) return error;
    throw error;
  } finally {
    await known.close();
    freeMemory();
    if (loading !== null) progress.setStage('loading');
    await loading?.finish();
  }
}
