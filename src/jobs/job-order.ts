import type { Problem } from '../yaml-file.ts';
import { suggestion } from '../yaml-issues.ts';
import type { Job, ReadJob } from './job-file.ts';

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

/** Jobs so that each stands behind those it waits for; by name where nothing else decides. */
export function orderJobs(jobs: readonly Job[]): Job[] {
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const ordered = new Set<Job>();
  const place = (job: Job): void => {
    if (ordered.has(job)) return;
    for (const name of [...job.after].sort()) place(byName.get(name)!);
    ordered.add(job);
  };
  for (const name of [...byName.keys()].sort()) place(byName.get(name)!);
  return [...ordered];
}
