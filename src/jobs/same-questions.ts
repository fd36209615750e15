import { canonicalJson } from './canonical-json.ts';
import type { Job } from './job.ts';
import { listWaves } from './job-order.ts';
import type { Target } from './targets.ts';
import { makeTask } from './task.ts';

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
