import type { OutcomeKind } from './classify.ts';

/** At most this many attempts for one request, the first included. */
export const maxAttempts = 4;
/** A longer Retry-After is not waited for: the run stops and can be resumed. */
export const maxRetryAfterMs = 15 * 60_000;
const baseMs = 250;
const capMs = 20_000;

/** What went wrong, as far as the retry decision cares. */
export interface Failure {
  kind: OutcomeKind | 'unreachable' | 'timeout';
  retryAfterMs: number | null;
  /** Whether the caller asks for less instead. */
  less?: boolean;
}

export type RetryDecision =
  /** Try again after delayMs; nothing else of the pool may go before holdMs have passed. */
  | { retry: true; delayMs: number; holdMs: number }
  | { retry: false; because: 'final' | 'attempts' | 'budget' | 'wait_too_long' };

/**
 * Decides whether a failed attempt is tried again, and when. Pure.
 * Full jitter below min(20 s, 250 ms · 2^(attempt-1)); with Retry-After the wait is a floor and jitter goes upward only,
 * over a window as long as the floor, so that workers held together do not return together.
 *
 * @param attempt how many attempts were made, from 1
 * @param random in [0, 1)
 * @param mayRetry what the retry budget says
 */
export function decideRetry(
  failure: Failure,
  attempt: number,
  random: number,
  mayRetry: boolean,
): RetryDecision {
  if (attempt >= attemptsFor(failure)) return { retry: false, because: attempt === 1 ? 'final' : 'attempts' };
  const floorMs = failure.retryAfterMs;
  if (floorMs !== null && floorMs > maxRetryAfterMs) return { retry: false, because: 'wait_too_long' };
  if (!mayRetry) return { retry: false, because: 'budget' };
  const backoffMs = Math.min(capMs, baseMs * 2 ** (attempt - 1));
  if (floorMs === null) return { retry: true, delayMs: random * backoffMs, holdMs: 0 };
  const spreadMs = Math.min(capMs, Math.max(backoffMs, floorMs));
  return { retry: true, delayMs: floorMs + random * spreadMs, holdMs: floorMs };
}

function attemptsFor({ kind, less }: Failure): number {
  if (less) return 1;
  switch (kind) {
    case 'throttled':
    case 'try_again':
    case 'server':
    case 'node_behind':
    case 'unreachable':
    case 'timeout':
      return maxAttempts;
    case 'slow':
      // A gateway's 504 may pass once; what is always too slow (or too big) only the crawl can help, by asking for less.
      return 2;
    default:
      return 1;
  }
}

/**
 * Bounds retries over a whole process, so that an outage costs at most a tenth more than no outage. Those after no
 * connection do not count: nothing was asked.
 */
export interface RetryBudget {
  countFirstAttempt(): void;
  /** True while retries made are below 10 % of first attempts + 20. */
  mayRetry(): boolean;
  countRetry(): void;
}

/** One budget for a process: make it once and share it between clients. */
export function createRetryBudget(): RetryBudget {
  let firsts = 0;
  let retries = 0;
  return {
    countFirstAttempt: () => {
      firsts += 1;
    },
    mayRetry: () => retries + 1 <= firsts / 10 + 20,
    countRetry: () => {
      retries += 1;
    },
  };
}
