import type { Pool } from '../operations/operation.ts';
import type { OutcomeKind } from './classify.ts';
import type { Timing } from './timing.ts';

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

/**
 * Tells one bad page from an API that is down, by pool. After five requests in a row that failed in every attempt, or
 * when a connection that was there is gone, nothing is sent for half a minute; then one attempt goes alone, as a
 * probe, and says whether the others may go on.
 */
export interface Breaker {
  /**
   * Null where an attempt may be sent, or told that it may not; else what ends before it is worth asking again. Rejects
   * with the signal's reason when it aborts.
   */
  rest(pool: Pool, signal?: AbortSignal): Promise<void> | null;
  /** Unix ms until which a pool rests; 0: it does not. */
  restsUntil(pool: Pool): number;
  /** Lets an attempt through that nothing keeps waiting; the first after a rest is the probe. Null when the API is down. */
  admit(pool: Pool): Admission | null;
  /** An attempt was answered: the API is up. */
  answered(pool: Pool): void;
  /** An attempt was not. Where it was the probe, the API is down. */
  failed(pool: Pool, admission: Admission): void;
  /**
   * An attempt that was let through was not made, was broken off by us, or asked for so much that its failure says
   * nothing: where it was the probe, another one is.
   */
  abandoned(pool: Pool, admission: Admission): void;
  /** A request failed in every attempt. */
  exhausted(pool: Pool): void;
  /**
   * An attempt found no connection, and one more may be made, or none. Where the pool was answered before, that one
   * waits: what restarts is back in half a minute, and four attempts may all be made in a tenth of a second.
   * @returns whether a probe will say if the API is down
   */
  disconnected(pool: Pool): boolean;
  /** There is no connection at all: nothing more needs to be tried. */
  open(pool: Pool): void;
}

/** As what an attempt was let through: one that was sent before the rest says nothing of the probe. */
export type Admission = 'probe' | 'one of many';

/** Exhausted requests in a row, without any answer between them, after which the pool rests. */
const threshold = 5;
const restMs = 30_000;

interface PoolState {
  wasAnswered: boolean;
  inARow: number;
  /** `resting` until a moment; `probing` while an attempt is under way alone; `down` to the end of the process. */
  state: 'closed' | 'resting' | 'probing' | 'down';
  restsUntil: number;
  /** Those who wait for the probe's end. */
  waiting: (() => void)[];
}

export function createBreaker(timing: Pick<Timing, 'now' | 'sleep'>): Breaker {
  const pools = new Map<Pool, PoolState>();
  const of = (pool: Pool): PoolState => {
    const own = pools.get(pool) ?? newState();
    pools.set(pool, own);
    return own;
  };
  const become = (own: PoolState, state: PoolState['state']): void => {
    own.state = state;
    if (state !== 'probing') for (const goOn of own.waiting.splice(0)) goOn();
  };
  const startRest = (own: PoolState): void => {
    if (own.state !== 'closed') return;
    own.restsUntil = timing.now() + restMs;
    become(own, 'resting');
  };
  return {
    rest(pool, signal) {
      const own = of(pool);
      if (own.state === 'probing') return waitForProbe(own, signal);
      const leftMs = own.restsUntil - timing.now();
      return own.state === 'resting' && leftMs > 0 ? timing.sleep(leftMs, signal) : null;
    },
    restsUntil(pool) {
      const { state, restsUntil } = of(pool);
      return state === 'resting' ? restsUntil : 0;
    },
    admit(pool) {
      const own = of(pool);
      if (own.state === 'down') return null;
      if (own.state === 'closed') return 'one of many';
      become(own, 'probing');
      return 'probe';
    },
    answered(pool) {
      const own = of(pool);
      own.wasAnswered = true;
      own.inARow = 0;
      become(own, 'closed');
    },
    failed(pool, admission) {
      const own = of(pool);
      if (admission === 'probe' && own.state === 'probing') become(own, 'down');
    },
    abandoned(pool, admission) {
      const own = of(pool);
      if (admission === 'probe' && own.state === 'probing') become(own, 'resting');
    },
    exhausted(pool) {
      const own = of(pool);
      own.inARow += 1;
      if (own.inARow >= threshold) startRest(own);
    },
    disconnected(pool) {
      const own = of(pool);
      if (own.wasAnswered) startRest(own);
      return own.state === 'resting' || own.state === 'probing';
    },
    open: (pool) => become(of(pool), 'down'),
  };
}

function newState(): PoolState {
  return { wasAnswered: false, inARow: 0, state: 'closed', restsUntil: 0, waiting: [] };
}

function waitForProbe({ waiting }: PoolState, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal?.reason);
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    waiting.push(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
  });
}
