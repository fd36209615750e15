import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { type DataFolder, makeDataFolder } from '../data-folder.ts';
import { DamagedFile } from '../errors.ts';
import { recoverLanding } from '../landing/reader.ts';
import { listSegments } from '../landing/segment-files.ts';
import { bindSource, openBuild, unbindEmpty } from '../warehouse/build.ts';
import type { Database, DatabaseOptions } from '../warehouse/database.ts';
import { listStaged, removeStaged } from '../warehouse/load.ts';
import { hasOwnHashes, rehash } from '../warehouse/rehash.ts';
import { takeRunLock } from '../warehouse/run-lock.ts';
import { takeIncomingPages } from './incoming-pages.ts';
import { type MendContext, mendBuild } from './mend-build.ts';
import { mendRequestLog } from './request-log.ts';
import { appendRunLog, makeRunId, readRunLog } from './run-log.ts';

/** A data folder that this process alone works on, and the run it works for. */
export interface Session {
  run: string;
  config: Config;
  folder: DataFolder;
  log: Logger;
  databaseOptions: Omit<DatabaseOptions, 'readOnly'>;
  /** Opens the build for `work` only: the snapshot is copied while it is closed. Mends as `mending`. */
  withBuild<T>(work: (database: Database) => Promise<T>): Promise<T>;
  /**
   * Does work that reads or writes the build. When that turns out to be damaged it is made again, and the work, which
   * must change nothing twice, is done once more. Once a session: a second failure is thrown.
   */
  mending<T>(work: () => Promise<T>): Promise<T>;
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
    const now = new Date();
    const run = makeRunId(now, (await readRunLog(folder.runs)).at(-1)?.run ?? null);
    const mendContext = { run, config, folder, log, databaseOptions };
    const mending = createMending(mendContext);
    await mending(() => mendBuild(mendContext));
    await mending(async () => {
      const database = await openBuild(folder, databaseOptions);
      try {
        // A mistyped first URL received nothing, so it binds nothing.
        if ((await listSegments(folder.landing)).length === 0) await unbindEmpty(database);
        await bindSource(database, options.origins);
        if (!(await hasOwnHashes(database))) {
          log.info("the record hashes are another DuckDB version's: they are made again");
          for (const segment of await listStaged(folder)) await removeStaged(folder, segment);
          await rehash(database);
        }
        await takeIncomingPages(database, folder, log);
      } finally {
        database.close();
      }
    });
    await appendRunLog(folder.runs, { run, verb, jobs: [...jobs], started_at: now.toISOString() });
    return {
      run,
      config,
      folder,
      log,
      databaseOptions,
      mending,
      withBuild: (work) =>
        mending(async () => {
          const build = await openBuild(folder, databaseOptions);
          try {
            return await work(build);
          } finally {
            build.close();
          }
        }),
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

function createMending(context: MendContext): Session['mending'] {
  let mended = false;
  return async (work) => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DamagedFile) || mended) throw error;
      mended = true;
      await mendBuild(context, error.message);
      return work();
    }
  };
}
