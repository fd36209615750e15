import { accessSync, constants, statSync } from 'node:fs';
import type { Problem, YamlFile } from '../config/yaml-file.ts';
import { describeIssue } from '../config/yaml-issues.ts';
import type { Operation } from '../operations/operation.ts';
import type { TargetSource } from './job.ts';
import { canSort, forEachNames, idsAreMappings, type JobFile } from './job-schema.ts';

/** A job file whose fields are valid, before it is checked against its operation. */
export interface JobDraft {
  name: string;
  yaml: YamlFile;
  fields: JobFile;
  operation: Operation;
  /** The file's params, with the order that an incremental or partitioned crawl needs. */
  params: Readonly<Record<string, unknown>>;
  forEach: TargetSource | null;
}

/** All problems of a job with the operation that it calls. */
export function checkJob(draft: JobDraft): Problem[] {
  return [...checkSource(draft), ...checkParams(draft), ...checkModes(draft), ...checkPaging(draft)];
}

function checkSource({ yaml, fields, operation, forEach }: JobDraft): Problem[] {
  const { name, paging, batchParam = '' } = operation;
  const refuse = (field: string[], message: string) => [yaml.problem(field, message)];
  if (forEach === null) {
    if (paging !== 'batch' || Object.hasOwn(fields.params, batchParam)) return [];
    const source = idsAreMappings(operation) ? '{sql: …}' : `{${batchParam}: …}`;
    return refuse(
      ['for_each'],
      `missing, ${name} takes its ids from for_each: ${source} or params: {${batchParam}: [...]}`,
    );
  }
  const [param] = forEach.params;
  if (param === undefined) {
    // Ids that are mappings come from the columns of one SELECT. Plain ids have a parameter to name.
    if (paging !== 'batch' || idsAreMappings(operation)) return [];
    return refuse(
      ['for_each', 'sql'],
      `${name} takes one list of ids, write for_each: {${batchParam}: {sql: …}}`,
    );
  }
  const names = forEachNames(operation);
  if (!names.includes(param)) {
    const expected = names.length === 0 ? `for_each: {sql: "select …"}` : oneOf(names);
    return refuse(['for_each', param], `no parameter of ${name} a job can fill, expected ${expected}`);
  }
  return forEach.kind === 'file' ? checkFile(yaml, param, forEach.path) : [];
}

function checkFile(yaml: YamlFile, param: string, path: string): Problem[] {
  const refuse = (message: string) => [yaml.problem(['for_each', param, 'file'], message)];
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isDirectory() ? refuse(`expected a file, ${path} is a folder`) : [];
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    return refuse(`cannot read ${path} (${code}); paths are relative to the job file`);
  }
}

/**
 * Checks `params` and `for_each` together against the operation: each parameter is known and valid, and every required one
 * is given exactly once. Which parameters `for_each: {sql: …}` fills is known only when it has run, so missing ones
 * are left to resolveTargets there.
 */
function checkParams(draft: JobDraft): Problem[] {
  const { yaml, operation, params, forEach } = draft;
  const filled = forEach?.params ?? [];
  const columnsDecide = forEach !== null && filled.length === 0;
  const problems: Problem[] = [];
  for (const name of forEach === null ? [] : new Set([...filled, ...batchNames(operation)])) {
    if (!Object.hasOwn(params, name)) continue;
    const message = `filled by for_each${filled.includes(name) ? ' too' : ''}; leave it out of params`;
    problems.push(yaml.problem(['params', name], message));
  }
  const parsed = operation.params.safeParse(params);
  for (const issue of parsed.error?.issues ?? []) {
    const [name] = issue.path;
    if (name !== undefined && isFilled(String(name), draft)) continue;
    const isMissing = name !== undefined && issue.path.length === 1 && !Object.hasOwn(params, name);
    if (isMissing && columnsDecide) continue;
    problems.push(
      ...describeIssue(issue, operation.params, params).map(({ path, message }) =>
        yaml.problem(['params', ...path], isMissing ? `${message}; give it in params or for_each` : message),
      ),
    );
  }
  if (!columnsDecide && filled.every((name) => Object.hasOwn(operation.params.shape, name)))
    problems.push(...checkChoice(draft, filled));
  return problems;
}

/** Whether a parameter's value comes from elsewhere than `params`. `checkSource` reports ids that come from nowhere. */
function isFilled(name: string, { operation, params, forEach }: JobDraft): boolean {
  if (forEach?.params.includes(name)) return true;
  return batchNames(operation).includes(name) && (forEach !== null || !Object.hasOwn(params, name));
}

/** Checks that of the parameters in `anyOf` one is given, and only one where the operation takes no more. */
function checkChoice({ yaml, operation, params }: JobDraft, filled: readonly string[]): Problem[] {
  const { name, anyOf, onlyOne = false } = operation;
  if (anyOf === undefined) return [];
  const nonNull = Object.keys(params).filter((param) => params[param] !== null);
  const given = anyOf.filter((param) => [...nonNull, ...filled, ...batchNames(operation)].includes(param));
  const names = anyOf.join(', ');
  if (given.length === 0)
    return [yaml.problem(['params'], `${name} needs at least one of ${names}, in params or for_each`)];
  if (onlyOne && given.length > 1)
    return [yaml.problem(['params'], `${name} takes only one of ${names}, in params or for_each`)];
  return [];
}

function batchNames({ batchParam }: Operation): string[] {
  return batchParam === undefined ? [] : [batchParam];
}

function checkModes({ yaml, fields, operation, params }: JobDraft): Problem[] {
  const problems: Problem[] = [];
  const refuse = (field: string[], message: string) => problems.push(yaml.problem(field, message));
  const { name, feed } = operation;
  const isIncremental = fields.mode === 'incremental';
  if (isIncremental && !canSort(operation)) {
    refuse(['mode'], `${name} has no sort, so incremental cannot tell what is new; expected full`);
  } else if (isIncremental && !sortsByChange(params.sortBy)) {
    refuse(
      ['params', 'sortBy'],
      'incremental needs {sortBy: updated, sortDirection: desc} or recent_action, which it takes when sortBy is left out',
    );
  }
  if (fields.full_every !== undefined && !isIncremental) {
    refuse(['full_every'], 'only for mode: incremental; a full job is a full crawl every time');
  }
  if (fields.since !== undefined && feed === undefined) {
    refuse(['since'], `only for feeds; ${name} is crawled whole`);
  } else if (feed?.by === 'time' && typeof fields.since === 'object' && 'slot' in fields.since) {
    refuse(['since'], `${name} goes by time, not by slots; expected an age, {pages: n} or all`);
  }
  if (fields.overlap !== undefined && feed === undefined) {
    refuse(['overlap'], `only for feeds; ${name} is crawled whole`);
  }
  return problems;
}

function checkPaging({ yaml, fields, operation, params }: JobDraft): Problem[] {
  const problems: Problem[] = [];
  const refuse = (field: string[], message: string) => problems.push(yaml.problem(field, message));
  const { name, limit, paging } = operation;
  if (fields.page_size !== undefined && limit === null) {
    refuse(['page_size'], `${name} gives one answer and takes no page size`);
  } else if (fields.page_size !== undefined && fields.page_size > limit!) {
    refuse(['page_size'], `expected at most ${limit}, the limit of ${name}`);
  }
  if (fields.partitions === 1) return problems;
  if (paging !== 'keyset' || !canSort(operation)) {
    refuse(['partitions'], `${name} cannot be split into ranges of ids; expected 1`);
  } else if (fields.mode === 'incremental') {
    refuse(['partitions'], 'an incremental crawl walks one list; expected 1');
  } else if (!sortsById(params.sortBy)) {
    const order = '{sortBy: id, sortDirection: asc}';
    refuse(['params', 'sortBy'], `partitions need ${order}, which they take when sortBy is left out`);
  }
  return problems;
}

function sortsByChange(sort: unknown): boolean {
  const { sortBy, sortDirection } = (sort ?? {}) as Record<string, unknown>;
  return (sortBy === 'updated' || sortBy === 'recent_action') && sortDirection === 'desc';
}

function sortsById(sort: unknown): boolean {
  const { sortBy, sortDirection } = (sort ?? {}) as Record<string, unknown>;
  return sortBy === 'id' && sortDirection === 'asc';
}

function oneOf(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `one of ${names.join(', ')}`;
}
