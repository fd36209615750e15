import { readText } from '../config/yaml-file.ts';
import { UsageError } from '../errors.ts';
import { canonicalJson, type Job, type TargetSource } from './job.ts';
import { checkRows, type LeaveOut, readAnswer, type TargetRow } from './target-checks.ts';

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

/** A value of a target file and the line it stands on, counted from 1. */
export interface TargetLine {
  value: string;
  line: number;
}

/**
 * Reads a target file: one value a line, trimmed; blank lines and `#` comments (at the start of a line, or after
 * a space) are skipped. Repeated values are all returned.
 * @throws UsageError when it cannot be read or holds no value
 */
export async function readTargetFile(path: string): Promise<TargetLine[]> {
  const text = await readText(path);
  const lines: TargetLine[] = [];
  for (const [index, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const value = raw.replace(/(^|\s)#.*$/, '').trim();
    if (value !== '') lines.push({ value, line: index + 1 });
  }
  if (lines.length > 0) return lines;
  throw new UsageError(
    `${path} holds no target`,
    'Write one value per line; lines that begin with # are ignored.',
  );
}
