import { readText } from '../config/yaml-file.ts';
import { UsageError } from '../errors.ts';
import { suggestion } from '../suggestion.ts';
import { canonicalJson, type Job, type TargetSource } from './job.ts';
import { checkRows, type LeaveOut, readRowsOfSql, type TargetRow } from './target-checks.ts';

/** One thing that a job is crawled for: a collection, an owner. */
export interface Target {
  /** The value, or the canonical JSON of several; '' for a job without for_each or with a batch operation. */
  name: string;
  params: Record<string, string>;
}

/** Runs one SELECT of a job. @returns its rows by column name, VARCHAR as string */
export type RunQuery = (sql: string) => Promise<Record<string, unknown>[]>;

/**
 * The distinct targets of a job, in the order of their source. SQL without rows gives no target, but a file or list without
 * values is an error. A job with a batch operation has one target (see resolveIds).
 * @param leaveOut receives the lines of a target file that the operation would refuse; without it they are thrown
 * @throws UsageError with file and line (or row) of every value that the operation would refuse
 */
export async function resolveTargets(job: Job, query: RunQuery, leaveOut?: LeaveOut): Promise<Target[]> {
  if (job.forEach === null || job.operation.paging === 'batch') return [{ name: '', params: {} }];
  const rows = await readRows(job, job.forEach, query, leaveOut);
  return distinct(rows.map(({ params }) => ({ name: nameOf(params), params })));
}

/**
 * The distinct ids of a job with a batch operation, in the order of their source; none for other jobs. An id that is a mapping
 * (`{address, tree}`) is canonical JSON.
 * @param leaveOut as resolveTargets
 * @throws UsageError with file and line (or row) of every id that the operation would refuse
 */
export async function resolveIds(job: Job, query: RunQuery, leaveOut?: LeaveOut): Promise<string[]> {
  if (job.ids !== null) return [...new Set(job.ids)];
  if (job.forEach === null || job.operation.paging !== 'batch') return [];
  const rows = await readRows(job, job.forEach, query, leaveOut);
  const areMappings = job.forEach.params.length === 0;
  return [...new Set(rows.map(({ params }) => (areMappings ? canonicalJson(params) : nameOf(params))))];
}

/**
 * The targets of a job that are to be crawled, of all its targets. Pure.
 * @throws UsageError for a name that none of them has
 */
export function chooseTargets({ name, onlyTargets }: Job, all: readonly Target[]): readonly Target[] {
  if (onlyTargets === undefined) return all;
  const names = all.map((target) => target.name);
  const unknown = onlyTargets.find((target) => !names.includes(target));
  if (unknown === undefined) return all.filter((target) => onlyTargets.includes(target.name));
  throw new UsageError(
    `the job ${name} has no target "${unknown}"${suggestion(unknown, names)}`,
    `Its targets are listed by: ledgerlake status ${name}`,
  );
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
    rows = source.values.map((value, index) => ({ params: { [param]: value }, position: index }));
  } else if (source.kind === 'file') {
    const lines = await readTargetFile(source.path);
    rows = lines.map(({ value, line }) => ({ params: { [param]: value }, position: line }));
  } else {
    rows = readRowsOfSql(job, source, await query(source.sql));
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

/** A value of a target file. */
interface TargetLine {
  value: string;
  /** From 1. */
  line: number;
}

/**
 * Reads a target file: one trimmed value a line, repeated ones included. Blank lines and `#` comments (at the start of a line,
 * or after a space) are skipped.
 * @throws UsageError when the file cannot be read or has no value
 */
async function readTargetFile(path: string): Promise<TargetLine[]> {
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
