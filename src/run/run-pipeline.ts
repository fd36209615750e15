import { StoppedEarly } from '../errors.ts';
import type { Job } from '../jobs/job.ts';
import { listWaves } from '../jobs/job-order.ts';
import { verifySegment } from '../landing/reader.ts';
import { listUnloaded } from '../load/load.ts';
import { addPublished, nothingPublished } from '../publish/published.ts';
import { isError } from '../warehouse/own-views.ts';
import { acceptReceived } from './accept-stage.ts';
import { checkJobs } from './check-jobs.ts';
import type { PlannedStart } from './crawl-state.ts';
import { crawlWave } from './crawl-wave.ts';
import { freeMemory } from './free-memory.ts';
import { withSession } from './open-session.ts';
import { planConfirm } from './plan-confirm.ts';
import { targetKey } from './plan-starts.ts';
import { planExactly, planWave } from './plan-wave.ts';
import { publishStage, snapshotStage } from './publish-stage.ts';
import { asPublished, reloadRemapped } from './reload-stage.ts';
import { isInFullRefresh, resetState } from './reset-state.ts';
import { keepRates } from './run-client.ts';
import { openRun, type PipelineOptions, type RunContext } from './run-context.ts';
import { readRunLog } from './run-log.ts';
import { hasFailed, type RunReport, refuseForbidden, reportRun, warnOfClock } from './run-outcome.ts';
import type { Session } from './session.ts';

/**
 * One night: every wave of jobs is planned, crawled while segments load, and published, so that the next wave's
 * targets can be read from the tables; then the snapshot is replaced.
 * @throws KeyRefused, DiskError and bugs at once, with everything received kept in the landing log
 */
export async function runPipeline(options: PipelineOptions): Promise<RunReport> {
  const { config, folder, log, only, jobsDir, origins, accept, stopOn } = options;
  const verb = only === undefined ? options.verb : 'retry';
  // Some targets are no round of their job.
  const jobs = only === undefined ? options.jobs.map(({ name }) => name) : [];
  const described = { config, folder, log, verb, jobs, jobsDir, origins, accept, stopOn, drainMs: 7_000 };
  return withSession(described, async (session) => {
    const startedAt = Date.now();
    const { published, areNamed } = await prepareFolder(session, options);
    const run = await openRun(session, options, startedAt);
    try {
      addPublished(run.published, published);
      const stopped = (await crawlJobs(run, areNamed)) ?? (await confirmAbsent(run));
      return await finishRun(run, stopped);
    } catch (error) {
      // A signal, whose time to drain is over: what was done until then is reported all the same.
      if (error instanceof StoppedEarly) return reportRun(run, error);
      throw error;
    } finally {
      await run.close();
    }
  });
}

/** Everything before the first request: jobs that cannot be run, and data that cannot be read, fail here. */
async function prepareFolder(session: Session, options: PipelineOptions) {
  const { folder } = session;
  await session.repairing(() => checkJobs(session, options.jobs));
  const names = options.jobs.map(({ name }) => name);
  const goesOn = options.fullRefresh && isInFullRefresh(await readRunLog(folder.runs), names);
  if (options.fullRefresh && !goesOn) await resetState(session, names);
  if (options.only !== undefined) await resetState(session, [...options.only]);
  // Damage would be met when they are loaded, with the crawl paid for.
  for (const segment of await listUnloaded(folder)) await verifySegment(folder.landing, segment);
  const remapped = await reloadRemapped(session);
  await acceptReceived(session, options.accept, false);
  return {
    published: remapped === null ? nothingPublished() : asPublished(remapped),
    // A full refresh that goes on begins no new round.
    areNamed: options.areNamed && !goesOn,
  };
}

/** Crawls and publishes wave after wave. Returns why that stopped early, or null. */
async function crawlJobs(run: RunContext, areNamed: boolean): Promise<StoppedEarly | null> {
  const { options, progress, shortPages } = run;
  const isChosen = ({ task }: PlannedStart) => options.only?.has(targetKey(task)) ?? true;
  const tried: Job[] = [];
  for (const jobs of listWaves(options.jobs)) {
    for (const { name } of jobs) progress.addJob(name);
    let stopped = await crawlAndPublish(run, async () =>
      (await planWave(run, jobs, areNamed)).filter(isChosen),
    );
    tried.push(...jobs);
    // What ended too early is asked for again before other jobs read the tables.
    if (stopped === null && shortPages.takeRefuted())
      stopped = await crawlAndPublish(run, async () => (await planExactly(run, tried)).filter(isChosen));
    if (stopped !== null) return stopped;
  }
  return null;
}

/** Looks up what vanished in the same run, until nothing waits or the API will not say. */
async function confirmAbsent(run: RunContext): Promise<StoppedEarly | null> {
  const { session, published } = run;
  let before = -1;
  while (published.unasked > 0 && published.crawls !== before) {
    before = published.crawls;
    const stopped = await crawlAndPublish(run, () => planConfirm(session));
    if (stopped !== null) return stopped;
  }
  return null;
}

/** One wave: plan, crawl, publish. Returns why the crawl stopped early, or null. */
async function crawlAndPublish(
  run: RunContext,
  plan: () => Promise<PlannedStart[]>,
): Promise<StoppedEarly | null> {
  const { session, progress, savings } = run;
  const publishes = run.options.verb === 'run';
  run.wave += 1;
  // A build that turns out to be damaged while it is crawled is rebuilt; the wave is planned anew and continues.
  const stopped = await session.repairing(async () => {
    const starts = await plan();
    progress.addTasks(starts, run.wave);
    savings.expect(starts);
    run.isWaiting ||= starts.length > 0;
    if (publishes && run.isWaiting) run.nextSnapshot.begin();
    return run.isWaiting ? crawlWave(starts, run) : null;
  });
  if (publishes && run.isWaiting) {
    freeMemory();
    progress.setStage('publishing');
    addPublished(run.published, await publishStage(session));
    progress.setStage(null);
    run.isWaiting = false;
  }
  return stopped;
}

/** Replaces the snapshot, exports, and reports. @throws KeyRefused where the key may do nothing of what was asked */
async function finishRun(run: RunContext, stopped: StoppedEarly | null): Promise<RunReport> {
  const { session, options, client, progress, published } = run;
  const jobs = [...progress.jobs.values()];
  refuseForbidden(jobs);
  const failed = jobs.some(hasFailed);
  warnOfClock(client.clock.aheadMs(), options.log);
  await keepRates(session.folder.rates, client);
  if (options.verb === 'run') {
    const { exitCode } = reportRun(run, stopped, failed);
    const outcome = { exitCode, stoppedBy: stopped?.message ?? null };
    progress.setStage('replacing the snapshot');
    published.audits = await snapshotStage(session, outcome, run.nextSnapshot);
    progress.setStage('exporting');
    if (!published.audits.some(isError)) await options.afterSnapshot(session);
  }
  return reportRun(run, stopped, failed);
}
