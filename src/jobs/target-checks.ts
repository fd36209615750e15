import * as z from 'zod';
import { type Problem, problemsError, problemText } from '../config/yaml-file.ts';
import { UsageError } from '../errors.ts';
import type { Operation } from '../operations/operation.ts';
import type { Job, SqlSource, TargetSource } from './job.ts';
import { forEachNames, idSchema } from './job-schema.ts';

/** The parameters of one target, before they are checked. */
export interface TargetRow {
  params: Record<string, string>;
  /** Line of a target file or row of an answer (from 1); index in `values` (from 0). */
  position: number;
}

/** Receives the invalid lines of a target file whose other lines are crawled. */
export type LeaveOut = (problems: readonly Problem[]) => void;

// A file of the wrong kind is wrong on every line, so a few are enough to see it.
const maxProblems = 20;

/**
 * Checks the columns of a job's SQL before it is run. One named parameter takes one column of any name. Without a name, the
 * columns are the parameters.
 * @throws UsageError for columns that fit no parameter or are not text
 */
export function checkColumns(
  job: Job,
  source: SqlSource,
  columns: readonly { name: string; isText: boolean }[],
): void {
  const names = columns.map(({ name }) => name);
  checkNames(job, source, names);
  const problems = columns
    .filter(({ isText }) => !isText)
    .map(({ name }) => problemAt(job, source, null, castToText(name)));
  refuse(source, problems);
}

function checkNames(job: Job, source: SqlSource, columns: readonly string[]): void {
  const problem = columnsProblem(job, source, columns);
  if (problem !== null) refuse(source, [problemAt(job, source, null, problem)]);
}

/**
 * Turns the rows of a job's SQL into parameters.
 * @throws UsageError for columns that fit no parameter, and values that are NULL or not text
 */
export function readRowsOfSql(
  job: Job,
  source: SqlSource,
  rows: readonly Record<string, unknown>[],
): TargetRow[] {
  const [firstRow] = rows;
  if (firstRow === undefined) return [];
  const columns = Object.keys(firstRow);
  checkNames(job, source, columns);
  const names = source.params.length === 0 ? columns : source.params;
  const problems: Problem[] = [];
  const targetRows = rows.map((row, index) => {
    const params: Record<string, string> = {};
    for (const [n, column] of columns.entries()) {
      const value = row[column];
      if (typeof value === 'string') params[names[n]!] = value;
      else problems.push(problemAt(job, source, index + 1, notText(column, value)));
    }
    return { params, position: index + 1 };
  });
  refuse(source, problems);
  return targetRows;
}

/**
 * Checks every value against the schema of its parameter.
 * @param leaveOut receives the problems of a target file that has valid lines as well
 * @returns the valid rows
 * @throws UsageError with the first 20 problems and the number of others
 */
export function checkRows(
  job: Job,
  source: TargetSource,
  rows: readonly TargetRow[],
  leaveOut?: LeaveOut,
): TargetRow[] {
  const schemas = valueSchemas(job.operation);
  const problems: Problem[] = [];
  const valid: TargetRow[] = [];
  for (const row of rows) {
    const { params, position } = row;
    const problemsBefore = problems.length;
    for (const [name, value] of Object.entries(params)) {
      const message = valueProblem(value, schemaWhere(job, params, name) ?? schemas[name]);
      if (message === null) continue;
      // Only values of the warehouse are shown, because a file may hold a key pasted by mistake.
      const got = source.kind === 'sql' ? `, got ${JSON.stringify(value.slice(0, 60))}` : '';
      const column = source.kind === 'sql' && source.params.length === 0 ? `${name}: ` : '';
      problems.push(problemAt(job, source, position, `${column}${message}${got}`));
    }
    if (problems.length === problemsBefore) valid.push(row);
  }
  if (leaveOut === undefined || source.kind !== 'file' || valid.length === 0) refuse(source, problems);
  else if (problems.length > 0) leaveOut(problems);
  return valid;
}

function columnsProblem(job: Job, source: SqlSource, columns: readonly string[]): string | null {
  const { operation, params } = job;
  if (source.params.length === 1) {
    if (columns.length === 1) return null;
    return `expected one column, the SELECT gives ${columns.length} (${columns.join(', ')})`;
  }
  const idNames = Object.keys(idShape(operation));
  const names = idNames.length > 0 ? idNames : forEachNames(operation);
  const unknown = columns.filter((column) => !names.includes(column));
  if (unknown.length > 0) {
    const list = names.join(', ');
    return `${operation.name} has no parameter ${unknown.join(', ')}; name the columns after ${list}`;
  }
  const twice = columns.filter((column) => Object.hasOwn(params, column));
  if (twice.length > 0) return `${twice.join(', ')} is in params too; leave it out there or in the SELECT`;
  const missing = missingNames(job, columns);
  return missing === '' ? null : `${operation.name} needs ${missing} too, in params or as a column`;
}

function missingNames({ operation, params }: Job, columns: readonly string[]): string {
  const given = new Set([...Object.keys(params), ...columns]);
  if (operation.paging === 'batch') {
    return requiredNames(idShape(operation))
      .filter((name) => !given.has(name))
      .join(', ');
  }
  const missing = requiredNames(operation.params.shape).filter((name) => !given.has(name));
  if (missing.length > 0) return missing.join(', ');
  return operation.anyOf === undefined || operation.anyOf.some((name) => given.has(name))
    ? ''
    : `one of ${operation.anyOf.join(', ')}`;
}

function requiredNames(shape: Readonly<Record<string, z.core.$ZodType>>): string[] {
  return Object.keys(shape).filter((name) => !(shape[name] as z.ZodType).safeParse(undefined).success);
}

/** The schema of each parameter's value; for a batch operation, of one id or of its members. */
function valueSchemas(operation: Operation): Record<string, z.ZodType | undefined> {
  if (operation.paging !== 'batch') return operation.params.shape as Record<string, z.ZodType>;
  const id = idSchema(operation);
  if (id instanceof z.ZodObject) return idShape(operation);
  return { [operation.batchParam ?? '']: id ?? undefined };
}

/** The schema that another parameter's value demands; null without one. */
function schemaWhere(job: Job, row: TargetRow['params'], name: string): z.ZodType | null {
  const { valueWhere } = job.operation;
  if (valueWhere?.param !== name) return null;
  return { ...job.params, ...row }[valueWhere.where] === valueWhere.is ? valueWhere.value : null;
}

function idShape(operation: Operation): Record<string, z.ZodType> {
  const id = idSchema(operation);
  return id instanceof z.ZodObject ? (id.shape as Record<string, z.ZodType>) : {};
}

function valueProblem(value: string, schema: z.ZodType | undefined): string | null {
  // Quotes and commas are left over from a JSON or CSV file. Some schemas would accept them.
  if (/^["'`[{]|["'`,]$/.test(value)) return 'expected the bare value, without quotes, commas or brackets';
  const parsed = schema?.safeParse(value);
  return parsed === undefined || parsed.success
    ? null
    : (parsed.error.issues[0]?.message ?? 'not a value for it');
}

function notText(column: string, value: unknown): string {
  if (value === null || value === undefined) {
    return `${column} is null; add \`where ${column} is not null\``;
  }
  return castToText(column);
}

function castToText(column: string): string {
  return `${column} is not text; write \`${column}::varchar\``;
}

/** @param position of the row; null for the source as a whole */
function problemAt(job: Job, source: TargetSource, position: number | null, message: string): Problem {
  if (source.kind === 'file') return { file: source.path, line: position ?? 0, field: '', message };
  const location = { file: job.file, line: source.line, field: fieldOf(source) };
  if (source.kind === 'values') return { ...location, field: `${location.field}[${position}]`, message };
  return { ...location, message: position === null ? message : `row ${position}: ${message}` };
}

function fieldOf({ params, kind }: TargetSource): string {
  return ['for_each', ...params, kind].join('.');
}

/** File, line and field of a job's SQL, for errors: `jobs/a.yaml:3: for_each.owner.sql`. */
export function locateSql({ file, forEach }: Job): string {
  if (forEach === null) return file;
  return problemText({ file, line: forEach.line, field: fieldOf(forEach), message: '' });
}

function refuse({ kind }: TargetSource, problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const { message, hint } = problemsError(
    problems.slice(0, maxProblems),
    kind === 'sql'
      ? 'Correct the SQL, then run `ledgerlake plan`: it reads the targets and sends no request.'
      : 'Correct the targets, then run `ledgerlake jobs check`.',
  );
  const more = problems.length - maxProblems;
  throw new UsageError(more > 0 ? `${message}\nand ${more} more` : message, hint);
}
