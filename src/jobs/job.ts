import type { YamlFile } from '../config/yaml-file.ts';
import type { Operation } from '../operations/operation.ts';

/** A job, read from `jobs/<name>.yaml` and checked against its operation. */
export interface Job {
  /** The file's name without `.yaml`. */
  name: string;
  file: string;
  describe: string;
  operation: Operation;
  /** Parameters of every target, with the `sortBy` that the mode needs. */
  params: Record<string, unknown>;
  /** null for a job with one target. */
  forEach: TargetSource | null;
  /** Ids of a batch operation from the file's params, those that are mappings as canonical JSON; else null. */
  ids: readonly string[] | null;
  mode: 'full' | 'incremental';
  /** Incremental jobs: age of the last full crawl at which the next one is full; null for full jobs. */
  fullEveryMs: number | null;
  /** Names of jobs that publish before this one's targets are read. */
  after: string[];
  /** Feeds: how far back the first crawl goes; null for others. */
  since: Since | null;
  /** Feeds: how much below the newest covered slot is read again; null for others. */
  overlapMs: number | null;
  /** Records (or ids) per request; 1 for an operation without a limit. */
  pageSize: number;
  /** Ranges into which the id space is split. */
  partitions: number;
  tags: string[];
  /** Names of the only targets to crawl, outside the job's rounds; absent: all. */
  onlyTargets?: readonly string[];
}

/**
 * The source of a job's targets. `params` are the parameters that a value fills; it is empty for `for_each: {sql: …}`, whose
 * columns name them. `line` is the source's line in the job file.
 */
export type TargetSource = { params: string[]; line: number } & (
  | { kind: 'values'; values: string[] }
  | { kind: 'file'; path: string }
  | { kind: 'sql'; sql: string }
);

export type SqlSource = Extract<TargetSource, { kind: 'sql' }>;

/** How far back the first crawl of a feed goes. */
export type Since =
  | { kind: 'age'; ms: number }
  | { kind: 'slot'; slot: number }
  | { kind: 'pages'; pages: number }
  | { kind: 'all' };

/** A job and the file it came from, for problems that are found when all jobs are read. */
export interface ReadJob {
  job: Job;
  yaml: YamlFile;
}

/** JSON without spaces and with members sorted by name, so that equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map((item) => (item === undefined ? 'null' : canonicalJson(item))).join(',')}]`;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}
