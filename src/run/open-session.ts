import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { closeReplay } from '../archive/replay.ts';
import type { Config } from '../config/config.ts';
import { type DataFolder, makeDataFolder } from '../data-folder.ts';
import { asDiskError, DamagedFile, LedgerlakeError } from '../errors.ts';
import { recoverLanding } from '../landing/recover-landing.ts';
import { exists } from '../landing/segment-files.ts';
import { describeWaiting } from '../publish/published.ts';
import { type SignalStop, stopOnSignals } from '../stop-signals.ts';
import { moveSource, openBuild } from '../warehouse/build.ts';
import type { Database } from '../warehouse/database.ts';
import { describeFinding, isError } from '../warehouse/own-views.ts';
import { isBehindSnapshot } from '../warehouse/recover-build.ts';
import { takeRunLock } from '../warehouse/run-lock.ts';
import { removeDraft } from '../warehouse/snapshot.ts';
import { readUserSql } from '../warehouse/user-sql.ts';
import { jobTitle } from '../words.ts';
import { endMovedCrawls, listMoves } from './moved-source.ts';
import { prepareBuild } from './prepare-build.ts';
import { holdsArchive, repairBuild } from './repair-build.ts';
import { repairRequestLog } from './request-log.ts';
import { appendRunLog, makeRunId, type Outcome, readRunLog } from './run-log.ts';
import { idle, writeRunState } from './run-state.ts';
import type { Ended, RepairContext, Replayed, Session } from './session.ts';

export interface SessionOptions {
  config: Config;
  folder: DataFolder;
  log: Logger;
  verb: string;
  jobs: readonly string[];
  /** Folder of the job files; absent for verbs that read none. */
  jobsDir?: string | undefined;
  /** Origins by transport that the folder is, or gets, bound to; empty for verbs that send no request. */
  origins: Readonly<Record<string, string>>;
  /** Origins by transport that the source moves to; it has moved once the run log has this session's line. */
  moved?: Readonly<Record<string, string>>;
  /** Time to finish what was begun after a signal to stop, ms; default 0. */
  drainMs?: number;
  /** What stops the session. Default: signals to the process. */
  stopOn?: ((drainMs: number) => SignalStop) | undefined;
}

/**
 * Locks a data folder, repairs what a killed run left, does the work of one run, and records how it ended.
 * @throws StoppedEarly when another run is at work; DiskError; UsageError for another source, or a folder of another layout
 */
export async function withSession<T extends Ended>(
  options: SessionOptions,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await openSession(options);
  let exitCode = 1;
  let stoppedBy: string | null = null;
  let outcome: Outcome = {};
  try {
    const ended = await work(session);
    outcome = { ...describeFaults(ended), ...describeDone(ended) };
    exitCode = ended.exitCode;
    stoppedBy = ended.stopped?.message ?? null;
    return ended;
  } catch (failure) {
    // As the command will report it.
    const error = asDiskError(failure);
    exitCode = error instanceof LedgerlakeError ? error.exitCode : 1;
    stoppedBy = error instanceof Error ? error.message : String(error);
    throw failure;
  } finally {
    await session.end(exitCode, stoppedBy, outcome);
  }
}

/** What was wrong with what a run received; empty where nothing was. Pure. */
function describeFaults({ published, leftOut = [] }: Ended): Outcome {
  if (published === undefined) return {};
  const quarantined = published.quarantined.reduce((sum, { records }) => sum + records, 0);
  const stale = Object.values(published.tables).reduce((sum, counts) => sum + counts.stale, 0);
  const audits = published.audits.filter(isError).map(describeFinding);
  const refused = published.refused.map(
    ({ job, target, reason, id }) =>
      `${target === '' || job.startsWith('_') ? jobTitle(job) : `${job}/${target}`}: ${reason}${id === null ? '' : ` (--accept ${id})`}`,
  );
  const waiting = published.waiting.map((one) => `${jobTitle(one.job)}: ${describeWaiting(one)}`);
  if (quarantined + stale + refused.length + waiting.length + audits.length + leftOut.length === 0) return {};
  return {
    found: {
      ...{ quarantined, stale, refused },
      ...(waiting.length === 0 ? {} : { waiting }),
      ...(leftOut.length === 0 ? {} : { leftOut }),
      ...(audits.length === 0 ? {} : { audits }),
    },
  };
}

/** What a run crawled and published. Pure. */
function describeDone({ published, jobs = {} }: Ended): Outcome {
  if (published === undefined) return {};
  const counts = Object.entries(jobs).map(([job, { tasks, done, failed, pages, records }]) => [
    job,
    { tasks, done, failed, pages, records },
  ]);
  return { did: { jobs: Object.fromEntries(counts), tables: published.tables } };
}

/** Opens a session, which the caller ends. @throws as withSession */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { config, folder, log, jobsDir, moved, stopOn = stopOnSignals, drainMs = 0 } = options;
  const ownSql = jobsDir === undefined ? null : await readUserSql(jobsDir);
  await makeDataFolder(folder);
  const lock = await takeRunLock(folder.lock, folder.temp);
  const stop = stopOn(drainMs);
  const release = () => {
    stop.release();
    lock.release();
  };
  try {
    const databaseOptions = {
      memoryLimit: config.warehouse.memoryLimit,
      threads: config.warehouse.threads,
      tempDir: folder.temp,
      signal: stop.signal,
    };
    await repairFolder(folder, log);
    const now = new Date();
    const run = makeRunId(now, (await readRunLog(folder.runs)).at(-1)?.run ?? null);
    const build = createBuildAccess({ run, config, folder, log, databaseOptions });
    await closeReplay(folder);
    await endMovedCrawls(folder, await readRunLog(folder.runs));
    await build.withBuild((database) => prepareBuild(database, options));
    if (await build.withBuild((database) => isBehindSnapshot(database, folder, databaseOptions)))
      await build.repair('the build is older than the snapshot');
    else if (!(await build.withBuild((database) => holdsArchive(database, folder)))) await build.repair();
    await recordBegin(run, now, options);
    if (moved !== undefined) {
      const runs = await readRunLog(folder.runs);
      await endMovedCrawls(folder, runs);
      await build.withBuild((database) => moveSource(database, listMoves(runs)));
    }
    return {
      ...{ run, config, folder, log, databaseOptions, ownSql, stop, now: Date.now },
      ...{ withBuild: build.withBuild, closeBuild: build.closeBuild, repairing: build.repairing },
      repaired: build.repaired(),
      async end(exitCode, stoppedBy, outcome = {}) {
        build.closeBuild();
        const finished_at = new Date().toISOString();
        await appendRunLog(folder.runs, {
          ...{ run, finished_at, exit_code: exitCode, stopped_by: stoppedBy },
          ...outcome,
        });
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** Repairs what a killed run left, but for the build. */
async function repairFolder(folder: DataFolder, log: Logger): Promise<void> {
  await removeDraft(folder);
  const removed = await recoverLanding(folder.landing);
  if (removed.length > 0)
    log.info({ files: removed }, 'removed record files without a page file, which a kill left behind');
  repairRequestLog(folder.requests);
}

/** Records the run's begin: its state first, because a logged run without a state counts as killed. */
async function recordBegin(
  run: string,
  now: Date,
  { folder, verb, jobs, jobsDir, moved }: SessionOptions,
): Promise<void> {
  const started_at = now.toISOString();
  const nothingDone = { requests: 0, credits: 0, jobs: {}, activity: idle };
  await writeRunState(folder.runState, { run, started_at, ...nothingDone });
  await appendRunLog(folder.runs, {
    ...{ run, verb, jobs: [...jobs], started_at },
    ...(jobsDir === undefined ? {} : { jobs_dir: resolve(jobsDir) }),
    ...(moved === undefined ? {} : { moved }),
  });
}

/** Opens the build of a session once at a time: DuckDB would admit a second connection of this process, and damage it. */
function createBuildAccess(context: RepairContext): Pick<
  Session,
  'withBuild' | 'closeBuild' | 'repairing'
> & {
  repair(because?: string): Promise<void>;
  repaired(): Replayed | null;
} {
  const { folder, databaseOptions } = context;
  let build: Database | null = null;
  let repaired = false;
  let replayed: Replayed | null = null;
  const closeBuild = () => {
    build?.close();
    build = null;
  };
  const repair = async (because?: string) => {
    closeBuild();
    replayed = await repairBuild(context, because);
  };
  const repairing: Session['repairing'] = async (work) => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DamagedFile) || repaired) throw error;
      repaired = true;
      await repair(error.message);
      return work();
    }
  };
  return {
    closeBuild,
    repair,
    repaired: () => replayed,
    repairing,
    withBuild: (work) =>
      repairing(async () => {
        if (build === null && !(await exists(folder.build))) await repair();
        build ??= await openBuild(folder, databaseOptions);
        try {
          return await work(build);
        } catch (error) {
          closeBuild();
          throw error;
        }
      }),
  };
}
