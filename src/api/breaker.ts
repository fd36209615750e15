import type { Pool } from './operation.ts';

/** Tells one bad page from an API that is down: requests of a pool that failed in every attempt, in a row. */
export interface Breaker {
  /** An attempt was answered: the API is up. */
  answered(pool: Pool): void;
  /** A request failed in every attempt. True when that makes the API down. */
  exhausted(pool: Pool): boolean;
  /** There is no connection at all: nothing more needs to be tried. */
  open(pool: Pool): void;
  isOpen(pool: Pool): boolean;
}

/** @param threshold exhausted requests in a row, without any answer between them, that make the API down */
export function createBreaker(threshold = 5): Breaker {
  const inARow = new Map<Pool, number>();
  const isOpen = (pool: Pool): boolean => (inARow.get(pool) ?? 0) >= threshold;
  return {
    isOpen,
    open: (pool) => {
      inARow.set(pool, threshold);
    },
    answered: (pool) => {
      inARow.set(pool, 0);
    },
    exhausted: (pool) => {
      inARow.set(pool, (inARow.get(pool) ?? 0) + 1);
      return isOpen(pool);
    },
  };
}
