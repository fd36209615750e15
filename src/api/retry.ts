import type { Pool } from '../operations/operation.ts';
import type { OutcomeKind } from './classify.ts';
import type { Timing } from './timing.ts';

/** Attempts for one request at most, the first included. */
export const maxAttempts = 4;
/** A longer Retry-After ends the run, which can be continued. */
export const maxRetryAfterMs = 15 * 60_000;
const baseMs = 250;
const capMs = 20_000;

/** The parts of a failure on which the retry decision depends. */
export interface Failure {
  kind: OutcomeKind | 'unreachable' | 'timeout';
  retryAfterMs: number | null;
  /** Whether the caller gives this request up and sends a smaller one. */
  isGivenUp?: boolean;
}

export type RetryDecision =
  /** Send again after delayMs. No request of the pool is sent before holdMs have passed. */
  | { retry: true; delayMs: number; holdMs: number }
  | { retry: false; because: 'final' | 'attempts' | 'budget' | 'wait_too_long' };

/** A failed attempt, with what its error will report. */
export interface FailedAttempt {
  ok: false;
  kind: Failure['kind'];
  status: number | null;
  code: number | null;
  /** Without the key, one line, at most 300 characters. */
  serverMessage: string;
  isGivenUp: boolean;
  decision: RetryDecision;
}

/**
 * Decides whether a failed attempt is retried, and when. Pure.
 * Without Retry-After: full jitter below min(20 s, 250 ms · 2^(attempt-1)). With it: never sooner, and with a jitter as long
 * as the wait itself, so that requests held together do not return together.
 *
 * @param attempt attempts made so far, from 1
 * @param random in [0, 1)
 * @param mayRetry whether the retry budget allows another
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

function attemptsFor({ kind, isGivenUp }: Failure): number {
  if (isGivenUp) return 1;
  switch (kind) {
    case 'throttled':
    case 'try_again':
    case 'server':
    case 'node_behind':
    case 'unreachable':
    case 'timeout':
      return maxAttempts;
    case 'slow':
      // A gateway's 504 may pass. A request that is always too slow needs a smaller one, which only the crawl can send.
      return 2;
    default:
      return 1;
  }
}

/**
 * Bounds the retries of a process, so that an outage costs at most a tenth more requests. Retries after no connection do not
 * count, because the API received nothing.
 */
export interface RetryBudget {
  countFirstAttempt(): void;
  /** True while retries are below 10 % of first attempts + 20. */
  mayRetry(): boolean;
  countRetry(): void;
}

/** Create one for a process and share it between its clients. */
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
 * A circuit breaker for each pool, which distinguishes one bad page from an API that is down. It rests the pool for half a
 * minute after five requests in a row failed in every attempt, or when a connection that was there is gone. Then one
 * attempt is sent alone, the probe: if it fails too, the API is down.
 */
export interface Breaker {
  /**
   * Null if an attempt may ask for admission now; otherwise a promise to wait for before asking again. The promise rejects
   * with the signal's reason when it aborts.
   */
  rest(pool: Pool, signal?: AbortSignal): Promise<void> | null;
  /** Unix ms until which a pool rests; 0 if it does not. */
  restsUntil(pool: Pool): number;
  /** Admits an attempt; the first after a rest is the probe. Null when the API is down. */
  admit(pool: Pool): Admission | null;
  /** Records that an attempt was answered: the API is up. */
  answered(pool: Pool): void;
  /** Records that an attempt was not answered: if it was the probe, the API is down. */
  failed(pool: Pool, admission: Admission): void;
  /**
   * Records that an admitted attempt proves nothing, because it was not sent, was interrupted by us, or was too large. If it
   * was the probe, the next attempt is the probe.
   */
  abandoned(pool: Pool, admission: Admission): void;
  /** Records that a request failed in every attempt. */
  exhausted(pool: Pool): void;
  /**
   * Records that an attempt found no connection and at most one more may be made. If the pool was answered before, it rests
   * first: a server that restarts is back in half a minute, and four attempts may take a tenth of a second.
   * @returns whether a probe decides if the API is down
   */
  disconnected(pool: Pool): boolean;
  /** Declares the API down: there is no connection at all. */
  open(pool: Pool): void;
}

/** How an attempt was admitted. The failure of one sent before the rest does not count as the probe's. */
export type Admission = 'probe' | 'one of many';

/** Exhausted requests in a row, without an answer between them, after which the pool rests. */
const threshold = 5;
const restMs = 30_000;

interface Circuit {
  wasAnswered: boolean;
  exhaustedInARow: number;
  /** `resting` until `restsUntil`; `probing` while the probe is under way; `down` to the end of the process. */
  state: 'closed' | 'resting' | 'probing' | 'down';
  restsUntil: number;
  /** Called when the probe ends. */
  onProbeEnd: (() => void)[];
}

export function createBreaker(timing: Pick<Timing, 'now' | 'sleep'>): Breaker {
  const circuits = new Map<Pool, Circuit>();
  const circuitOf = (pool: Pool): Circuit => {
    const circuit = circuits.get(pool) ?? newCircuit();
    circuits.set(pool, circuit);
    return circuit;
  };
  const change = (circuit: Circuit, state: Circuit['state']): void => {
    circuit.state = state;
    if (state !== 'probing') for (const wakeUp of circuit.onProbeEnd.splice(0)) wakeUp();
  };
  const startRest = (circuit: Circuit): void => {
    if (circuit.state !== 'closed') return;
    circuit.restsUntil = timing.now() + restMs;
    change(circuit, 'resting');
  };
  return {
    rest(pool, signal) {
      const circuit = circuitOf(pool);
      if (circuit.state === 'probing') return waitForProbe(circuit, signal);
      const leftMs = circuit.restsUntil - timing.now();
      return circuit.state === 'resting' && leftMs > 0 ? timing.sleep(leftMs, signal) : null;
    },
    restsUntil(pool) {
      const { state, restsUntil } = circuitOf(pool);
      return state === 'resting' ? restsUntil : 0;
    },
    admit(pool) {
      const circuit = circuitOf(pool);
      if (circuit.state === 'down') return null;
      if (circuit.state === 'closed') return 'one of many';
      change(circuit, 'probing');
      return 'probe';
    },
    answered(pool) {
      const circuit = circuitOf(pool);
      circuit.wasAnswered = true;
      circuit.exhaustedInARow = 0;
      change(circuit, 'closed');
    },
    failed(pool, admission) {
      const circuit = circuitOf(pool);
      if (admission === 'probe' && circuit.state === 'probing') change(circuit, 'down');
    },
    abandoned(pool, admission) {
      const circuit = circuitOf(pool);
      if (admission === 'probe' && circuit.state === 'probing') change(circuit, 'resting');
    },
    exhausted(pool) {
      const circuit = circuitOf(pool);
      circuit.exhaustedInARow += 1;
      if (circuit.exhaustedInARow >= threshold) startRest(circuit);
    },
    disconnected(pool) {
      const circuit = circuitOf(pool);
      if (circuit.wasAnswered) startRest(circuit);
      return circuit.state === 'resting' || circuit.state === 'probing';
    },
    open: (pool) => change(circuitOf(pool), 'down'),
  };
}

function newCircuit(): Circuit {
  return { wasAnswered: false, exhaustedInARow: 0, state: 'closed', restsUntil: 0, onProbeEnd: [] };
}

function waitForProbe({ onProbeEnd }: Circuit, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal?.reason);
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    onProbeEnd.push(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
  });
}
