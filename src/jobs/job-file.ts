import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Problem, problemsError, readYamlFile, validateYaml } from '../config/yaml-file.ts';
import { UsageError } from '../errors.ts';
import { findOperation } from '../operations/catalogue.ts';
import type { Operation } from '../operations/operation.ts';
import { packageRoot } from '../package-root.ts';
import { quoteForShell } from '../shell-words.ts';
import { suggestion } from '../suggestion.ts';
import { checkJob } from './check-job.ts';
import { checkDisplayOptions } from './check-params.ts';
import type { Job, ReadJob, SqlSource } from './job.ts';
import { checkOrder, orderJobs } from './job-order.ts';
import { type JobFile, jobSchema } from './job-schema.ts';

const jobName = /^[a-z0-9][a-z0-9_-]*$/;

/**
 * Reads the job files of a folder in `after` order. All files are validated whatever `names` says, because jobs
 * are checked against each other; `names` (of jobs, or `tag:<tag>`) chooses which are returned (none or empty: all).
 * @throws UsageError naming file, line, field and what was expected, for all problems at once; or listing the
 *   known jobs when an unknown one is asked for
 */
export async function readJobs(dir: string, names: readonly string[] = []): Promise<Job[]> {
  const files = await listJobFiles(dir);
  const problems: Problem[] = [];
  const read: ReadJob[] = [];
  for (const file of files) {
    const one = await readJob(dir, file);
    if (one.problems) problems.push(...one.problems);
    else read.push(one.value);
  }
  const known = files.map(nameOf);
  problems.push(...checkOrder(read, known), ...checkDisplayOptions(read));
  if (problems.length > 0) {
    throw problemsError(problems, 'Correct the job files, then run `ledgerlake jobs check`.');
  }
  const jobs = orderJobs(read.map(({ job }) => job));
  const asked = new Set(names.length > 0 ? nameTagged(names, jobs) : known);
  for (const name of asked) requireJob(name, known);
  return jobs.filter(({ name }) => asked.has(name));
}

/** What `run tag:<tag>` begins with. */
const tagPrefix = 'tag:';

/**
 * Names of jobs, with those that have a tag in the place of `tag:<tag>`. Pure.
 * @throws UsageError for a tag that no job has
 */
export function nameTagged(names: readonly string[], jobs: readonly Pick<Job, 'name' | 'tags'>[]): string[] {
  return names.flatMap((name) => {
    if (!name.startsWith(tagPrefix)) return name;
    const tag = name.slice(tagPrefix.length);
    const tagged = jobs.filter(({ tags }) => tags.includes(tag));
    if (tagged.length > 0) return tagged.map((job) => job.name);
    const tags = [...new Set(jobs.flatMap((job) => job.tags))].sort();
    throw new UsageError(
      `no job has the tag "${tag}"${suggestion(tag, tags)}`,
      tags.length === 0
        ? 'Give jobs one in their files: `tags: [daily]`.'
        : `The tags here are ${tags.join(', ')}.`,
    );
  });
}

/** Names of the jobs that there are files of, also where these have mistakes. @throws UsageError when there are none */
export async function listJobNames(dir: string): Promise<string[]> {
  return (await listJobFiles(dir)).map(nameOf);
}

/** The jobs that ask the tables for their targets, with their queries. */
export function listQueries(jobs: readonly Job[]): { job: Job; source: SqlSource }[] {
  return jobs.flatMap((job) => (job.forEach?.kind === 'sql' ? [{ job, source: job.forEach }] : []));
}

/** The command that copies the bundled jobs, their targets and the schema that their first line names. */
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

async function readJob(dir: string, fileName: string) {
  const file = join(dir, fileName);
  const nameProblem = checkName(file, fileName);
  const yaml = await readYamlFile(file);
  if (yaml.problems) return { problems: [...nameProblem, ...yaml.problems] };
  const fields = validateYaml<JobFile>(yaml.value, jobSchema);
  if (fields.problems) return { problems: [...nameProblem, ...fields.problems] };
  const checked = checkJob({ dir, name: nameOf(fileName), yaml: yaml.value, fields: fields.value });
  if (checked.problems) return { problems: [...nameProblem, ...checked.problems] };
  if (nameProblem.length > 0) return { problems: nameProblem };
  return { value: { job: checked.value, yaml: yaml.value } };
}

function checkName(file: string, fileName: string): Problem[] {
  const refuse = (message: string): Problem[] => [{ file, line: 0, field: '', message }];
  if (!fileName.endsWith('.yaml')) return refuse('expected a name that ends in .yaml');
  if (fileName.startsWith('_'))
    return refuse('names that begin with _ belong to built-in jobs; rename the file');
  if (jobName.test(nameOf(fileName))) return [];
  return refuse('expected a name of a-z, 0-9, - and _ that begins with a letter or digit');
}

/** @throws UsageError that lists the known jobs when this is none of them */
export function requireJob(name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  throw new UsageError(
    `no job is called "${name}"${suggestion(name, known)}`,
    `The jobs here are ${[...known].sort().join(', ')}.`,
  );
}

const refreshName = '_refresh';

/**
 * The jobs that a command names, or all that have a file. Nobody is asked about assets that no job follows any more unless
 * the built-in job `_refresh` is named, which looks them up after the others.
 * @throws UsageError as readJobs
 */
export async function readNamedJobs(dir: string, names: readonly string[]): Promise<Job[]> {
  const others = names.filter((name) => name !== refreshName);
  if (others.length === names.length) return readJobs(dir, names);
  const jobs = others.length === 0 ? [] : await readJobs(dir, others);
  return [...jobs, refreshJob(jobs.map(({ name }) => name))];
}

/** @param after names of the jobs it comes after */
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
