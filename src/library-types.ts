/** Which project a call is about. Paths are relative to the current folder. */
export interface ProjectOptions {
  /** Config file. Default: `ledgerlake.yaml` where there is one. */
  config?: string | undefined;
  /** Environment of the config file. Default: LEDGERLAKE_ENV. */
  environment?: string | undefined;
  /** Default: `data`, or `data/<environment>`. */
  dataDir?: string | undefined;
  /** Ends the call early with a StoppedEarly; the next call continues. */
  signal?: AbortSignal | undefined;
  /** Takes each log line: a JSON document without a line break. Default: nothing is logged. */
  log?: ((line: string) => void) | undefined;
}

export interface JobsOptions extends ProjectOptions {
  /** Folder of the job files. Default: `jobs`. */
  jobsDir?: string | undefined;
  /** Names of jobs. Default: all. */
  jobs?: readonly string[] | undefined;
  /** Ask for everything anew; takes `jobs` by name. */
  fullRefresh?: boolean | undefined;
}

export interface RunOptions extends JobsOptions {
  /** Requests it may send, retries included. */
  maxRequests?: number | undefined;
  maxCredits?: number | undefined;
  /** How long it may ask, as `run --until` takes it: `90s`, `1h30m`. */
  until?: string | undefined;
  /** What a guard lets pass, as `run --accept-…` takes it. */
  accept?:
    | Readonly<Partial<Record<'vanished' | 'blank' | 'quarantine' | 'rollback' | 'ahead', readonly string[]>>>
    | undefined;
  /** Path of a file that Prometheus reads. */
  metricsFile?: string | undefined;
}

/** The document of `ledgerlake run --json` (docs/reference/commands.md). */
export interface RunResult {
  /** Its name. */
  run: string;
  /** 0: all of it; 3: some of it failed; 4: something was refused; 69 or 75: stopped early. */
  exitCode: number;
  stopped: { reason: string; hint: string } | null;
  jobs: Record<string, JobResult>;
  requests: number;
  credits: number;
  saved: number;
  seconds: number;
  published: {
    crawls: number;
    refused: { job: string; target: string; reason: string; accept: string | null }[];
    quarantined: { job: string; records: number; reason: string }[];
    tables: Record<string, TableResult>;
    unasked: number;
    audits: { audit: string; severity: 'error' | 'warn'; rows: number }[];
  };
}

export interface JobResult {
  tasks: number;
  /** Targets that were complete before this run. */
  before: number;
  done: number;
  failed: number;
  forbidden: number;
  failures: { target: string; reason: string }[];
  pages: number;
  records: number;
  /** Attempts, of which `retries` were not the first of their request. */
  requests: number;
  retries: number;
  credits: number;
  leftOut: string | null;
  targetsLeftOut: string[];
}

/** What became of the rows of a table. */
export interface TableResult {
  seen: number;
  inserted: number;
  changed: number;
  amended: number;
  confirmed: number;
  stale: number;
  late: number;
  gone: number;
}

/** The document of `ledgerlake plan --json` (docs/reference/commands.md). */
export interface PlanResult {
  jobs: readonly ({ job: string; rps: number | null; waitsFor: string | null } & PlanSums)[];
  targets: number;
  tasks: number;
  requests: number;
  requestsMost: number | null;
  credits: number;
  seconds: number;
  diskBytes: number;
  /** Jobs that may ask for more. */
  unknown: string[];
  /** Of the month; null: no budget. */
  creditsLeft: number | null;
}

export interface PlanSums {
  targets: number;
  tasks: number;
  requests: number;
  /** Null: nothing bounds it. */
  requestsMost: number | null;
  credits: number;
  /** Null: no rate is known. */
  seconds: number | null;
  diskBytes: number;
}

/**
 * A value of a row, exact: BIGINT, UBIGINT and HUGEINT as bigint, DECIMAL as text with all its digits, times as ISO 8601 in
 * UTC, JSON as its text, lists as arrays, structs and maps as objects.
 */
export type Value = string | number | bigint | boolean | null | Value[] | { [name: string]: Value };

/** The tables as the last run left them; runs go on meanwhile. */
export interface Snapshot {
  /** Runs SQL that only reads, and holds its rows in memory. @throws UsageError with what DuckDB says */
  query(sql: string): Promise<Record<string, Value>[]>;
  close(): void;
}
