import { type AuditFinding, isError } from '../warehouse/own-views.ts';
import { type MergeCounts, noRows } from './merge-table.ts';

/** The guards of `sql/guards/`. */
export type GuardName = 'vanished' | 'blank' | 'collapse' | 'quarantined' | 'stale';

/** Crawls that an audit or a guard (sql/guards/) kept from being published. */
export interface Refusal {
  job: string;
  /** Empty where a guard refused several targets together. */
  target: string;
  /** What is wrong, with numbers and examples. */
  reason: string;
  /** The guard; null for an audit, whose refusals cannot be accepted. */
  guard: GuardName | null;
  /** What `--accept` takes; null for an audit. */
  id: string | null;
  column: string | null;
  /** Rows or records that are wrong. */
  rows: number | null;
  /** Rows or records that were counted. */
  total: number | null;
  examples: string[] | null;
  targets: number;
}

/** Records of a job with cast errors, those of refused crawls too. */
export interface Quarantined {
  job: string;
  records: number;
  reason: string;
  /** Whether some of them are of first crawls, which the guard `quarantined` has no earlier ones to compare with. */
  first: boolean;
}

/** Rows of a job that are kept until a second look, hours later, finds them gone, too: more than a night loses. */
export interface Waiting {
  job: string;
  table: string;
  rows: number;
  /** The rows of the job. */
  total: number;
  examples: string[];
}

/** What of a job waits for a second look, in words. Pure. */
export function describeWaiting({ table, rows, total, examples }: Waiting): string {
  return `${rows} of ${total} rows of ${table} were not found, for example ${examples.join(', ')}; they are kept until a run some hours later does not find them either`;
}

/** The result of one publish, or of several added up. */
export interface Published {
  /** Crawls whose rows went in. */
  crawls: number;
  /** What audits and guards refused. */
  refused: Refusal[];
  /** What did not fit, by job: in how many records, and mostly why. */
  quarantined: Quarantined[];
  /** By table. */
  tables: Record<string, MergeCounts>;
  /** Rows that left their lists, and a look-up of which would count now. */
  unasked: number;
  /** Rows that are kept although their job seems to have lost most of them. */
  waiting: Waiting[];
  /** Audits of the project that returned rows; one of `error` severity kept the snapshot as it was. */
  audits: AuditFinding[];
}

/** Whether something was not published, or rows are kept that most of their job seems to have lost: exit 4. Pure. */
export function isHeldBack({ refused, waiting, audits }: Published): boolean {
  return refused.length + waiting.length > 0 || audits.some(isError);
}

export function nothingPublished(): Published {
  return { crawls: 0, refused: [], quarantined: [], tables: {}, unasked: 0, waiting: [], audits: [] };
}

/** Adds the result of one publish. */
export function addPublished(total: Published, one: Published): void {
  total.crawls += one.crawls;
  total.refused = total.refused.concat(one.refused);
  total.quarantined = total.quarantined.concat(one.quarantined);
  for (const [table, counts] of Object.entries(one.tables)) addCounts(total, table, counts);
  total.unasked = one.unasked;
  total.waiting = one.waiting;
  total.audits = total.audits.concat(one.audits);
}

/** Adds the counts of a table's rows. */
export function addCounts(total: Published, table: string, counts: MergeCounts): void {
  const sum = { ...(total.tables[table] ?? noRows) };
  for (const name of Object.keys(sum) as (keyof MergeCounts)[]) sum[name] += counts[name];
  total.tables[table] = sum;
}
