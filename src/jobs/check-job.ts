import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Checked, Problem, YamlFile } from '../config/yaml-file.ts';
import { parseDuration } from '../duration.ts';
import { findOperation } from '../operations/catalogue.ts';
import type { Operation } from '../operations/operation.ts';
import { checkParams } from './check-params.ts';
import { canonicalJson, type Job, type Since, type TargetSource } from './job.ts';
import { forEachNames, idsAreMappings, type JobFile } from './job-schema.ts';

/** A job file whose fields have the right form, on its way to being checked against its operation. */
export interface JobDraft {
  /** The jobs folder: paths in the file are relative to it. */
  dir: string;
  name: string;
  yaml: YamlFile;
  fields: JobFile;
}

/** Checks a job against the operation it calls; every problem is reported; none stops the others. */
export function checkJob(draft: JobDraft): Checked<Job> {
  const { yaml, fields } = draft;
  const operation = findOperation(fields.method)!;
  const forEach = readSource(draft);
  const params = sortedParams(fields, operation);
  const problems = [
    ...checkSource(draft, operation, forEach),
    ...checkParams(yaml, operation, params, forEach),
    ...checkModes(draft, operation),
    ...checkPaging(draft, operation),
  ];
  if (problems.length > 0) return { problems };
  const incremental = fields.mode === 'incremental';
  return {
    value: {
      name: draft.name,
      file: yaml.file,
      describe: fields.describe,
      operation,
      params: withoutIds(params, operation),
      forEach,
      ids: readIds(params, operation),
      mode: fields.mode,
      fullEveryMs: incremental ? durationMs(fields.full_every ?? '7d') : null,
      after: [...new Set(fields.after)],
      tags: [...new Set(fields.tags)],
      since: operation.feed === undefined ? null : readSince(fields.since ?? operation.feed.since),
      overlapMs: operation.feed === undefined ? null : readOverlap(fields.overlap ?? '1h'),
      pageSize: fields.page_size ?? operation.limit ?? 1,
      partitions: fields.partitions,
    },
  };
}

function readSource({ dir, yaml, fields }: JobDraft): TargetSource | null {
  if (fields.for_each === undefined) return null;
  const lineOf = (...field: string[]) => yaml.problem(['for_each', ...field], '').line;
  if (fields.for_each.sql !== undefined)
    return { params: [], line: lineOf('sql'), kind: 'sql', sql: fields.for_each.sql };
  const [[param, source] = []] = Object.entries(fields.for_each as Record<string, SourceFields>);
  if (param === undefined || source === undefined) return null;
  const at = { params: [param], line: lineOf(param, Object.keys(source)[0]!) };
  if (source.values !== undefined) return { ...at, kind: 'values', values: source.values };
  if (source.sql !== undefined) return { ...at, kind: 'sql', sql: source.sql };
  const path = source.file ?? '';
  return { ...at, kind: 'file', path: isAbsolute(path) ? path : join(dir, path) };
}

interface SourceFields {
  values?: string[];
  file?: string;
  sql?: string;
}

function checkSource(
  { yaml, fields }: JobDraft,
  operation: Operation,
  source: TargetSource | null,
): Problem[] {
  const { name, paging, batchParam = '' } = operation;
  if (source === null) {
    if (paging !== 'batch') return [];
    if (Object.hasOwn(fields.params, batchParam)) return [];
    const elsewhere = idsAreMappings(operation) ? '{sql: …}' : `{${batchParam}: …}`;
    return [
      yaml.problem(
        ['for_each'],
        `missing, ${name} takes its ids from for_each: ${elsewhere} or params: {${batchParam}: [...]}`,
      ),
    ];
  }
  const [param] = source.params;
  if (param === undefined) {
    // Ids that are mappings come from the columns of one SELECT; plain ids have a parameter to name.
    if (paging !== 'batch' || idsAreMappings(operation)) return [];
    return [
      yaml.problem(
        ['for_each', 'sql'],
        `${name} takes one list of ids, write for_each: {${batchParam}: {sql: …}}`,
      ),
    ];
  }
  const names = forEachNames(operation);
  if (!names.includes(param)) {
    const expected = names.length === 0 ? `for_each: {sql: "select …"}` : oneOf(names);
    return [
      yaml.problem(['for_each', param], `no parameter of ${name} a job can fill, expected ${expected}`),
    ];
  }
  return source.kind === 'file' ? checkFile(yaml, param, source.path) : [];
}

function checkFile(yaml: YamlFile, param: string, path: string): Problem[] {
  try {
    accessSync(path, constants.R_OK);
    if (!statSync(path).isDirectory()) return [];
    return [yaml.problem(['for_each', param, 'file'], `expected a file, ${path} is a folder`)];
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    return [
      yaml.problem(
        ['for_each', param, 'file'],
        `cannot read ${path} (${code}); paths are relative to the job file`,
      ),
    ];
  }
}

function checkModes({ yaml, fields }: JobDraft, operation: Operation): Problem[] {
  const problems: Problem[] = [];
  const refuse = (field: string[], message: string) => problems.push(yaml.problem(field, message));
  const incremental = fields.mode === 'incremental';
  if (incremental && !canSort(operation)) {
    refuse(['mode'], `${operation.name} has no sort, so incremental cannot tell what is new; expected full`);
  } else if (incremental && !sortsByChange(sortedParams(fields, operation).sortBy)) {
    refuse(
      ['params', 'sortBy'],
      'incremental needs {sortBy: updated, sortDirection: desc} or recent_action, which it takes when sortBy is left out',
    );
  }
  if (fields.full_every !== undefined && !incremental) {
    refuse(['full_every'], 'only for mode: incremental; a full job is a full crawl every time');
  }
  if (fields.since !== undefined && operation.feed === undefined) {
    refuse(['since'], `only for feeds; ${operation.name} is crawled whole`);
  } else if (operation.feed?.by === 'time' && isSlot(fields.since)) {
    refuse(['since'], `${operation.name} goes by time, not by slots; expected an age, {pages: n} or all`);
  }
  if (fields.overlap !== undefined && operation.feed === undefined) {
    refuse(['overlap'], `only for feeds; ${operation.name} is crawled whole`);
  } else if (operation.feed?.by === 'time' && fields.overlap === '0s') {
    // Without any, one time that is too low would end a crawl above what is not covered.
    refuse(['overlap'], `${operation.name} goes by time, which is not exact; expected 1s or more`);
  }
  return problems;
}

function checkPaging({ yaml, fields }: JobDraft, operation: Operation): Problem[] {
  const problems: Problem[] = [];
  const { name, limit } = operation;
  if (fields.page_size !== undefined && limit === null) {
    problems.push(yaml.problem(['page_size'], `${name} gives one answer and takes no page size`));
  } else if (fields.page_size !== undefined && fields.page_size > limit!) {
    problems.push(yaml.problem(['page_size'], `expected at most ${limit}, the limit of ${name}`));
  }
  if (fields.partitions === 1) return problems;
  if (operation.paging !== 'keyset' || !canSort(operation)) {
    problems.push(yaml.problem(['partitions'], `${name} cannot be split into ranges of ids; expected 1`));
  } else if (fields.mode === 'incremental') {
    problems.push(yaml.problem(['partitions'], 'an incremental crawl walks one list; expected 1'));
  } else if (!sortsById(sortedParams(fields, operation).sortBy)) {
    const wanted = '{sortBy: id, sortDirection: asc}';
    problems.push(
      yaml.problem(
        ['params', 'sortBy'],
        `partitions need ${wanted}, which they take when sortBy is left out`,
      ),
    );
  }
  return problems;
}

/** Ids of a batch operation are no parameters of its task: they are asked for in slices. */
function withoutIds(
  params: Record<string, unknown>,
  { batchParam = '' }: Operation,
): Record<string, unknown> {
  const { [batchParam]: _, ...others } = params;
  return others;
}

function readIds(params: Record<string, unknown>, { batchParam = '' }: Operation): string[] | null {
  const ids = params[batchParam] as unknown[] | undefined;
  return ids?.map((id) => (typeof id === 'string' ? id : canonicalJson(id))) ?? null;
}

/** The file's params, with the order that an incremental or partitioned crawl depends on. */
function sortedParams(fields: JobFile, operation: Operation): Record<string, unknown> {
  const { params, mode, partitions } = fields;
  if (params.sortBy !== undefined || !canSort(operation)) return params;
  if (mode === 'incremental') return { ...params, sortBy: { sortBy: 'updated', sortDirection: 'desc' } };
  if (partitions > 1) return { ...params, sortBy: { sortBy: 'id', sortDirection: 'asc' } };
  return params;
}

function canSort(operation: Operation): boolean {
  return 'sortBy' in operation.params.shape;
}

function sortsByChange(sort: unknown): boolean {
  const { sortBy, sortDirection } = (sort ?? {}) as Record<string, unknown>;
  return (sortBy === 'updated' || sortBy === 'recent_action') && sortDirection === 'desc';
}

function sortsById(sort: unknown): boolean {
  const { sortBy, sortDirection } = (sort ?? {}) as Record<string, unknown>;
  return sortBy === 'id' && sortDirection === 'asc';
}

function isSlot(since: JobFile['since']): boolean {
  return typeof since === 'object' && 'slot' in since;
}

function readSince(since: NonNullable<JobFile['since']>): Since {
  if (since === 'all') return { kind: 'all' };
  if (typeof since === 'string') return { kind: 'age', ms: durationMs(since) };
  return 'slot' in since ? { kind: 'slot', slot: since.slot } : { kind: 'pages', pages: since.pages };
}

function readOverlap(text: string): number {
  return text === '0s' ? 0 : durationMs(text);
}

/** Of text that the schema let pass. */
function durationMs(text: string): number {
  return parseDuration(text) as number;
}

function oneOf(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `one of ${names.join(', ')}`;
}
