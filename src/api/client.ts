import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { KeyRefused, LedgerlakeError, StoppedEarly } from '../errors.ts';
import type { Operation, Params, Pool, Transport } from '../operations/operation.ts';
import { type ApiKey, readApiKey } from './api-key.ts';
import { type Attempted, attemptRequest } from './attempt.ts';
import {
  type ClientOptions,
  type ClientState,
  createFirstAnswers,
  type FirstRequest,
} from './client-state.ts';
import { createHttp, type Http } from './http.ts';
import { Limiter } from './limiter.ts';
import { createBreaker, createRetryBudget, type RetryBudget } from './retry.ts';
import { type AnswerClock, createAnswerClock, realTiming, type Timing } from './timing.ts';
import { toError } from './to-error.ts';

export interface Answer<T> {
  page: T;
  receivedAt: Date;
  attempts: number;
}

export interface SendOptions<T> {
  signal?: AbortSignal;
  /**
   * Stores the page before the request gives up its turn: a page counts as in flight until it is kept, so that no
   * more pages wait to be kept than there are requests in flight. What it throws, `send` throws.
   */
  keep?(page: T, receivedAt: Date): Promise<void>;
  /**
   * Asked after each attempt that was not answered in time whether less will be asked for instead. Then the request
   * ends as `slow` at once, and where it was the probe, it says nothing of the API.
   */
  askLess?(isProbe: boolean): boolean;
  /** Who asks, the job: within the pool those go first who have asked for less so far. */
  share?: string;
}

export interface ApiClient {
  /**
   * Sends one request and returns its page, after as many attempts as it takes (at most 4).
   * @param params a function is called for each attempt as it is sent
   * @param read slices the body into a page; anything it throws makes the answer a broken one
   * @throws ApiError when this request fails for good: its target fails, others may go on
   * @throws ApiStopped, StoppedEarly when nothing more can be asked now (down, credits, budget, signal)
   * @throws KeyRefused when the API refuses the key
   */
  send<T extends { envelope: unknown }>(
    operation: Operation,
    params: Params | (() => Params),
    read: (body: Buffer) => T,
    options?: SendOptions<T>,
  ): Promise<Answer<T>>;
  /** Scheme, host and port of a transport's endpoint. */
  origin(transport: Transport): string;
  /** The time as the answers have it. */
  clock: Pick<AnswerClock, 'correct' | 'aheadMs'>;
  /** Requests a second that held, by pool without a configured rate: keep them for the next run. */
  learntRates(): Partial<Record<Pool, number>>;
  /** What the pools in use are doing now. */
  pools(): PoolState[];
  close(): Promise<void>;
}

/** What a pool is doing. */
export interface PoolState {
  pool: Pool;
  /** Requests a second in force; Infinity: nothing limits. */
  rps: number;
  /** Unix ms until which it waits because of a Retry-After; past: it does not. */
  heldUntil: number;
  /** Unix ms until which it waits because the API did not answer; past: it does not. */
  restsUntil: number;
  inFlight: number;
}

/** What tests and a process with several clients replace; the defaults are right otherwise. */
export interface ClientParts {
  key?: ApiKey;
  http?: Http;
  timing?: Timing;
  retryBudget?: RetryBudget;
}

// Sockets open only as needed, so this only bounds a pool whose concurrency somebody set very high.
const maxConnections = 128;

/** @throws UsageError for an invalid endpoint or key */
export function createClient(options: ClientOptions, parts: ClientParts = {}): ApiClient {
  const key = parts.key ?? readApiKey();
  const { endpoints, timeoutMs, userAgent } = options;
  const http =
    parts.http ?? createHttp({ endpoints, key, timeoutMs, userAgent, connections: maxConnections });
  const prefix = randomBytes(4).toString('hex');
  let requests = 0;
  const timing = parts.timing ?? realTiming;
  const session: ClientState = {
    options,
    key,
    http,
    timing,
    clock: createAnswerClock(),
    retryBudget: parts.retryBudget ?? createRetryBudget(),
    breaker: createBreaker(timing),
    firstAnswers: createFirstAnswers(),
    lastFailures: new Map(),
    waitSignal: eitherSignal(options.signal, options.stopping),
    nextId: () => {
      requests += 1;
      return `${prefix}-${requests}`;
    },
  };
  const limiters = new Map<Pool, Limiter>();
  return {
    send: (operation, params, read, sendOptions = {}) =>
      send(session, limiterFor(session, limiters, operation), operation, params, read, sendOptions),
    clock: session.clock,
    origin: (transport) => http.origin(transport),
    learntRates() {
      const entries = [...limiters].map(([pool, limiter]) => [pool, limiter.learntRps] as const);
      return Object.fromEntries(entries.filter(([, rps]) => rps !== null));
    },
    pools: () =>
      [...limiters].map(([pool, { rps, heldUntil, inFlight }]) => ({
        ...{ pool, rps, heldUntil, inFlight },
        restsUntil: session.breaker.restsUntil(pool),
      })),
    async close() {
      for (const limiter of limiters.values()) limiter.close();
      await http.close();
    },
  };
}

function limiterFor(session: ClientState, limiters: Map<Pool, Limiter>, { pool }: Operation): Limiter {
  const existing = limiters.get(pool);
  if (existing) return existing;
  const learntRps = session.options.learntRates?.[pool];
  const limiter = new Limiter({
    ...session.options.limits[pool],
    startUnlimited: session.options.unlimited ?? false,
    timing: session.timing,
    ...(learntRps === undefined ? {} : { learntRps }),
  });
  limiters.set(pool, limiter);
  return limiter;
}

async function send<T extends { envelope: unknown }>(
  session: ClientState,
  limiter: Limiter,
  operation: Operation,
  given: Params | (() => Params),
  read: (body: Buffer) => T,
  options: SendOptions<T>,
): Promise<Answer<T>> {
  const params = typeof given === 'function' ? given : () => given;
  const signal = eitherSignal(session.options.signal, options.signal);
  const waitSignal = eitherSignal(session.waitSignal, options.signal);
  // Every request listens to them: more than ten is no leak here.
  for (const one of [signal, waitSignal]) if (one) setMaxListeners(0, one);
  const first = await session.firstAnswers.enter(operation.transport, waitSignal).catch((error) => {
    throw asInterruption(error, waitSignal);
  });
  try {
    return await sendInTurn(session, limiter, {
      operation,
      params,
      read,
      options,
      signal,
      waitSignal,
      first,
    });
  } catch (error) {
    if (error instanceof KeyRefused) first?.refused(error);
    throw error;
  } finally {
    first?.ended();
  }
}

interface Sending<T> {
  operation: Operation;
  params: () => Params;
  read: (body: Buffer) => T;
  options: SendOptions<T>;
  signal: AbortSignal | undefined;
  waitSignal: AbortSignal | undefined;
  /** Where it goes alone. */
  first: FirstRequest | null;
}

/** Attempts until one is answered, each in its turn of the pool. */
async function sendInTurn<T extends { envelope: unknown }>(
  session: ClientState,
  limiter: Limiter,
  { operation, params, read, options: { share = '', keep, askLess }, signal, waitSignal, first }: Sending<T>,
): Promise<Answer<T>> {
  for (let attempt = 1; ; attempt += 1) {
    const attempted: Attempted<T> = await limiter
      .run(
        async () => {
          const request = { operation, params, read, attempt, signal, askLess, share };
          const attempted = await attemptRequest(session, limiter, request);
          if (attempted.ok || !['key_refused', 'unreachable'].includes(attempted.kind)) first?.answered();
          if (!attempted.ok) return attempted;
          try {
            await keep?.(attempted.page, attempted.receivedAt);
          } finally {
            attempted.release();
          }
          return attempted;
        },
        {
          // A retry goes before new requests: its task is further along.
          returns: attempt > 1,
          share,
          ...(waitSignal ? { signal: waitSignal } : {}),
        },
      )
      .catch((error) => {
        throw asInterruption(error, waitSignal);
      });
    if (attempted.ok) return { page: attempted.page, receivedAt: attempted.receivedAt, attempts: attempt };
    const { decision } = attempted;
    if (!decision.retry) throw toError(session, operation, attempted, attempt);
    await session.timing.sleep(decision.delayMs, waitSignal).catch((error) => {
      throw asInterruption(error, waitSignal);
    });
  }
}

function eitherSignal(first?: AbortSignal, second?: AbortSignal): AbortSignal | undefined {
  return first && second ? AbortSignal.any([first, second]) : (first ?? second);
}

/** An error that only says that a signal came, as one that says what to do. */
function asInterruption(error: unknown, signal?: AbortSignal): unknown {
  if (!signal?.aborted || error !== signal.reason || error instanceof LedgerlakeError) return error;
  return new StoppedEarly('interrupted', 'Run the same command again: it continues where it stopped.');
}
