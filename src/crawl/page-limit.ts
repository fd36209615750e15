import { ApiError } from '../api/api-errors.ts';
import type { Position } from '../landing/page-line.ts';

/** How a walk gets along with the number of records it asks for at once. */
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
 * The same place in the list with another limit, at most `most`. A page's number says how many records stand before it
 * only together with the limit, so there it becomes the largest one that brings a page to begin at the same record.
 */
export function resizePosition(position: Position, most: number): Position {
  if (position.page === undefined) return { ...position, limit: most };
  const passed = (position.page - 1) * position.limit;
  let limit = most;
  while (passed % limit !== 0) limit -= 1;
  return { limit, page: passed / limit + 1 };
}
