import { ApiError } from '../api/api-errors.ts';
import type { Task } from '../jobs/task.ts';
import type { Position } from '../landing/page-line.ts';
import { resizePosition } from './position.ts';

/** Decides when a limit that was halved is doubled again. */
export interface LimitBackoff {
  /** Pages received since the limit last changed. */
  successes: number;
  /** Pages that must be received before the limit is doubled. */
  needed: number;
}

export const initialBackoff: LimitBackoff = { successes: 0, needed: 4 };
const maxNeeded = 256;

/** Whether a smaller page may succeed: the answer was too big, or did not come in time. */
export function asksTooMuch(error: unknown): boolean {
  return error instanceof ApiError && (error.kind === 'too_big' || error.kind === 'slow');
}

/** Half the limit; needs twice the successes where the last change brought none. Null below 1. */
export function halveLimit(
  limit: number,
  { successes, needed }: LimitBackoff,
): { limit: number; backoff: LimitBackoff } | null {
  if (limit <= 1) return null;
  const backoff = { successes: 0, needed: successes === 0 ? Math.min(maxNeeded, needed * 2) : needed };
  return { limit: Math.floor(limit / 2), backoff };
}

/** Counts a success; doubles the limit, up to `maxLimit`, once there are enough. */
export function countSuccess(
  limit: number,
  { successes, needed }: LimitBackoff,
  maxLimit: number,
): { limit: number; backoff: LimitBackoff } {
  if (limit >= maxLimit || successes + 1 < needed)
    return { limit, backoff: { successes: successes + 1, needed } };
  return { limit: Math.min(maxLimit, limit * 2), backoff: { successes: 0, needed } };
}

/**
 * The page size that the targets of a job share, because they have one source: where one crawl timed out, the others
 * need not find that out again. A page that is too big concerns its own list only, and is not counted here.
 */
export interface PageSize {
  /** The position with a smaller limit where this crawl has no page of that size yet and the job learnt a smaller one. */
  limitTo(position: Position, backoff: LimitBackoff): Position;
  /** A page of this limit was received. */
  succeeded(limit: number): void;
  /** A page of this limit timed out. */
  timedOut(limit: number): void;
}

/** The page sizes of a run, by job and operation. */
export type PageSizes = (task: Task) => PageSize;

export function createPageSizes(): PageSizes {
  const sizes = new Map<string, PageSize>();
  return (task) => {
    const key = `${task.operation.name} ${task.job}`;
    const size = sizes.get(key) ?? createPageSize(task.pageSize);
    sizes.set(key, size);
    return size;
  };
}

function createPageSize(maxLimit: number): PageSize {
  let learnt = { limit: maxLimit, backoff: initialBackoff };
  return {
    limitTo: (position, { successes }) =>
      successes > 0 || position.limit <= learnt.limit ? position : resizePosition(position, learnt.limit),
    succeeded(limit) {
      // A larger page in time shows that only the other list was slow.
      if (limit > learnt.limit) learnt = { limit, backoff: initialBackoff };
      else if (limit === learnt.limit) learnt = countSuccess(limit, learnt.backoff, maxLimit);
    },
    timedOut(limit) {
      if (limit === learnt.limit) learnt = halveLimit(limit, learnt.backoff) ?? learnt;
    },
  };
}
