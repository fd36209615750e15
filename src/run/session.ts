import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { DataFolder } from '../data-folder.ts';
import type { LedgerlakeError } from '../errors.ts';
import type { PublishOptions } from '../publish/publish.ts';
import type { Published } from '../publish/published.ts';
import type { SignalStop } from '../stop-signals.ts';
import type { Database, DatabaseOptions } from '../warehouse/database.ts';
import type { UserSql } from '../warehouse/user-sql.ts';
import type { DoneJob, LeftOut, Noted } from './run-log.ts';

/** A data folder that this process alone works on, and the run it works for. */
export interface Session {
  run: string;
  config: Config;
  folder: DataFolder;
  log: Logger;
  databaseOptions: Omit<DatabaseOptions, 'readOnly'>;
  /** Views and audits beside the jobs; null where there is no folder of jobs. */
  ownSql: UserSql | null;
  /** What a signal to stop ends. */
  stop: Pick<SignalStop, 'stopping' | 'signal'>;
  /** Unix ms: this computer's clock, or the answers' where a run has learnt that the two differ. */
  now(): number;
  /** The build for `work`, which stays open for the next one until `closeBuild`. Repairs as `repairing`. */
  withBuild<T>(work: (database: Database) => Promise<T>): Promise<T>;
  /** So that the build can be copied or opened otherwise, and holds no memory while a crawl goes on. */
  closeBuild(): void;
  /**
   * Does work that reads or writes the build. When that turns out to be damaged it is rebuilt, and the work, which
   * must change nothing twice, is done once more. Once a session: a second failure is thrown.
   */
  repairing<T>(work: () => Promise<T>): Promise<T>;
  /** What opening the folder put into a build that was damaged or missing; null when it was whole. */
  readonly repaired: Replayed | null;
  /** Notes the run's end in `data/runs.ndjson` and frees the folder. */
  end(exitCode: number, stoppedBy: string | null, noted?: Noted): Promise<void>;
}

/** How the work of a session ended. */
export interface Ended {
  exitCode: number;
  /** Why it stopped early, or null. */
  stopped: LedgerlakeError | null;
  /** What was published, where it was. */
  published?: Published;
  /** Jobs, and lines of target files, that it could not read. */
  leftOut?: readonly LeftOut[];
  /** How far its jobs came, where it asked for something. */
  jobs?: Readonly<Record<string, DoneJob>>;
}

/** What making a build again needs of the session it happens in. */
export type RepairContext = Pick<Session, 'run' | 'config' | 'folder' | 'log' | 'databaseOptions'>;

/** What was put into a build again. */
export interface Replayed {
  segments: number;
  rows: number;
  seconds: number;
  /** Crawls that an audit or a guard refused, once more or for the first time. */
  refused: Published['refused'];
}

/** What the run and its config ask of publish. */
export function publishOptions({ run, config }: Pick<Session, 'run' | 'config'>): PublishOptions {
  return {
    run,
    quarantineLimit: config.warehouse.quarantineLimit,
    guards: config.warehouse.guards,
  };
}
