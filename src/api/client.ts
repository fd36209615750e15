import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { KeyRefused, LedgerlakeError, StoppedEarly } from '../errors.ts';
import type { Operation, Params, Pool, Transport } from '../operations/operation.ts';
import { failRequest } from './api-errors.ts';
import { type ApiKey, readApiKey } from './api-key.ts';
import { attemptRequest } from './attempt.ts';
import {
  type ClientOptions,
  type ClientState,
  createFirstRequestGate,
  type GatePass,
} from './client-state.ts';
import { createHttp, type Http } from './http.ts';
import { Limiter } from './limiter.ts';
import { createBreaker, createRetryBudget, type RetryBudget } from './retry.ts';
import { type AnswerClock, createAnswerClock, realTiming, type Timing } from './timing.ts';

export interface Answer<T> {
  page: T;
  receivedAt: Date;
  attempts: number;
}

export interface SendOptions<T> {
  signal?: AbortSignal;
  /**
   * Stores the page while the request is still in flight, so that the limit of requests in flight bounds the pages in memory.
   * `send` throws its errors unchanged.
   */
  store?(page: T, receivedAt: Date): Promise<void>;
  /**
   * Called after each attempt that was not answered in time. True: the caller will send a smaller request, and this one ends
   * as `slow`. If it was the breaker's probe, it counts neither as success nor as failure.
   */
  givesUp?(isProbe: boolean): boolean;
  /** The job that the request is for. In a pool the requests of the job that has sent the fewest go first. */
  requester?: string;
}

export interface ApiClient {
  /**
   * Sends one request, in at most `maxAttempts` attempts, and returns its page.
   * @param params a function is called for each attempt
   * @param parse makes a page of the body; what it throws fails the attempt: TooBigAnswer as `too_big`, anything else as a broken answer, unless the
   *   body's text names another error
   * @throws ApiError when this request fails for good: its target fails, others continue
   * @throws ApiStopped, StoppedEarly when nothing more can be sent now (down, credits, budget, signal)
   * @throws KeyRefused when the API refuses the key
   */
  send<T extends { envelope: unknown }>(
    operation: Operation,
    params: Params | (() => Params),
    parse: (body: Buffer) => T,
    options?: SendOptions<T>,
  ): Promise<Answer<T>>;
  /** Scheme, host and port of a transport's endpoint. */
  origin(transport: Transport): string;
  /** The time by the answers' `Date` headers. */
  clock: Pick<AnswerClock, 'correct' | 'aheadMs'>;
  /** Requests a second that the API allowed, by pool without a configured rate: an option of the next run's client. */
  learntRates(): Partial<Record<Pool, number>>;
  /** The pools in use. */
  pools(): PoolState[];
  close(): Promise<void>;
}

export interface PoolState {
  pool: Pool;
  /** Requests a second at the moment; Infinity without a limit. */
  rps: number;
  /** Unix ms until which a Retry-After holds it; in the past if none does. */
  heldUntil: number;
  /** Unix ms until which it rests because the API did not answer; in the past if it does not rest. */
  restsUntil: number;
  inFlight: number;
}

/** Parts that tests and a process with several clients replace. */
export interface ClientParts {
  key?: ApiKey;
  http?: Http;
  timing?: Timing;
  retryBudget?: RetryBudget;
}

// Sockets open only as needed, so this bounds only a pool with a very high configured concurrency.
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
  const state: ClientState = {
    options,
    key,
    http,
    timing,
    clock: createAnswerClock(),
    retryBudget: parts.retryBudget ?? createRetryBudget(),
    breaker: createBreaker(timing),
    gate: createFirstRequestGate(),
    lastFailures: new Map(),
    waitSignal: eitherSignal(options.signal, options.stopping),
    nextId: () => {
      requests += 1;
      return `${prefix}-${requests}`;
    },
  };
  const limiters = new Map<Pool, Limiter>();
  return {
    send: (operation, params, parse, sendOptions = {}) =>
      send(state, limiterFor(state, limiters, operation), operation, params, parse, sendOptions),
    clock: state.clock,
    origin: (transport) => http.origin(transport),
    learntRates() {
      const entries = [...limiters].map(([pool, limiter]) => [pool, limiter.learntRps] as const);
      return Object.fromEntries(entries.filter(([, rps]) => rps !== null));
    },
    pools: () =>
      [...limiters].map(([pool, { rps, heldUntil, inFlight }]) => ({
        ...{ pool, rps, heldUntil, inFlight },
        restsUntil: state.breaker.restsUntil(pool),
      })),
    async close() {
      for (const limiter of limiters.values()) limiter.close();
      await http.close();
    },
  };
}

function limiterFor(state: ClientState, limiters: Map<Pool, Limiter>, { pool }: Operation): Limiter {
  const existing = limiters.get(pool);
  if (existing) return existing;
  const learntRps = state.options.learntRates?.[pool];
  const limiter = new Limiter({
    ...state.options.limits[pool],
    startUnlimited: state.options.unlimited ?? false,
    timing: state.timing,
    ...(learntRps === undefined ? {} : { learntRps }),
  });
  limiters.set(pool, limiter);
  return limiter;
}

async function send<T extends { envelope: unknown }>(
  state: ClientState,
  limiter: Limiter,
  operation: Operation,
  params: Params | (() => Params),
  parse: (body: Buffer) => T,
  options: SendOptions<T>,
): Promise<Answer<T>> {
  const signal = eitherSignal(state.options.signal, options.signal);
  const waitSignal = eitherSignal(state.waitSignal, options.signal);
  // Every request listens to them: more than ten listeners are no leak here.
  for (const one of [signal, waitSignal]) if (one) setMaxListeners(0, one);
  const pass = await state.gate.enter(operation.transport, waitSignal).catch((error) => {
    throw asInterruption(error, waitSignal);
  });
  try {
    return await sendInTurn(state, limiter, {
      operation,
      params: typeof params === 'function' ? params : () => params,
      parse,
      options,
      signal,
      waitSignal,
      pass,
    });
  } catch (error) {
    if (error instanceof KeyRefused) pass?.refused(error);
    throw error;
  } finally {
    pass?.ended();
  }
}

interface Sending<T> {
  operation: Operation;
  params: () => Params;
  parse: (body: Buffer) => T;
  options: SendOptions<T>;
  signal: AbortSignal | undefined;
  waitSignal: AbortSignal | undefined;
  /** Set if this request is sent alone. */
  pass: GatePass | null;
}

/** Makes attempts until one is answered, each in its turn of the pool. */
async function sendInTurn<T extends { envelope: unknown }>(
  state: ClientState,
  limiter: Limiter,
  { operation, params, parse, options, signal, waitSignal, pass }: Sending<T>,
): Promise<Answer<T>> {
  const { requester = '', store, givesUp } = options;
  const inTurn = async (attempt: number) => {
    const request = { operation, params, parse, attempt, signal, givesUp, requester };
    const attempted = await attemptRequest(state, limiter, request);
    if (attempted.ok || !['key_refused', 'unreachable'].includes(attempted.kind)) pass?.answered();
    if (!attempted.ok) return attempted;
    try {
      await store?.(attempted.page, attempted.receivedAt);
    } finally {
      attempted.release();
    }
    return attempted;
  };
  const interrupt = (error: unknown): never => {
    throw asInterruption(error, waitSignal);
  };
  for (let attempt = 1; ; attempt += 1) {
    const turn = { isRetry: attempt > 1, requester, ...(waitSignal ? { signal: waitSignal } : {}) };
    const attempted = await limiter.run(() => inTurn(attempt), turn).catch(interrupt);
    if (attempted.ok) return { page: attempted.page, receivedAt: attempted.receivedAt, attempts: attempt };
    const { decision } = attempted;
    if (!decision.retry) {
      const origin = state.http.origin(operation.transport);
      const request = { operation: operation.name, pool: operation.pool, origin, attempts: attempt };
      throw failRequest(attempted, request, state.breaker);
    }
    await state.timing.sleep(decision.delayMs, waitSignal).catch(interrupt);
  }
}

function eitherSignal(first?: AbortSignal, second?: AbortSignal): AbortSignal | undefined {
  return first && second ? AbortSignal.any([first, second]) : (first ?? second);
}

/** Turns a signal's abort reason into a StoppedEarly with a hint; returns other errors unchanged. */
function asInterruption(error: unknown, signal?: AbortSignal): unknown {
  if (!signal?.aborted || error !== signal.reason || error instanceof LedgerlakeError) return error;
  return new StoppedEarly('interrupted', 'Run the same command again: it continues where it stopped.');
}
