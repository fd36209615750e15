import type { TaskStart } from '../crawl/crawl-task.ts';
import { canonicalJson } from '../jobs/job.ts';
import type { Task } from '../jobs/task.ts';

/**
 * Makes one crawl of those that would ask the same of the API, page by page: what the first receives lands for each of them,
 * under its own task. All else (rows, checkpoints, guards, absence) stays each job's own. Crawls that were stopped go on
 * together where the same answer was the last of each. Batches and ranges of ids are left alone. Pure.
 * @param acceptsAhead whether the slots of a task's answers are believed however far ahead they are: it decides what lands
 */
export function shareCrawls<T extends TaskStart>(
  starts: readonly T[],
  acceptsAhead: (task: Task) => boolean,
): (T | (T & { twins: T[] }))[] {
  const first = new Map<string, { start: T; twins: T[] }>();
  const alone: { start: T; twins: T[] }[] = [];
  for (const start of starts) {
    const question = describeQuestion(start, acceptsAhead);
    const same = question === null ? undefined : first.get(question);
    if (same !== undefined) {
      same.twins.push(start);
      continue;
    }
    const own = { start, twins: [] };
    alone.push(own);
    if (question !== null) first.set(question, own);
  }
  return alone.map(({ start, twins }) => (twins.length === 0 ? start : { ...start, twins }));
}

/** Everything that decides which pages a crawl asks for, and where it ends; null for one that cannot be shared. */
function describeQuestion(start: TaskStart, acceptsAhead: (task: Task) => boolean): string | null {
  const { task, crawl, resume, from, goal, ids, split } = start;
  if (ids !== undefined || split !== undefined || task.range !== null) return null;
  const last = resume?.last ?? null;
  if (resume !== null && last === null) return null;
  const { operation, params, pageSize, since, overlapMs, incremental } = task;
  return canonicalJson({
    ...{ operation: operation.name, params, pageSize, since, overlapMs, incremental },
    ...{ crawl, from: from ?? null, goal, ahead: acceptsAhead(task) },
    after: last === null ? null : { page: last.page, next: last.next, received_at: last.received_at },
  });
}
