import type { YamlFile } from '../config/yaml-file.ts';
import type { Operation } from '../operations/operation.ts';

/** One job: what to crawl, read from `jobs/<name>.yaml` and checked against its operation. */
export interface Job {
  /** The file's name without `.yaml`. */
  name: string;
  file: string;
  describe: string;
  operation: Operation;
  /** Parameters every target shares; sorted modes have their `sortBy` filled in. */
  params: Record<string, unknown>;
  /** null: the job has one target. */
  forEach: TargetSource | null;
  /** Ids of a batch operation that stand in the file's params, an id of several members as canonical JSON; else null. */
  ids: readonly string[] | null;
  mode: 'full' | 'incremental';
  /** Incremental jobs: how old the last full crawl may be before the next one is full; null for full jobs. */
  fullEveryMs: number | null;
  /** Names of jobs that must have published before this one's targets are read. */
  after: string[];
  /** Feeds: how far back to go (the operation's own when the file does not say); null for everything else. */
  since: Since | null;
  /** Feeds: how much below the newest covered slot is read again (1 hour when the file does not say); null for everything else. */
  overlapMs: number | null;
  /** Records (or ids) a request; 1 where the operation has no such parameter. */
  pageSize: number;
  /** Ranges the id space is split into. */
  partitions: number;
  /** Names of groups that it is in: `run tag:<name>`. */
  tags: string[];
}

/**
 * Where a job's targets come from. `params` are the parameters a value fills; it is empty for
 * `for_each: {sql: …}`, where the columns of the answer name them. `line` of the job file is where it stands.
 */
export type TargetSource = { params: string[]; line: number } & (
  | { kind: 'values'; values: string[] }
  | { kind: 'file'; path: string }
  | { kind: 'sql'; sql: string }
);

export type SqlSource = Extract<TargetSource, { kind: 'sql' }>;

/** How far back a feed's first crawl goes. */
export type Since =
  | { kind: 'age'; ms: number }
  | { kind: 'slot'; slot: number }
  | { kind: 'pages'; pages: number }
  | { kind: 'all' };

/** A job together with the file it came from, while problems are still being collected. */
export interface ReadJob {
  job: Job;
  yaml: YamlFile;
}

/** JSON with the members of every object sorted by name and no spaces: equal values give equal texts. */
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
