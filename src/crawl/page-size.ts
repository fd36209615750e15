import { ApiError } from '../api/api-errors.ts';
import type { Task } from '../jobs/task.ts';
import type { Position } from '../landing/page-line.ts';
import { resizePosition } from './position.ts';

/** How a crawl gets along with the number of records it asks for at once. */
export interface LimitTrust {
  /** Pages that came since the limit last changed. */
  good: number;
  /** So many must come before more is asked for again. */
  patience: number;
}

export const freshTrust: LimitTrust = { good: 0, patience: 4 };
const mostPatience = 256;

/** Whether less may be answered where so much was not: the answer was too big, or did not come in time. */
export function asksTooMuch(error: unknown): boolean {
  return error instanceof ApiError && (error.kind === 'too_big' || error.kind === 'slow');
}

/** After an answer to too much: half of it, and more patience where the last change was for the worse. Null below 1. */
export function shrink(limit: number, trust: LimitTrust): { limit: number; trust: LimitTrust } | null {
  if (limit <= 1) return null;
  const patience = trust.good === 0 ? Math.min(mostPatience, trust.patience * 2) : trust.patience;
  return { limit: Math.floor(limit / 2), trust: { good: 0, patience } };
}

/** After a page that came: twice as much, up to `most`, once enough came. */
export function restore(
  limit: number,
  { good, patience }: LimitTrust,
  most: number,
): { limit: number; trust: LimitTrust } {
  if (limit >= most || good + 1 < patience) return { limit, trust: { good: good + 1, patience } };
  return { limit: Math.min(most, limit * 2), trust: { good: 0, patience } };
}

/**
 * What a run learns of how many records of a job's operation come in time. Its targets have one source, so where one
 * crawl was answered too slowly the others need not find that out again. What is too big is a matter of single lists,
 * and is not told here.
 */
export interface LearntSize {
  /** Where to ask for a page: with less where the crawl has no page of that size yet and the job has learnt better. */
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
