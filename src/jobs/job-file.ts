import { readdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Checked,
  type Problem,
  problemsError,
  readYamlFile,
  validateYaml,
  type YamlFile,
} from '../config/yaml-file.ts';
import { parseDuration } from '../duration.ts';
import { UsageError } from '../errors.ts';
import { findOperation } from '../operations/catalogue.ts';
import type { Operation } from '../operations/operation.ts';
import { packageRoot } from '../package-root.ts';
import { quoteForShell } from '../shell-words.ts';
import { checkJob, type JobDraft } from './check-job.ts';
import { canonicalJson, type Job, type ReadJob, type Since, type TargetSource } from './job.ts';
import { canSort, type JobFile, jobSchema } from './job-schema.ts';
import { checkDisplayOptions, checkOrder, nameTagged, orderJobs, requireJob, tagPrefix } from './job-set.ts';

const jobName = /^[a-z0-9][a-z0-9_-]*$/;

/**
 * Reads the job files of a folder, in the order of `orderJobs`. All files are validated, because jobs are checked against each
 * other.
 * @param names jobs, or `tag:<tag>`, that are returned; all if empty
 * @throws UsageError with all problems, each with file, line, field and what was expected; or for an unknown name
 */
export async function readJobs(dir: string, names: readonly string[] = []): Promise<Job[]> {
  const files = await listJobFiles(dir);
  const problems: Problem[] = [];
  const jobsRead: ReadJob[] = [];
  for (const file of files) {
    const checked = await readJob(dir, file);
    if (checked.problems) problems.push(...checked.problems);
    else jobsRead.push(checked.value);
  }
  const allNames = files.map(nameOf);
  problems.push(...checkOrder(jobsRead, allNames), ...checkDisplayOptions(jobsRead));
  if (problems.length > 0) {
    throw problemsError(problems, 'Correct the job files, then run `ledgerlake jobs check`.');
  }
  const jobs = orderJobs(jobsRead.map(({ job }) => job));
  const chosen = new Set(names.length > 0 ? nameTagged(names, jobs) : allNames);
  for (const name of chosen) requireJob(name, allNames);
  return jobs.filter(({ name }) => chosen.has(name));
}

/** Names of the jobs that have a file, valid or not. @throws UsageError when there are none */
export async function listJobNames(dir: string): Promise<string[]> {
  return (await listJobFiles(dir)).map(nameOf);
}

/** The command that copies the bundled jobs, with their target files and their schema. */
function copyExamples(dir: string): string {
  const bundled = `${fileURLToPath(new URL('jobs', packageRoot))}/.`;
  return `mkdir -p ${quoteForShell(dir)} && cp -r ${quoteForShell(bundled)} ${quoteForShell(dir)}`;
}

async function listJobFiles(dir: string): Promise<string[]> {
  let entries: string[];
  try {
    entries = await readdir(dir);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new UsageError(
      `cannot read the jobs folder ${dir} (${code})`,
      `Name another with --jobs-dir, or begin with the bundled jobs: ${copyExamples(dir)}`,
    );
  }
  const files = entries.filter((file) => /\.ya?ml$/i.test(file) && !file.startsWith('.')).sort();
  if (files.length > 0) return files;
  throw new UsageError(
    `the jobs folder ${dir} has no job files`,
    `Write a <name>.yaml there, name another folder with --jobs-dir, or begin with the bundled jobs: ${copyExamples(dir)}`,
  );
}

function nameOf(file: string): string {
  return file.replace(/\.ya?ml$/i, '');
}

async function readJob(dir: string, fileName: string): Promise<Checked<ReadJob>> {
  const file = join(dir, fileName);
  const nameProblem = checkName(file, fileName);
  const yaml = await readYamlFile(file);
  if (yaml.problems) return { problems: [...nameProblem, ...yaml.problems] };
  const fields = validateYaml<JobFile>(yaml.value, jobSchema);
  if (fields.problems) return { problems: [...nameProblem, ...fields.problems] };
  const draft = draftJob(dir, nameOf(fileName), yaml.value, fields.value);
  const problems = [...nameProblem, ...checkJob(draft)];
  return problems.length > 0 ? { problems } : { value: { job: makeJob(draft), yaml: yaml.value } };
}

function checkName(file: string, fileName: string): Problem[] {
  const refuse = (message: string): Problem[] => [{ file, line: 0, field: '', message }];
  if (!fileName.endsWith('.yaml')) return refuse('expected a name that ends in .yaml');
  if (fileName.startsWith('_'))
    return refuse('names that begin with _ belong to built-in jobs; rename the file');
  if (jobName.test(nameOf(fileName))) return [];
  return refuse('expected a name of a-z, 0-9, - and _ that begins with a letter or digit');
}

function draftJob(dir: string, name: string, yaml: YamlFile, fields: JobFile): JobDraft {
  const operation = findOperation(fields.method)!;
  const [params, forEach] = [sortedParams(fields, operation), readSource(dir, yaml, fields)];
  return { name, yaml, fields, operation, params, forEach };
}

/** The file's params, with the order that an incremental or partitioned crawl needs. */
function sortedParams(fields: JobFile, operation: Operation): Record<string, unknown> {
  const { params, mode, partitions } = fields;
  if (params.sortBy !== undefined || !canSort(operation)) return params;
  if (mode === 'incremental') return { ...params, sortBy: { sortBy: 'updated', sortDirection: 'desc' } };
  if (partitions > 1) return { ...params, sortBy: { sortBy: 'id', sortDirection: 'asc' } };
  return params;
}

interface SourceFields {
  values?: string[];
  file?: string;
  sql?: string;
}

/** @param dir the jobs folder; the paths of target files are relative to it */
function readSource(dir: string, yaml: YamlFile, fields: JobFile): TargetSource | null {
  if (fields.for_each === undefined) return null;
  const lineOf = (...field: string[]) => yaml.problem(['for_each', ...field], '').line;
  if (fields.for_each.sql !== undefined)
    return { params: [], line: lineOf('sql'), kind: 'sql', sql: fields.for_each.sql };
  const [[param, source] = []] = Object.entries(fields.for_each as Record<string, SourceFields>);
  if (param === undefined || source === undefined) return null;
  const common = { params: [param], line: lineOf(param, Object.keys(source)[0]!) };
  if (source.values !== undefined) return { ...common, kind: 'values', values: source.values };
  if (source.sql !== undefined) return { ...common, kind: 'sql', sql: source.sql };
  const path = source.file ?? '';
  return { ...common, kind: 'file', path: isAbsolute(path) ? path : join(dir, path) };
}

/** @param draft without problems (`checkJob`) */
function makeJob({ name, yaml, fields, operation, params, forEach }: JobDraft): Job {
  const { batchParam = '', feed, limit } = operation;
  // The ids of a batch operation are no parameters of its task, because they are sent in slices.
  const { [batchParam]: ids, ...others } = params;
  const isIncremental = fields.mode === 'incremental';
  return {
    name,
    file: yaml.file,
    describe: fields.describe,
    operation,
    params: others,
    forEach,
    ids:
      (ids as unknown[] | undefined)?.map((id) => (typeof id === 'string' ? id : canonicalJson(id))) ?? null,
    mode: fields.mode,
    fullEveryMs: isIncremental ? durationMs(fields.full_every ?? '7d') : null,
    after: [...new Set(fields.after)],
    tags: [...new Set(fields.tags)],
    since: feed === undefined ? null : readSince(fields.since ?? feed.since),
    overlapMs: feed === undefined ? null : durationMs(fields.overlap ?? '1h'),
    pageSize: fields.page_size ?? limit ?? 1,
    partitions: fields.partitions,
  };
}

function readSince(since: NonNullable<JobFile['since']>): Since {
  if (since === 'all') return { kind: 'all' };
  if (typeof since === 'string') return { kind: 'age', ms: durationMs(since) };
  return 'slot' in since ? { kind: 'slot', slot: since.slot } : { kind: 'pages', pages: since.pages };
}

/** @param text valid by the schema */
function durationMs(text: string): number {
  return text === '0s' ? 0 : (parseDuration(text) as number);
}

const refreshName = '_refresh';

/**
 * The jobs that a command names (`job`, `job/target` or `tag:<tag>`), or all that have a file. The built-in job `_refresh`, which
 * looks up assets that no job follows any more, comes last and only by name.
 * @throws UsageError as readJobs
 */
export async function readNamedJobs(dir: string, names: readonly string[]): Promise<Job[]> {
  const others = names.filter((name) => name !== refreshName);
  const jobNames = others.map((name) => (isTargetName(name) ? name.slice(0, name.indexOf('/')) : name));
  const jobs = names.length > 0 && others.length === 0 ? [] : await readJobs(dir, jobNames);
  const chosen = jobs.map((job) => chooseTargets(job, others));
  return others.length === names.length ? chosen : [...chosen, refreshJob(jobs.map(({ name }) => name))];
}

function isTargetName(name: string): boolean {
  return name.includes('/') && !name.startsWith(tagPrefix);
}

/** The job with the targets that are named as `job/target`; with all of them where it is named by itself or by a tag, too. */
function chooseTargets(job: Job, names: readonly string[]): Job {
  const isWhole = names.includes(job.name) || job.tags.some((tag) => names.includes(`${tagPrefix}${tag}`));
  const targets = names.flatMap((name) =>
    name.startsWith(`${job.name}/`) ? name.slice(job.name.length + 1) : [],
  );
  return isWhole || targets.length === 0 ? job : { ...job, onlyTargets: targets };
}

/** @param after names of the jobs that it comes after */
function refreshJob(after: string[]): Job {
  const operation = findOperation('getAssetBatch') as Operation;
  return {
    name: refreshName,
    file: '',
    tags: [],
    describe: 'Looks up assets that no job follows any more',
    operation,
    params: {},
    forEach: {
      ...{ kind: 'sql', params: ['ids'], line: 0 },
      sql: 'select id from assets where followed = false and burnt is not true order by id',
    },
    ids: null,
    mode: 'full',
    fullEveryMs: null,
    after,
    since: null,
    overlapMs: null,
    pageSize: operation.limit ?? 1,
    partitions: 1,
  };
}
