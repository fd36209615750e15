import { canonicalJson } from './canonical-json.ts';
import type { Job, TargetSource } from './job.ts';
import { checkRows, type LeaveOut, readAnswer, type TargetRow } from './target-checks.ts';
import { readTargetFile } from './target-file.ts';

/** What a job runs for once. */
export interface Target {
  /** The value; canonical JSON (sorted keys) of several; '' for a job without for_each or over a batch operation. */
  name: string;
  params: Record<string, string>;
}

/** Runs one SELECT of a job and gives its rows as objects by column name; VARCHAR arrives as string. */
export type RunQuery = (sql: string) => Promise<Record<string, unknown>[]>;

/**
 * The targets of a job, in the order of their source, repeated ones once. SQL that finds no row gives no target;
 * a file or list without values is an error. A job over a batch operation is one target: see resolveIds.
 * @param leaveOut takes the lines of a target file that its operation would refuse; without it they are thrown, too
 * @throws UsageError naming the file and line (or row) of every value its operation would refuse
 */
export async function resolveTargets(job: Job, query: RunQuery, leaveOut?: LeaveOut): Promise<Target[]> {
  if (job.forEach === null || job.operation.paging === 'batch') return [{ name: '', params: {} }];
  const rows = await readRows(job, job.forEach, query, leaveOut);
  return distinct(rows.map(({ params }) => ({ name: nameOf(params), params })));
}

/**
 * The ids of a job over a batch operation, in the order of their source, repeated ones once. An id that is a
 * mapping (`{address, tree}`) is its canonical JSON.
 * @param leaveOut as resolveTargets
 * @throws UsageError naming the file and line (or row) of every id the operation would refuse
 */
export async function resolveIds(job: Job, query: RunQuery, leaveOut?: LeaveOut): Promise<string[]> {
  if (job.ids !== null) return [...new Set(job.ids)];
  if (job.forEach === null || job.operation.paging !== 'batch') return [];
  const rows = await readRows(job, job.forEach, query, leaveOut);
  const mappings = job.forEach.params.length === 0;
  return [...new Set(rows.map(({ params }) => (mappings ? canonicalJson(params) : nameOf(params))))];
}

async function readRows(
  job: Job,
  source: TargetSource,
  query: RunQuery,
  leaveOut: LeaveOut | undefined,
): Promise<TargetRow[]> {
  const [param = ''] = source.params;
  let rows: TargetRow[];
  if (source.kind === 'values') {
    rows = source.values.map((value, index) => ({ params: { [param]: value }, at: index }));
  } else if (source.kind === 'file') {
    const lines = await readTargetFile(source.path);
    rows = lines.map(({ value, line }) => ({ params: { [param]: value }, at: line }));
  } else {
    rows = readAnswer(job, source, await query(source.sql));
  }
  return checkRows(job, source, rows, leaveOut);
}

function nameOf(params: Record<string, string>): string {
  const values = Object.values(params);
  return values.length === 1 ? values[0]! : canonicalJson(params);
}

function distinct(targets: readonly Target[]): Target[] {
  const byName = new Map<string, Target>();
  for (const target of targets) if (!byName.has(target.name)) byName.set(target.name, target);
  return [...byName.values()];
}
