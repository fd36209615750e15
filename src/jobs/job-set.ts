import type { Problem } from '../config/yaml-file.ts';
import { UsageError } from '../errors.ts';
import { suggestion } from '../suggestion.ts';
import { canonicalJson, type Job, type ReadJob, type SqlSource } from './job.ts';
import type { Target } from './targets.ts';
import { makeTask } from './task.ts';

export const tagPrefix = 'tag:';

/**
 * The names, with each `tag:<tag>` replaced by the jobs that have the tag. Pure.
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

/** @throws UsageError with all names, when the job is not among them */
export function requireJob(name: string, allNames: readonly string[]): void {
  if (allNames.includes(name)) return;
  throw new UsageError(
    `no job is called "${name}"${suggestion(name, allNames)}`,
    `The jobs here are ${[...allNames].sort().join(', ')}.`,
  );
}

/** The jobs whose targets come from SQL, with their queries. */
export function listQueries(jobs: readonly Job[]): { job: Job; source: SqlSource }[] {
  return jobs.flatMap((job) => (job.forEach?.kind === 'sql' ? [{ job, source: job.forEach }] : []));
}

/** Problems of `after`: unknown jobs, and cycles, each reported once, in the file of its first job. */
export function checkOrder(jobs: readonly ReadJob[], allNames: readonly string[]): Problem[] {
  const problems: Problem[] = [];
  for (const { job, yaml } of jobs) {
    for (const [index, name] of job.after.entries()) {
      if (allNames.includes(name)) continue;
      const remedy = suggestion(name, allNames) || `, expected one of ${allNames.join(', ')}`;
      problems.push(yaml.problem(['after', index], `no job is called "${name}"${remedy}`));
    }
  }
  const afterOf = new Map(jobs.map(({ job }) => [job.name, job.after]));
  const reported = new Set<string>();
  for (const { job, yaml } of jobs) {
    const cycle = reported.has(job.name) ? null : findCycle(job.name, afterOf);
    if (cycle === null) continue;
    for (const name of cycle) reported.add(name);
    problems.push(yaml.problem(['after'], `a cycle: ${[...cycle, job.name].join(' waits for ')}`));
  }
  return problems;
}

/** The path from a job back to itself; null without one. */
function findCycle(start: string, afterOf: ReadonlyMap<string, readonly string[]>): string[] | null {
  const visited = new Set<string>();
  const search = (name: string, path: string[]): string[] | null => {
    for (const next of afterOf.get(name) ?? []) {
      if (next === start) return path;
      if (visited.has(next)) continue;
      visited.add(next);
      const cycle = search(next, [...path, next]);
      if (cycle !== null) return cycle;
    }
    return null;
  };
  return search(start, [start]);
}

/**
 * Jobs in the order of a run: by wave, then by name.
 * @param jobs without cycles (`checkOrder`)
 */
export function orderJobs(jobs: readonly Job[]): Job[] {
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const waveOf = new Map<string, number>();
  const findWave = (job: Job): number => {
    const wave =
      waveOf.get(job.name) ?? Math.max(0, ...job.after.map((name) => findWave(byName.get(name)!) + 1));
    waveOf.set(job.name, wave);
    return wave;
  };
  return [...jobs].sort((a, b) => findWave(a) - findWave(b) || (a.name < b.name ? -1 : 1));
}

/**
 * The waves of a run: jobs that can be crawled together. A job is in a later wave than those of `jobs` that it runs after.
 * @param jobs in the order of `orderJobs`; jobs that they run after may be missing
 */
export function listWaves(jobs: readonly Job[]): Job[][] {
  const waveOf = new Map<string, number>();
  const waves: Job[][] = [];
  for (const job of jobs) {
    const wave = Math.max(0, ...job.after.map((name) => (waveOf.get(name) ?? -1) + 1));
    waveOf.set(job.name, wave);
    waves[wave] = [...(waves[wave] ?? []), job];
  }
  return waves;
}

/** Two jobs that send the same requests for some targets. */
export interface SameRequests {
  jobs: [string, string];
  targets: number;
  /** Whether one crawl of a run serves both. If one job runs after the other, both crawl. */
  once: boolean;
}

/**
 * Pairs of jobs whose crawls have the same operation, parameters and pages. Batches and ranges of ids are never shared. Pure.
 * @param targetsOf the targets of each job that are known without a query
 */
export function findSameRequests(
  jobs: readonly Job[],
  targetsOf: ReadonlyMap<Job, readonly Target[]>,
): SameRequests[] {
  const waveOf = new Map(listWaves(jobs).flatMap((wave, n) => wave.map((job) => [job, n] as const)));
  const crawls = jobs.map((job) => ({
    job,
    requests: new Set((targetsOf.get(job) ?? []).flatMap((target) => describeRequests(job, target))),
  }));
  return crawls.flatMap(({ job, requests }, n) =>
    crawls.slice(n + 1).flatMap((other) => {
      const targets = [...requests].filter((request) => other.requests.has(request)).length;
      const once = waveOf.get(job) === waveOf.get(other.job);
      return targets === 0 ? [] : [{ jobs: [job.name, other.job.name], targets, once }];
    }),
  );
}

/** Equal texts for targets whose crawls send the same requests. */
function describeRequests(job: Job, target: Target): string[] {
  if (job.operation.paging === 'batch' || job.partitions > 1) return [];
  const { operation, params, pageSize, since, overlapMs } = makeTask(job, target);
  const { mode, fullEveryMs } = job;
  return [
    canonicalJson({ operation: operation.name, params, pageSize, since, overlapMs, mode, fullEveryMs }),
  ];
}

/**
 * Refuses jobs of one table with different display options. Each would overwrite, or take for gone, what the other shows, and
 * every run would look like a change. An option that is left out differs from `true` and from `false`, because its
 * default is the provider's. Display options are the `show…` parameters and members of `options`, except `showNfts`,
 * whose records are in no table.
 */
export function checkDisplayOptions(jobs: readonly ReadJob[]): Problem[] {
  const firstOf = new Map<string, Job>();
  return jobs.flatMap(({ job, yaml }) => {
    const { table } = job.operation;
    const first = firstOf.get(table) ?? job;
    firstOf.set(table, first);
    const [options, firstOptions] = [displayOptions(job), displayOptions(first)];
    return [...new Set([...options.keys(), ...firstOptions.keys()])]
      .sort()
      .filter((path) => options.get(path) !== firstOptions.get(path))
      .map((path) =>
        yaml.problem(
          ['params', ...path.split('.')],
          `${valueText(options.get(path))}, but ${valueText(firstOptions.get(path))} in job ${first.name}, ` +
            `which brings the table ${table} too; give both the same`,
        ),
      );
  });
}

/** Display options by their path below `params`. */
function displayOptions({ params }: Job): Map<string, unknown> {
  const { options } = params;
  const members = typeof options === 'object' && options !== null ? Object.entries(options) : [];
  return new Map(
    [
      ...Object.entries(params),
      ...members.map(([name, value]) => [`options.${name}`, value] as const),
    ].filter(([path]) => /(^|\.)show/.test(path) && path !== 'showNfts'),
  );
}

function valueText(value: unknown): string {
  return value === undefined ? 'left out' : JSON.stringify(value);
}
