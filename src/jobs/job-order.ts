import type { Problem } from '../config/yaml-file.ts';
import { suggestion } from '../suggestion.ts';
import { canonicalJson, type Job, type ReadJob } from './job.ts';
import type { Target } from './targets.ts';
import { makeTask } from './task.ts';

/** Problems of `after`: unknown jobs, a job after itself, cycles (each told once, in the file of its first job). */
export function checkOrder(read: readonly ReadJob[], known: readonly string[]): Problem[] {
  const problems: Problem[] = [];
  for (const { job, yaml } of read) {
    for (const [index, name] of job.after.entries()) {
      if (known.includes(name)) continue;
      const meant = suggestion(name, known) || `, expected one of ${known.join(', ')}`;
      problems.push(yaml.problem(['after', index], `no job is called "${name}"${meant}`));
    }
  }
  const afterOf = new Map(read.map(({ job }) => [job.name, job.after]));
  const told = new Set<string>();
  for (const { job, yaml } of read) {
    const cycle = told.has(job.name) ? null : findCycle(job.name, afterOf);
    if (cycle === null) continue;
    for (const name of cycle) told.add(name);
    problems.push(yaml.problem(['after'], `a cycle: ${[...cycle, job.name].join(' waits for ')}`));
  }
  return problems;
}

/** The way from a job back to itself, or null. */
function findCycle(start: string, afterOf: ReadonlyMap<string, readonly string[]>): string[] | null {
  const visited = new Set<string>();
  const search = (name: string, path: string[]): string[] | null => {
    for (const next of afterOf.get(name) ?? []) {
      if (next === start) return path;
      if (visited.has(next)) continue;
      visited.add(next);
      const found = search(next, [...path, next]);
      if (found !== null) return found;
    }
    return null;
  };
  return search(start, [start]);
}

/**
 * Jobs in the order of a run: wave by wave, by name within one.
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
 * Jobs that can be crawled together: a job comes in a later wave than those of `jobs` that it runs after.
 * @param jobs in the order of `orderJobs`; jobs that they wait for may be missing
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

/** Two jobs that ask the API the same of some targets. */
export interface SameQuestions {
  jobs: [string, string];
  targets: number;
  /** Whether one crawl of a run serves both; else one comes after the other, and both ask. */
  once: boolean;
}

/**
 * Jobs whose crawls have the same operation, parameters and pages. Batches and ranges of ids are never shared. Pure.
 * @param targetsOf those of each job that are known without a query
 */
export function findSameQuestions(
  jobs: readonly Job[],
  targetsOf: ReadonlyMap<Job, readonly Target[]>,
): SameQuestions[] {
  const wave = new Map(listWaves(jobs).flatMap((wave, n) => wave.map((job) => [job, n] as const)));
  const asked = jobs.map((job) => ({
    job,
    questions: new Set((targetsOf.get(job) ?? []).flatMap((target) => describeQuestion(job, target))),
  }));
  return asked.flatMap((one, n) =>
    asked.slice(n + 1).flatMap((other) => {
      const targets = [...one.questions].filter((question) => other.questions.has(question)).length;
      const once = wave.get(one.job) === wave.get(other.job);
      return targets === 0 ? [] : [{ jobs: [one.job.name, other.job.name], targets, once }];
    }),
  );
}

function describeQuestion(job: Job, target: Target): string[] {
  if (job.operation.paging === 'batch' || job.partitions > 1) return [];
  const { operation, params, pageSize, since, overlapMs } = makeTask(job, target);
  const { mode, fullEveryMs } = job;
  return [
    canonicalJson({ operation: operation.name, params, pageSize, since, overlapMs, mode, fullEveryMs }),
  ];
}
