import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { DataFolder } from '../data-folder.ts';
import type { LedgerlakeError } from '../errors.ts';
import type { PublishOptions } from '../publish/publish.ts';
import type { Published } from '../publish/published.ts';
import type { SignalStop } from '../stop-signals.ts';
import type { Database, DatabaseOptions } from '../warehouse/database.ts';
import type { UserSql } from '../warehouse/user-sql.ts';
import type { DoneJob, LeftOut, Outcome } from './run-log.ts';

/** A data folder that this process alone works on, and the run it works for. */
export interface Session {
  run: string;
  config: Config;
  folder: DataFolder;
  log: Logger;
  databaseOptions: Omit<DatabaseOptions, 'readOnly'>;
  /** Views and audits beside the jobs; null where there is no folder of jobs. */
  ownSql: UserSql | null;
  /** Aborted by a signal to stop. */
  stop: Pick<SignalStop, 'stopping' | 'signal'>;
  /** Unix ms by which things are old enough to be removed: this computer's clock, or the answers' where that is behind. */
  now(): number;
  /** Opens the build for `work`; it stays open until `closeBuild`. Repairs a damaged build as `repairing` does. */
  withBuild<T>(work: (database: Database) => Promise<T>): Promise<T>;
  /** Closes the build, to copy it, to open it otherwise, or to free its memory during a crawl. */
  closeBuild(): void;
  /**
   * Does work that reads or writes the build. When the build turns out to be damaged, it is rebuilt and the work, which
   * must be idempotent, is done again. Once a session: a second failure is thrown.
   */
  repairing<T>(work: () => Promise<T>): Promise<T>;
  /** What opening the folder replayed into a build that was damaged or missing; null when it was whole. */
  readonly repaired: Replayed | null;
  /** Records the run's end in `data/runs.ndjson` and unlocks the folder. */
  end(exitCode: number, stoppedBy: string | null, outcome?: Outcome): Promise<void>;
}

/** How the work of a session ended. */
export interface Ended {
  exitCode: number;
  /** Why it stopped early, or null. */
  stopped: LedgerlakeError | null;
  /** What was published; absent for verbs that publish nothing. */
  published?: Published;
  /** Jobs, and lines of target files, that could not be read. */
  leftOut?: readonly LeftOut[];
  /** How far the jobs came; absent for verbs that crawl nothing. */
  jobs?: Readonly<Record<string, DoneJob>>;
}

/** The part of a session that rebuilding its build needs. */
export type RepairContext = Pick<Session, 'run' | 'config' | 'folder' | 'log' | 'databaseOptions'>;

/** What a replay put into a build. */
export interface Replayed {
  segments: number;
  rows: number;
  seconds: number;
  /** Crawls that an audit or a guard refused in the replay. */
  refused: Published['refused'];
}

/** The options of publish, from the run and its config. */
export function publishOptions({ run, config }: Pick<Session, 'run' | 'config'>): PublishOptions {
  return {
    run,
    quarantineLimit: config.warehouse.quarantineLimit,
    guards: config.warehouse.guards,
  };
}
