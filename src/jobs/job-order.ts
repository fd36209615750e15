import type { Problem } from '../config/yaml-file.ts';
import { suggestion } from '../suggestion.ts';
import type { Job, ReadJob } from './job.ts';

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
