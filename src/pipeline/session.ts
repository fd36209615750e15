import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { type DataFolder, makeDataFolder } from '../data-folder.ts';
import { recoverLanding } from '../landing/reader.ts';
import { listSegments } from '../landing/segment-files.ts';
import { bindSource, openBuild, unbindEmpty } from '../warehouse/build.ts';
import type { Database, DatabaseOptions } from '../warehouse/database.ts';
import { takeRunLock } from '../warehouse/run-lock.ts';
import { restoreBuild } from '../warehouse/snapshot.ts';
import { takeIncomingPages } from './incoming-pages.ts';
import { mendRequestLog } from './request-log.ts';
import { appendRunLog, makeRunId, readRunLog } from './run-log.ts';

/** A data folder that this process alone works on, and the run it works for. */
export interface Session {
  run: string;
  config: Config;
  folder: DataFolder;
  log: Logger;
  databaseOptions: Omit<DatabaseOptions, 'readOnly'>;
  /** Opens the build for `work` only: the snapshot is copied while it is closed. */
  withBuild<T>(work: (database: Database) => Promise<T>): Promise<T>;
  /** Notes the run's end in `data/runs.ndjson` and frees the folder. */
  end(exitCode: number, stoppedBy: string | null): Promise<void>;
}

export interface SessionOptions {
  config: Config;
  folder: DataFolder;
  log: Logger;
  verb: string;
  jobs: readonly string[];
  /** Origins by transport that the folder is, or gets, bound to; empty for verbs that ask nothing. */
  origins: Readonly<Record<string, string>>;
}

/**
 * Locks a data folder, mends what a killed run left, and begins a run.
 * @throws StoppedEarly when another run is at work; DiskError; UsageError for another origin or a newer folder
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { config, folder, log, verb, jobs } = options;
  await makeDataFolder(folder);
  const lock = await takeRunLock(folder.lock, folder.temp);
  try {
    const databaseOptions = {
      memoryLimit: config.warehouse.memoryLimit,
      threads: config.warehouse.threads,
      tempDir: folder.temp,
    };
    await recoverLanding(folder.landing);
    mendRequestLog(folder.requests);
    if (await restoreBuild(folder))
      log.warn(
        { build: folder.build },
        'the build is missing: restored from the snapshot, what came later is published again',
      );
    const database = await openBuild(folder, databaseOptions);
    try {
      // A mistyped first URL received nothing, so it binds nothing.
      if ((await listSegments(folder.landing)).length === 0) await unbindEmpty(database);
      await bindSource(database, options.origins);
      await takeIncomingPages(database, folder, log);
    } finally {
      database.close();
    }
    const now = new Date();
    const run = makeRunId(now, (await readRunLog(folder.runs)).at(-1)?.run ?? null);
    await appendRunLog(folder.runs, { run, verb, jobs: [...jobs], started_at: now.toISOString() });
    return {
      run,
      config,
      folder,
      log,
      databaseOptions,
      async withBuild(work) {
        const build = await openBuild(folder, databaseOptions);
        try {
          return await work(build);
        } finally {
          build.close();
        }
      },
      async end(exitCode, stoppedBy) {
        const finished_at = new Date().toISOString();
        await appendRunLog(folder.runs, { run, finished_at, exit_code: exitCode, stopped_by: stoppedBy });
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}
