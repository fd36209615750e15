/** The project of a call. Paths are relative to the current folder. */
export interface ProjectOptions {
  /** Config file. Default: `ledgerlake.yaml` where there is one. */
  config?: string | undefined;
  /** Environment of the config file. Default: LEDGERLAKE_ENV. */
  environment?: string | undefined;
  /** Default: `data`, or `data/<environment>`. */
  dataDir?: string | undefined;
  /** Ends the call early with a StoppedEarly; the next call continues. */
  signal?: AbortSignal | undefined;
  /** Receives each log line, a JSON document without a line break. Default: nothing is logged. */
  log?: ((line: string) => void) | undefined;
}

export interface JobsOptions extends ProjectOptions {
  /** Folder of the job files. Default: `jobs`. */
  jobsDir?: string | undefined;
  /** Names of jobs. Default: all. */
  jobs?: readonly string[] | undefined;
  /** Crawls every target from the start; needs `jobs`. */
  fullRefresh?: boolean | undefined;
}

export interface RunOptions extends JobsOptions {
  /** Crawls the sample API inside the program; no URL may be set. */
  sample?: boolean | undefined;
  /** Requests it may send, retries included. */
  maxRequests?: number | undefined;
  maxCredits?: number | undefined;
  /** How long it may send requests, as `run --until`: `90s`, `1h30m`. */
  until?: string | undefined;
  /** Ids of refusals to accept, as `run --accept`. */
  accept?: readonly string[] | undefined;
  /** Path of a file for Prometheus. */
  metricsFile?: string | undefined;
}

/** The document of `ledgerlake run --json` (docs/reference/commands.md). */
export interface RunResult {
  /** Name of the run. */
  run: string;
  /** 0: all of it; 3: some of it failed; 4: something was refused; 69 or 75: stopped early. */
  exitCode: number;
  stopped: { reason: string; hint: string } | null;
  jobs: Record<string, JobResult>;
  requests: number;
  credits: number;
  saved: number;
  seconds: number;
  /** Targets with rows that their jobs do not request any more, and the id that `accept` takes. */
  dropped: readonly { job: string; targets: readonly string[]; id: string }[];
  published: {
    crawls: number;
    refused: { job: string; target: string; reason: string; id: string | null }[];
    quarantined: { job: string; records: number; reason: string }[];
    tables: Record<string, TableResult>;
    unasked: number;
    /** Jobs that seem to have lost most of their rows, which are kept until a second look. */
    waiting: { job: string; table: string; rows: number; total: number; examples: string[] }[];
    audits: { audit: string; severity: 'error' | 'warn'; rows: number }[];
  };
}

/** How far a job is in a run. */
export interface JobResult {
  tasks: number;
  /** Targets that earlier runs of the round completed. */
  before: number;
  done: number;
  failed: number;
  /** Failed targets whose operation the key may not use. */
  forbidden: number;
  /** The first three failed targets. */
  failures: { target: string; reason: string }[];
  pages: number;
  records: number;
  /** Attempts. */
  requests: number;
  /** Attempts that were not the first of their request. */
  retries: number;
  credits: number;
  /** Why the job was left out of the run, or null. */
  leftOut: string | null;
  /** File, line and reason of each invalid line of the job's target file: the first 20, and how many more. */
  targetsLeftOut: string[];
}

/** What became of the rows of a table. */
export interface TableResult {
  /** Rows received: inserted + changed + amended + confirmed + stale. */
  seen: number;
  inserted: number;
  changed: number;
  /** Rows updated in place: only volatile columns (prices) changed, a group came for the first time, or at the same slot. */
  amended: number;
  /** Rows received unchanged. */
  confirmed: number;
  /** Rows of answers older than what the table has: counted, never applied. */
  stale: number;
  /** Inserted rows in slots that their feed had covered before. */
  late: number;
  /** Rows that left the table; they are not among those seen. */
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
  /** Jobs that may need more requests. */
  unknown: string[];
  /** Credits left of the month; null: no budget. */
  creditsLeft: number | null;
}

export interface PlanSums {
  targets: number;
  tasks: number;
  requests: number;
  /** Upper bound; null: nothing bounds it. */
  requestsMost: number | null;
  credits: number;
  /** Null: the rate is unknown. */
  seconds: number | null;
  diskBytes: number;
}

/**
 * A value of a row, exact: BIGINT, UBIGINT and HUGEINT as bigint, DECIMAL as text with all its digits, times as ISO 8601 in
 * UTC, JSON as its text, lists as arrays, structs and maps as objects.
 */
export type Value = string | number | bigint | boolean | null | Value[] | { [name: string]: Value };

/** The tables as the last run left them, while other runs may be at work. */
export interface Snapshot {
  /** Runs SQL that only reads, and returns its rows in memory. @throws UsageError with DuckDB's message */
  query(sql: string): Promise<Record<string, Value>[]>;
  close(): void;
}
