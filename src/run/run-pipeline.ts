import { StoppedEarly } from '../errors.ts';
import type { Job } from '../jobs/job.ts';
import { listWaves } from '../jobs/job-set.ts';
import { verifySegment } from '../landing/reader.ts';
import { listUnloaded } from '../load/staged-segments.ts';
import { addPublished, nothingPublished, type Published } from '../publish/published.ts';
import { isError } from '../warehouse/own-views.ts';
import { acceptRefusals } from './accept-stage.ts';
import { checkJobs } from './check-jobs.ts';
import type { PlannedStart } from './crawl-state.ts';
import { crawlWave } from './crawl-wave.ts';
import { listDropped } from './dropped-targets.ts';
import { freeMemory } from './free-memory.ts';
import { withSession } from './open-session.ts';
import { planConfirm, planExactly, planWave } from './plan-wave.ts';
import { publishStage, snapshotStage } from './publish-stage.ts';
import { reloadAsPublished, reloadRemapped } from './reload-stage.ts';
import { resetState } from './reset-state.ts';
import { isInFullRefresh, namesOf } from './rounds.ts';
import { saveRates } from './run-client.ts';
import { openRun, type PipelineOptions, type RunContext } from './run-context.ts';
import { readRunLog } from './run-log.ts';
import { hasFailed, type RunReport, refuseForbidden, reportRun, warnOfClockSkew } from './run-outcome.ts';
import type { Session } from './session.ts';

/** Time to land what is in flight after a signal, ms. */
const drainMs = 7_000;

/**
 * One night: every wave of jobs is planned, crawled while segments load, and published, so that the next wave's
 * targets can be read from the tables; then the snapshot is replaced.
 * @throws KeyRefused, DiskError and bugs, with everything received kept in the landing log
 */
export async function runPipeline(options: PipelineOptions): Promise<RunReport> {
  const { verb, config, folder, log, jobsDir, origins, stopOn } = options;
  const names = options.jobs.map(({ name }) => name);
  // A run of single targets is no round of their jobs.
  const jobs = options.jobs.flatMap(({ name, onlyTargets }) => (onlyTargets === undefined ? name : []));
  const sessionOptions = { config, folder, log, verb, jobs, jobsDir, origins, stopOn, drainMs };
  return withSession(sessionOptions, async (session) => {
    const startedAt = Date.now();
    await session.repairing(() => checkJobs(session, options.jobs));
    const continuesRefresh = options.fullRefresh && isInFullRefresh(await readRunLog(folder.runs), names);
    const toReset = options.fullRefresh && !continuesRefresh ? namesOf(options.jobs) : [];
    const reloaded = await prepareRun(session, toReset, options.accept);
    const run = await openRun(session, options, startedAt);
    try {
      addPublished(run.published, reloaded);
      const mayBeginRound = options.namedByUser && !continuesRefresh;
      const stopped = (await crawlJobs(run, mayBeginRound)) ?? (await confirmAbsent(run));
      return await finishRun(run, stopped);
    } catch (error) {
      // Interrupted, and the time to drain is over: report what was done.
      if (error instanceof StoppedEarly) return reportRun(run, error);
      throw error;
    } finally {
      await run.close();
    }
  });
}

/**
 * Brings the folder to the state that the crawl begins with: resets jobs and targets, rebuilds rows of a former mapping,
 * accepts refusals. Data that cannot be read fails here, before the first request.
 * @returns rows that were rebuilt
 */
async function prepareRun(
  session: Session,
  toReset: readonly string[],
  accept: readonly string[],
): Promise<Published> {
  const { landing } = session.folder;
  if (toReset.length > 0) await resetState(session, toReset);
  // Checked now: loading would find the damage only after the crawl was paid for.
  for (const segment of await listUnloaded(session.folder)) await verifySegment(landing, segment);
  const remapped = await reloadRemapped(session);
  await acceptRefusals(session, accept);
  return remapped === null ? nothingPublished() : reloadAsPublished(remapped);
}

/**
 * Crawls and publishes wave after wave.
 * @param mayBeginRound whether a job begins a new round where its unfinished one has nothing left
 * @returns why it stopped early, or null
 */
async function crawlJobs(run: RunContext, mayBeginRound: boolean): Promise<StoppedEarly | null> {
  const { options, progress, shortPages } = run;
  const jobsSoFar: Job[] = [];
  for (const jobs of listWaves(options.jobs)) {
    for (const { name } of jobs) progress.addJob(name);
    let stopped = await crawlAndPublish(run, () => planWave(run, jobs, mayBeginRound));
    jobsSoFar.push(...jobs);
    // Lists that a short page was wrongly taken to end are crawled again, before other jobs read the tables.
    if (stopped === null && shortPages.takeRefuted())
      stopped = await crawlAndPublish(run, () => planExactly(run, jobsSoFar));
    if (stopped !== null) return stopped;
  }
  return null;
}

/**
 * Looks up, in the same run, the rows that left their lists, until nothing is left to look up or a round publishes no
 * crawl. Returns why it stopped early, or null.
 */
async function confirmAbsent(run: RunContext): Promise<StoppedEarly | null> {
  const { session, published } = run;
  let crawlsBefore = -1;
  while (published.unasked > 0 && published.crawls !== crawlsBefore) {
    crawlsBefore = published.crawls;
    const stopped = await crawlAndPublish(run, () => planConfirm(session));
    if (stopped !== null) return stopped;
  }
  return null;
}

/** Plans, crawls and publishes one wave. Returns why the crawl stopped early, or null. */
async function crawlAndPublish(
  run: RunContext,
  plan: () => Promise<PlannedStart[]>,
): Promise<StoppedEarly | null> {
  const { session, progress, savings } = run;
  const publishes = run.options.verb === 'run';
  run.wave += 1;
  // Where the build turns out to be damaged meanwhile, it is rebuilt; the wave is planned again and continues.
  const stopped = await session.repairing(async () => {
    const starts = await plan();
    progress.addTasks(starts, run.wave);
    savings.expect(starts);
    run.hasUnpublished ||= starts.length > 0;
    if (publishes && run.hasUnpublished) run.nextSnapshot.begin();
    return run.hasUnpublished ? crawlWave(starts, run) : null;
  });
  if (publishes && run.hasUnpublished) {
    freeMemory();
    progress.setStage('publishing');
    addPublished(run.published, await publishStage(session));
    progress.setStage(null);
    run.hasUnpublished = false;
  }
  return stopped;
}

/** Replaces the snapshot, exports, and reports. @throws KeyRefused where the key is allowed none of the operations */
async function finishRun(run: RunContext, stopped: StoppedEarly | null): Promise<RunReport> {
  const { session, options, client, progress, published } = run;
  const jobs = [...progress.jobs.values()];
  refuseForbidden(jobs);
  const failed = jobs.some(hasFailed);
  warnOfClockSkew(client.clock.aheadMs(), options.log);
  await saveRates(session.folder.rates, client);
  const runs = await readRunLog(session.folder.runs);
  run.dropped = await session.withBuild((build) => listDropped(build, runs, options.jobs));
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
