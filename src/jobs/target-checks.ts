import * as z from 'zod';
import { type Problem, problemsError, problemText } from '../config/yaml-file.ts';
import { UsageError } from '../errors.ts';
import type { Operation } from '../operations/operation.ts';
import type { Job, SqlSource, TargetSource } from './job.ts';
import { forEachNames, idSchema } from './job-schema.ts';

/** The parameters of one target before it is known to be good. */
export interface TargetRow {
  params: Record<string, string>;
  /** Line of a target file or row of an answer (from 1), index in `values` (from 0). */
  at: number;
}

/** What becomes of the lines of a target file that are no targets, where the others can go on without them. */
export type LeaveOut = (problems: readonly Problem[]) => void;

// A file of the wrong kind is wrong on every line: enough to see it.
const maxProblems = 20;

/**
 * Checks the columns of a job's SQL before it is run: one named parameter takes one column of any name; without a name,
 * the columns are the parameters.
 * @throws UsageError for columns that fit no parameter or are not text
 */
export function checkColumns(
  job: Job,
  source: SqlSource,
  columns: readonly { name: string; isText: boolean }[],
): void {
  const names = columns.map(({ name }) => name);
  checkNames(job, source, names);
  const others = columns.filter(({ isText }) => !isText);
  refuse(
    source,
    others.map(({ name }) => problemAt(job, source, null, castToText(name))),
  );
}

function checkNames(job: Job, source: SqlSource, columns: readonly string[]): void {
  const problem = columnsProblem(job, source, columns);
  if (problem !== null) refuse(source, [problemAt(job, source, null, problem)]);
}

/**
 * Turns the rows of a job's SQL into parameters.
 * @throws UsageError for columns that fit no parameter, and values that are NULL or not text
 */
export function readAnswer(
  job: Job,
  source: SqlSource,
  answer: readonly Record<string, unknown>[],
): TargetRow[] {
  const [first] = answer;
  if (first === undefined) return [];
  const columns = Object.keys(first);
  checkNames(job, source, columns);
  const names = source.params.length === 0 ? columns : source.params;
  const problems: Problem[] = [];
  const rows = answer.map((row, index) => {
    const params: Record<string, string> = {};
    for (const [n, column] of columns.entries()) {
      const value = row[column];
      if (typeof value === 'string') params[names[n]!] = value;
      else problems.push(problemAt(job, source, index + 1, notText(column, value)));
    }
    return { params, at: index + 1 };
  });
  refuse(source, problems);
  return rows;
}

/**
 * Checks every value against what its parameter takes.
 * @param leaveOut takes the problems of a target file that has good lines as well
 * @returns the good ones
 * @throws UsageError with the first 20 problems and how many more there are
 */
export function checkRows(
  job: Job,
  source: TargetSource,
  rows: readonly TargetRow[],
  leaveOut?: LeaveOut,
): TargetRow[] {
  const schemas = valueSchemas(job.operation);
  const problems: Problem[] = [];
  const good: TargetRow[] = [];
  for (const row of rows) {
    const { params, at } = row;
    const before = problems.length;
    for (const [name, value] of Object.entries(params)) {
      const message = valueProblem(value, schemaWhere(job, params, name) ?? schemas[name]);
      if (message === null) continue;
      // Only what came out of the warehouse is shown: a file may hold a key pasted by mistake.
      const shown = source.kind === 'sql' ? `, got ${JSON.stringify(value.slice(0, 60))}` : '';
      const column = source.kind === 'sql' && source.params.length === 0 ? `${name}: ` : '';
      problems.push(problemAt(job, source, at, `${column}${message}${shown}`));
    }
    if (problems.length === before) good.push(row);
  }
  if (leaveOut === undefined || source.kind !== 'file' || good.length === 0) refuse(source, problems);
  else if (problems.length > 0) leaveOut(problems);
  return good;
}

function columnsProblem(job: Job, source: SqlSource, columns: readonly string[]): string | null {
  const { operation, params } = job;
  if (source.params.length === 1) {
    if (columns.length === 1) return null;
    return `expected one column, the SELECT gives ${columns.length} (${columns.join(', ')})`;
  }
  const ids = Object.keys(idShape(operation));
  const known = ids.length > 0 ? ids : forEachNames(operation);
  const unknown = columns.filter((column) => !known.includes(column));
  if (unknown.length > 0) {
    const list = known.join(', ');
    return `${operation.name} has no parameter ${unknown.join(', ')}; name the columns after ${list}`;
  }
  const twice = columns.filter((column) => Object.hasOwn(params, column));
  if (twice.length > 0)
    return `${twice.join(', ')} stands in params too; leave it out there or in the SELECT`;
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

/** What each parameter's value must be; of a batch operation, what one id (or a member of it) must be. */
function valueSchemas(operation: Operation): Record<string, z.ZodType | undefined> {
  if (operation.paging !== 'batch') return operation.params.shape as Record<string, z.ZodType>;
  const id = idSchema(operation);
  if (id instanceof z.ZodObject) return idShape(operation);
  return { [operation.batchParam ?? '']: id ?? undefined };
}

/** What a parameter's value must be because of what another one is; null where it does not matter. */
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
  // Quotes and commas are what is left of a JSON or CSV file; some parameters would take them as they are.
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

function problemAt(job: Job, source: TargetSource, at: number | null, message: string): Problem {
  if (source.kind === 'file') return { file: source.path, line: at ?? 0, field: '', message };
  const place = { file: job.file, line: source.line, field: fieldOf(source) };
  if (source.kind === 'values') return { ...place, field: `${place.field}[${at}]`, message };
  return { ...place, message: at === null ? message : `row ${at}: ${message}` };
}

function fieldOf({ params, kind }: TargetSource): string {
  return ['for_each', ...params, kind].join('.');
}

/** Where the SQL of a job stands, as errors name it: `jobs/a.yaml:3: for_each.owner.sql`. */
export function sqlPlace({ file, forEach }: Job): string {
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
