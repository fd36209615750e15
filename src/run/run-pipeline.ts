import type { Logger } from 'pino';
import type { ApiClient } from '../api/client.ts';
import { realTiming } from '../api/timing.ts';
import { findNewestSegment } from '../archive/retention.ts';
import type { Config } from '../config/config.ts';
import type { CrawlDeps, LandedPage } from '../crawl/crawl-task.ts';
import { crawlTasks } from '../crawl/crawl-tasks.ts';
import { createLearntSizes } from '../crawl/learnt-size.ts';
import type { ShortPages } from '../crawl/short-pages.ts';
import { createSlotCeiling, type SlotCeiling } from '../crawl/slot-ceiling.ts';
import type { DataFolder } from '../data-folder.ts';
import { KeyRefused, StoppedEarly, UsageError } from '../errors.ts';
import type { Job } from '../jobs/job.ts';
import { listQueries } from '../jobs/job-file.ts';
import { listWaves } from '../jobs/job-order.ts';
import { type LeaveOut, sqlPlace } from '../jobs/target-checks.ts';
import { resolveIds, resolveTargets } from '../jobs/targets.ts';
import type { Task } from '../jobs/task.ts';
import { verifySegment } from '../landing/reader.ts';
import { createLandingLog } from '../landing/writer.ts';
import { openKnownRows } from '../load/known-rows.ts';
import { listUnloaded } from '../load/load.ts';
import { type Accepted, isAccepted } from '../publish/accepted.ts';
import { addPublished, nothingPublished, type Published } from '../publish/published.ts';
import type { Database } from '../warehouse/database.ts';
import { openForJobSql, runJobSql } from '../warehouse/job-sql.ts';
import { checkOwnSql, isError } from '../warehouse/own-views.ts';
import { acceptReceived } from './accept-stage.ts';
import { type BudgetLimits, createBudget } from './budget.ts';
import { checkQueries, checkTargets } from './check-jobs.ts';
import { freeMemory } from './free-memory.ts';
import { startLoading } from './load-stage.ts';
import { createNextSnapshot } from './next-snapshot.ts';
import { noteTargets, type ReadTargets } from './note-targets.ts';
import { type SessionOptions, withSession } from './open-session.ts';
import { planConfirm } from './plan-confirm.ts';
import { orderStarts, planNamed, planStarts, reliedOnShortPage, targetKey } from './plan-starts.ts';
import type { PlannedStart } from './planned-start.ts';
import { createProgress, type Progress } from './progress.ts';
import { publishStage, snapshotStage } from './publish-stage.ts';
import { readCrawlState } from './read-state.ts';
import { asPublished, reloadRemapped } from './reload-stage.ts';
import { openRequestLog } from './request-log.ts';
import { isInFullRefresh, resetState } from './reset-state.ts';
import { type ApiPlace, keepRates, openClient, readMonthlyLeft } from './run-client.ts';
import { appendRunLog, type LeftOut, readRunLog } from './run-log.ts';
import type { JobProgress } from './run-state.ts';
import { createSavings, type Savings } from './savings.ts';
import type { Ended, Session } from './session.ts';
import { shareCrawls } from './share-crawls.ts';
import { openShortPages } from './watch-short-pages.ts';

export interface RunOptions {
  /** `crawl` stops after the landing log. */
  verb: 'run' | 'crawl';
  config: Config;
  folder: DataFolder;
  log: Logger;
  /** In `after` order. */
  jobs: readonly Job[];
  /** Folder of their files, noted for `status`. */
  jobsDir?: string | undefined;
  /** Whether somebody named them: each is crawled although all its targets are complete in its unfinished round. */
  areNamed: boolean;
  /** Whether everything of them is asked for anew, whatever was crawled before. */
  fullRefresh: boolean;
  /** Only these targets, anew and besides the jobs' rounds, as `job/target`. */
  only?: ReadonlySet<string>;
  place: ApiPlace;
  /** Origin by transport: what the folder is bound to. */
  origins: Readonly<Record<string, string>>;
  limits: Omit<BudgetLimits, 'monthlyLeft'>;
  /** What the guards let pass. */
  accept: Accepted;
  showProgress: boolean;
  /** What ends the run early. Default: signals to the process. */
  stopOn?: SessionOptions['stopOn'] | undefined;
  /** What comes after the snapshot, inside the run's lock: the export. */
  afterSnapshot(session: Session): Promise<void>;
}

export interface RunReport extends Ended {
  run: string;
  jobs: Record<string, JobProgress>;
  requests: number;
  credits: number;
  /** Requests that were not needed, because crawls ended where everything was known. */
  saved: number;
  /** How long it took. */
  seconds: number;
  published: Published;
}

/**
 * One night: every wave of jobs is planned, crawled while segments load, and published, so that the next wave's
 * targets can be read from the tables; then the snapshot is replaced.
 * @throws KeyRefused, DiskError and bugs at once, with everything received kept in the landing log
 */
export async function runPipeline(options: RunOptions): Promise<RunReport> {
  const { config, folder, log, only } = options;
  const verb = only === undefined ? options.verb : 'retry';
  // Some targets are no round of their job.
  const jobs = only === undefined ? options.jobs.map(({ name }) => name) : [];
  const { jobsDir, origins, accept, stopOn } = options;
  const described = { config, folder, log, verb, jobs, jobsDir, origins, accept, stopOn, drainMs: 7_000 };
  return withSession(described, (session) => runSession(session, options));
}

async function runSession(session: Session, options: RunOptions): Promise<RunReport> {
  const { folder } = options;
  const startedAt = Date.now();
  await session.repairing(() => checkJobs(session, options.jobs));
  const names = options.jobs.map(({ name }) => name);
  const goesOn = options.fullRefresh && isInFullRefresh(await readRunLog(folder.runs), names);
  if (options.fullRefresh && !goesOn) await resetState(session, names);
  if (options.only !== undefined) await resetState(session, [...options.only]);
  // Damage would be met when they are loaded, with the crawl paid for.
  for (const segment of await listUnloaded(folder)) await verifySegment(folder.landing, segment);
  const remapped = await reloadRemapped(session);
  await acceptReceived(session, options.accept, false);
  const requests = openRequestLog(folder.requests, session.run);
  const budget = createBudget({ ...options.limits, monthlyLeft: await readMonthlyLeft(options) });
  const { stopping } = session.stop;
  const askNoMore = () => budget.stop((stopping.reason as StoppedEarly).message);
  if (stopping.aborted) askNoMore();
  stopping.addEventListener('abort', askNoMore);
  let onAttempt: Progress['onAttempt'] = () => undefined;
  const noting: typeof requests = {
    ...requests,
    add(entry) {
      requests.add(entry);
      onAttempt(entry);
    },
  };
  const client = await openClient(session, options.place, budget, noting, session.stop);
  session.now = () => client.clock.correct(Date.now());
  const progress = await createProgress({
    run: session.run,
    log: options.log,
    onTerminal: options.showProgress,
    stateFile: folder.runState,
    spent: budget.spent,
    pools: client.pools,
    stopping,
  });
  onAttempt = progress.onAttempt;
  const savings = createSavings(requests);
  const slots = createSlotCeiling();
  const shortPages = await openShortPages(session);
  const acceptsAhead = (task: Task) => isAccepted(options.accept.ahead, task);
  const published = nothingPublished();
  if (remapped !== null) addPublished(published, asPublished(remapped));
  const nextSnapshot = createNextSnapshot(folder, session.stop.stopping);
  const report = (stopped: StoppedEarly | null, failed = false): RunReport => {
    const refused = published.refused.length > 0 || published.audits.some(isError);
    const exitCode = decideExitCode({ refused, stopped: stopped?.exitCode ?? null, failed });
    const jobs = Object.fromEntries(progress.jobs);
    const ended = { run: session.run, exitCode, stopped, published, leftOut: listLeftOut(progress) };
    const seconds = (Date.now() - startedAt) / 1000;
    return { ...ended, jobs, ...budget.spent, saved: savings.requests, seconds };
  };
  try {
    let stopped: StoppedEarly | null = null;
    const loads = options.verb === 'run';
    const shapes = options.jobs.map(({ operation }) => operation.shape);
    // Also what earlier runs landed.
    let isWaiting = true;
    let wave = 0;
    const crawlAndPublish = async (plan: () => Promise<PlannedStart[]>) => {
      wave += 1;
      // A build that turns out to be damaged while it is crawled is rebuilt; the wave is planned anew and continues.
      const stopped = await session.repairing(async () => {
        const starts = await plan();
        for (const { task } of starts) progress.addTask(task, wave);
        savings.expect(starts);
        isWaiting ||= starts.length > 0;
        if (loads && isWaiting) nextSnapshot.begin();
        return isWaiting
          ? crawlWave(starts, {
              session,
              wave,
              client,
              progress,
              savings,
              loads,
              shapes,
              slots,
              shortPages,
              acceptsAhead,
            })
          : null;
      });
      if (loads && isWaiting) {
        freeMemory();
        addPublished(published, await publishStage(session));
        isWaiting = false;
      }
      return stopped;
    };
    const tried: Job[] = [];
    for (const jobs of listWaves(options.jobs)) {
      for (const { name } of jobs) progress.addJob(name);
      stopped = await crawlAndPublish(() =>
        planWave(session, jobs, progress, options.areNamed && !goesOn, slots).then((starts) =>
          starts.filter(({ task }) => options.only?.has(targetKey(task)) ?? true),
        ),
      );
      tried.push(...jobs);
      // What ended too early is asked for again before other jobs read the tables.
      if (stopped === null && shortPages.takeRefuted())
        stopped = await crawlAndPublish(() => planExactly(session, tried, progress, slots));
      if (stopped !== null) break;
    }
    // What vanished is looked up in the same run, until nothing waits or the API will not say.
    let asked = -1;
    while (stopped === null && published.unasked > 0 && published.crawls !== asked) {
      asked = published.crawls;
      stopped = await crawlAndPublish(() => planConfirm(session));
    }
    refuseForbidden([...progress.jobs.values()]);
    const failed = [...progress.jobs.values()].some(
      (job) => job.failed > 0 || job.leftOut !== null || job.targetsLeftOut.length > 0,
    );
    warnOfClock(client.clock.aheadMs(), options.log);
    await keepRates(folder.rates, client);
    if (options.verb === 'run') {
      const stoppedBy = stopped?.message ?? null;
      const { exitCode } = report(stopped, failed);
      published.audits = await snapshotStage(session, { exitCode, stoppedBy }, nextSnapshot);
      if (!published.audits.some(isError)) await options.afterSnapshot(session);
    }
    return report(stopped, failed);
  } catch (error) {
    // A signal, whose time to drain is over: what was done until then is told all the same.
    if (error instanceof StoppedEarly) return report(error);
    throw error;
  } finally {
    await nextSnapshot.drop();
    await progress.close();
    await client.close();
    requests.close();
  }
}

/**
 * Looks at what can be known of all jobs before a request is paid for: the targets that are written down, and queries.
 * @throws UsageError naming the job
 */
async function checkJobs(session: Session, jobs: readonly Job[]): Promise<void> {
  // Wrong lines are reported where the job's targets are planned, and left out.
  await checkTargets(jobs, () => undefined);
  const { views, audits } = session.ownSql ?? { views: [], audits: [] };
  if (listQueries(jobs).length + views.length + audits.length === 0) return;
  session.closeBuild();
  const reader = await openForJobSql(session.folder.build, session.databaseOptions);
  try {
    await checkQueries(reader, jobs);
    await checkOwnSql(reader, views, audits);
  } finally {
    reader.close();
  }
}

interface WaveDeps {
  session: Session;
  /** Its number in the run, from 1. */
  wave: number;
  client: ApiClient;
  progress: Progress;
  savings: Savings;
  slots: SlotCeiling;
  shortPages: ShortPages;
  acceptsAhead: CrawlDeps['acceptsAhead'];
  /** Whether segments are loaded as they are sealed. */
  loads: boolean;
  /** Of all jobs, later waves' too. */
  shapes: readonly string[];
}

/** Tasks at work at once: enough to fill every pool's concurrency at a second of latency. */
const taskConcurrency = 64;

/**
 * Crawls one wave into the landing log. Returns why it stopped early, or null when all were tried.
 * @throws KeyRefused, DiskError and bugs, with everything received landed
 */
async function crawlWave(
  starts: readonly PlannedStart[],
  { session, wave, client, progress, savings, loads, shapes, slots, shortPages, acceptsAhead }: WaveDeps,
): Promise<StoppedEarly | null> {
  session.closeBuild();
  const loading = loads ? await startLoading(session, shapes) : null;
  const known = openKnownRows(session.folder);
  const onPage = (task: Task, page: LandedPage) => {
    progress.onPage(task, page);
    savings.onPage(task, page);
  };
  const landing = createLandingLog({
    dir: session.folder.landing,
    newest: await findNewestSegment(session.folder),
    onSealed: (segment) => loading?.add(segment),
  });
  try {
    await crawlTasks(shareCrawls(starts, acceptsAhead), {
      ...{ client, landing, run: session.run, wave, batchConcurrency: 8, concurrency: taskConcurrency },
      ...{ timing: realTiming, isKnown: known.ask, onPage, onTaskEnd: progress.onTaskEnd },
      ...{ sizes: createLearntSizes(), shortPages, slots, acceptsAhead },
    }).finally(() => landing.close());
    return null;
  } catch (error) {
    if (error instanceof StoppedEarly) return error;
    throw error;
  } finally {
    await known.close();
    freeMemory();
    await loading?.finish();
  }
}

function listLeftOut({ jobs }: Progress): LeftOut[] {
  return [...jobs].flatMap(([job, { leftOut, targetsLeftOut }]) =>
    [...(leftOut === null ? [] : [leftOut]), ...targetsLeftOut].map((problem) => ({ job, problem })),
  );
}

function warnOfClock(aheadMs: number, log: Logger): void {
  if (aheadMs === 0) return;
  const minutes = Math.round(Math.abs(aheadMs) / 60_000);
  log.warn(
    { minutes },
    `this computer's clock is ${aheadMs > 0 ? 'ahead of' : 'behind'} the API's: times are the API's, set the clock right`,
  );
}

/** A key that may use none of the operations asked for is refused as a whole. */
function refuseForbidden(jobs: readonly JobProgress[]): void {
  const count = (field: 'tasks' | 'forbidden') => jobs.reduce((sum, job) => sum + job[field], 0);
  if (count('tasks') === 0 || count('forbidden') < count('tasks')) return;
  throw new KeyRefused(
    'the key may use none of the operations asked for (403)',
    "Check the key's plan and its allowed IP addresses in the dashboard.",
  );
}

/**
 * Several apply: the order is the contract's (74 and 77 are thrown). Pure.
 * @param outcome `stopped`: the code of what stopped it early
 */
export function decideExitCode(outcome: {
  refused: boolean;
  stopped: 69 | 75 | null;
  failed: boolean;
}): number {
  if (outcome.refused) return 4;
  return outcome.stopped ?? (outcome.failed ? 3 : 0);
}

/** The crawls that relied on a short page which, as this run found, was not the end. */
async function planExactly(
  session: Session,
  jobs: readonly Job[],
  progress: Progress,
  slots: SlotCeiling,
): Promise<PlannedStart[]> {
  const state = await session.withBuild((build) => readCrawlState(build, session.folder));
  const starts = await planWave(session, jobs, progress, false, slots);
  return starts.filter(({ task }) => reliedOnShortPage(task, state));
}

/** What one wave has to crawl, in order; notes in the build which targets its jobs have. */
async function planWave(
  session: Session,
  wave: readonly Job[],
  progress: Progress,
  areNamed: boolean,
  slots: SlotCeiling,
): Promise<PlannedStart[]> {
  const read: ReadTargets[] = [];
  const starts = await readWave(session, wave, { progress, areNamed, slots, read });
  await session.withBuild((build) => noteTargets(build, read));
  return starts;
}

/**
 * What one wave has to crawl, in order. Reads targets from the build; asks the API nothing. A job whose targets cannot be
 * read, because of what a row says or of a file that has changed since, is left out: the others go on.
 */
async function readWave(
  session: Session,
  wave: readonly Job[],
  {
    progress,
    areNamed,
    slots,
    read,
  }: {
    progress: Progress;
    areNamed: boolean;
    slots: SlotCeiling;
    /** Takes the targets of the jobs that could be read. */
    read: ReadTargets[];
  },
): Promise<PlannedStart[]> {
  const { folder, databaseOptions } = session;
  const state = await session.withBuild((build) => readCrawlState(build, folder));
  slots.learn(state.slots);
  let reader: Database | null = null;
  try {
    const planJob = async (job: Job) => {
      const query = async (sql: string) => {
        session.closeBuild();
        reader ??= await openForJobSql(folder.build, databaseOptions);
        return runJobSql(reader, sqlPlace(job), sql);
      };
      const leaveOut: LeaveOut = (problems) => progress.onTargetsLeftOut(job.name, problems);
      const targets = await resolveTargets(job, query, leaveOut);
      const ids = await resolveIds(job, query, leaveOut);
      read.push({ job, targets });
      if (targets.length === 0)
        session.log.warn({ job: job.name }, 'no targets: its SQL gave no rows; does it need `after:`?');
      const told = (starts: PlannedStart[]) => {
        progress.setBefore(job.name, countBefore(targets, starts));
        return starts;
      };
      if (!areNamed) return told(planStarts(job, targets, ids, state, session.run));
      const { starts, begins } = planNamed(job, targets, ids, state, session.run);
      if (begins) await appendRunLog(folder.runs, { run: session.run, begins: [job.name] });
      return told(starts);
    };
    const starts: PlannedStart[] = [];
    for (const job of wave) {
      try {
        // Not as arguments of one call: of a hundred thousand, Node refuses it.
        for (const start of await planJob(job)) starts.push(start);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        progress.onLeftOut(job.name, error);
      }
    }
    return orderStarts(starts);
  } finally {
    (reader as Database | null)?.close();
  }
}

/** Targets that the round has already: a run that goes on shows where it stands. Pure. */
function countBefore(targets: readonly { name: string }[], starts: readonly PlannedStart[]): number {
  const begun = new Set(starts.map(({ task }) => task.target));
  return targets.filter(({ name }) => !begun.has(name)).length;
}
