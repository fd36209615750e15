import type { Task } from '../jobs/task.ts';
import type { Position } from '../landing/page-line.ts';
import { freshTrust, type LimitTrust, resizePosition, restore, shrink } from './page-limit.ts';

/**
 * What a run learns of how many records of a job's operation come in time. Its targets have one source, so where one
 * walk was answered too slowly the others need not find that out again. What is too big is a matter of single lists,
 * and is not told here.
 */
export interface LearntSize {
  /** Where to ask for a page: with less where the walk has no page of that size yet and the job has learnt better. */
  fit(position: Position, trust: LimitTrust): Position;
  /** A page of so many came. */
  came(limit: number): void;
  /** A page of so many did not come in time. */
  failed(limit: number): void;
}

/** The sizes of a run, by job and operation. */
export type LearntSizes = (task: Task) => LearntSize;

export function createLearntSizes(): LearntSizes {
  const sizes = new Map<string, LearntSize>();
  return (task) => {
    const key = `${task.operation.name} ${task.job}`;
    const known = sizes.get(key) ?? createLearntSize(task.pageSize);
    sizes.set(key, known);
    return known;
  };
}

function createLearntSize(pageSize: number): LearntSize {
  let size = { limit: pageSize, trust: freshTrust };
  return {
    fit: (position, { good }) =>
      good > 0 || position.limit <= size.limit ? position : resizePosition(position, size.limit),
    came(limit) {
      // A whole page that came shows that the slow one was its list's matter.
      if (limit > size.limit) size = { limit, trust: freshTrust };
      else if (limit === size.limit) size = restore(limit, size.trust, pageSize);
    },
    failed(limit) {
      if (limit === size.limit) size = shrink(limit, size.trust) ?? size;
    },
  };
}
