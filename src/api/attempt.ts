import type { Operation, Params } from '../operations/operation.ts';
import { ApiStopped, BrokenAnswer, TooBigAnswer } from './api-errors.ts';
import type { ApiKey } from './api-key.ts';
import { classify, type Outcome } from './classify.ts';
import type { AttemptEntry, ClientState } from './client-state.ts';
import type { HttpAnswer } from './http.ts';
import { HttpFailure } from './http-body.ts';
import type { Limiter } from './limiter.ts';
import {
  type Admission,
  decideRetry,
  type FailedAttempt,
  type Failure,
  maxAttempts,
  maxRetryAfterMs,
} from './retry.ts';
import { dropSecretMember, encodeRequest } from './wire.ts';

/** One attempt of a request. */
export interface AttemptRequest<T> {
  operation: Operation;
  params: () => Params;
  parse: (body: Buffer) => T;
  /** From 1. */
  attempt: number;
  signal: AbortSignal | undefined;
  givesUp: ((isProbe: boolean) => boolean) | undefined;
  requester: string;
}

/** An attempt that was answered well. */
export interface Success<T> {
  ok: true;
  page: T;
  /** By the answers' clock. */
  receivedAt: Date;
  /** Frees the body's memory; to be called when the page is stored. */
  release(): void;
}

/** The outcome of one exchange, before the next step is decided. */
interface Exchanged<T> {
  outcome: Omit<Outcome, 'kind'> & { kind: AttemptEntry['outcome'] };
  status: number | null;
  bytes: number;
  page?: T;
  /** Unix ms, by the answers' clock. */
  answeredAt?: number;
  release(): void;
}

/**
 * Makes one attempt in its turn of the limiter: admission, budget, exchange, accounting.
 * A hold is set before the turn ends, so that no other request slips out in between.
 */
export async function attemptRequest<T extends { envelope: unknown }>(
  state: ClientState,
  limiter: Limiter,
  request: AttemptRequest<T>,
): Promise<Success<T> | FailedAttempt> {
  const { breaker, waitSignal } = state;
  const { pool } = request.operation;
  for (let rest = breaker.rest(pool, waitSignal); rest !== null; rest = breaker.rest(pool, waitSignal)) {
    await rest;
    await limiter.takeTurnAgain(waitSignal);
  }
  const admission = breaker.admit(pool);
  if (admission === null) throw apiIsDown(state, request);
  try {
    const attempted = await makeAttempt(state, limiter, request, admission);
    if (attempted.ok || !silences.includes(attempted.kind)) breaker.answered(pool);
    else {
      state.lastFailures.set(pool, describeFailure(attempted));
      if (attempted.isGivenUp) breaker.abandoned(pool, admission);
      else breaker.failed(pool, admission);
      if (attempted.kind === 'unreachable' && request.attempt === maxAttempts - 1) breaker.disconnected(pool);
    }
    return attempted;
  } catch (error) {
    breaker.abandoned(pool, admission);
    throw error;
  }
}

async function makeAttempt<T extends { envelope: unknown }>(
  state: ClientState,
  limiter: Limiter,
  request: AttemptRequest<T>,
  admission: Admission,
): Promise<Success<T> | FailedAttempt> {
  const { operation, attempt } = request;
  const { timing, options, retryBudget } = state;
  const id = state.nextId();
  const wire = encodeRequest(operation, request.params(), options.paramNames[operation.name] ?? {}, id);
  const credits = options.credits[operation.name] ?? operation.credits;
  options.budget?.takeAttempt(credits);
  if (attempt === 1) retryBudget.countFirstAttempt();

  const sentAt = timing.now();
  const signal = request.signal ? { signal: request.signal } : {};
  const exchanged = await state.http.request({ ...wire, ...signal }).then(
    (answer) => {
      state.clock.learn(answer.date, sentAt, timing.now());
      const answeredAt = state.clock.timeOf(answer, timing.now());
      return { ...readAnswer(state, request, answer, id), answeredAt, release: answer.release };
    },
    (error) => readFailure<T>(error),
  );
  const { kind } = exchanged.outcome;
  if (kind !== 'ok') exchanged.release();
  // Without a connection nothing was sent. A network that is down for days must not use up the month.
  if (kind === 'unreachable') options.budget?.giveBack(credits);
  const receivedMs = timing.now();
  const entry: AttemptEntry = {
    at: new Date(sentAt).toISOString(),
    operation: operation.name,
    pool: operation.pool,
    credits: kind === 'unreachable' ? 0 : credits,
    outcome: kind,
    status: exchanged.status,
    latencyMs: receivedMs - sentAt,
    bytes: exchanged.bytes,
    attempt,
  };
  options.onAttempt(entry, request.requester);
  return settle(state, limiter, request, exchanged, { sentAt, receivedMs, admission });
}

function describeFailure({ status, kind, serverMessage }: FailedAttempt): string {
  const what = status === null ? kind : `HTTP ${status}`;
  return serverMessage === '' ? what : `${what}: ${serverMessage}`;
}

function apiIsDown(
  { http, lastFailures }: ClientState,
  { operation, attempt }: AttemptRequest<unknown>,
): ApiStopped {
  const last = lastFailures.get(operation.pool);
  return new ApiStopped('down', {
    operation: operation.name,
    origin: http.origin(operation.transport),
    serverMessage: `no more requests are sent: earlier ones failed in every attempt${last === undefined ? '' : `, the last with ${last}`}`,
    status: null,
    code: null,
    attempts: attempt - 1,
  });
}

/** Outcomes that do not show that the API is up. */
const silences: readonly AttemptEntry['outcome'][] = [
  'server',
  'slow',
  'node_behind',
  'unreachable',
  'timeout',
];

/** Reports the outcome to the limiter and the retry budget, and decides the next step. */
function settle<T>(
  { timing, retryBudget, clock }: ClientState,
  limiter: Limiter,
  { attempt, signal, givesUp }: AttemptRequest<T>,
  { outcome, status, page, answeredAt, release }: Exchanged<T>,
  { sentAt, receivedMs, admission }: { sentAt: number; receivedMs: number; admission: Admission },
): Success<T> | FailedAttempt {
  const { kind, message, code, retryAfterMs } = outcome;
  if (kind === 'aborted') throw signal?.reason ?? new Error(message);
  if (kind === 'throttled' || kind === 'try_again') limiter.settle('throttled', sentAt);
  else if (status !== null) limiter.settle('accepted', sentAt);
  // The header of a good answer means nothing, and must not hold the whole pool.
  if (kind !== 'ok' && retryAfterMs !== null && retryAfterMs <= maxRetryAfterMs) limiter.hold(retryAfterMs);
  if (kind === 'ok')
    return { ok: true, page: page!, receivedAt: new Date(answeredAt ?? clock.correct(receivedMs)), release };

  const isSlow = kind === 'slow' || kind === 'timeout';
  const isGivenUp = isSlow && givesUp?.(admission === 'probe') === true;
  const failure: Failure = { kind, retryAfterMs, isGivenUp };
  // An attempt without a connection costs no retry: the requests in flight at a restart may outnumber the budget.
  const wasSent = kind !== 'unreachable';
  const decision = decideRetry(failure, attempt, timing.random(), !wasSent || retryBudget.mayRetry());
  if (decision.retry && wasSent) retryBudget.countRetry();
  return { ok: false, kind, status, code, serverMessage: message, isGivenUp, decision };
}

/** Bytes of an answer that are searched for an error: enough for any; the text of a page of records is not needed. */
const errorBytes = 64 * 1024;

function readAnswer<T extends { envelope: unknown }>(
  { key, timing }: ClientState,
  { operation, parse }: AttemptRequest<T>,
  { status, retryAfter, body: received, bytes }: HttpAnswer,
  id: string,
): Omit<Exchanged<T>, 'release'> {
  const { secretMember } = operation;
  const body = secretMember === undefined ? received : dropSecretMember(received, secretMember);
  const isSuccess = status >= 200 && status < 300;
  const repeatsKey = key.isIn(body);
  const { page, broken, tooBig } = isSuccess && !repeatsKey ? tryParse(parse, body) : {};
  if (tooBig !== undefined)
    return { outcome: { kind: 'too_big', message: tooBig, code: null, retryAfterMs: null }, status, bytes };
  const outcome = classify({
    operation,
    status,
    retryAfter,
    text: page ? '' : readText(key, body),
    sentId: operation.rest ? null : id,
    now: timing.now(),
    ...(page ? { envelope: envelopeOf(page, body) } : {}),
  });
  const fault = isSuccess && repeatsKey ? 'the answer repeats the API key and was refused' : broken;
  const message = shorten(readText(key, Buffer.from(fault ?? outcome.message)));
  const answered = { outcome: { ...outcome, message }, status, bytes };
  return page && outcome.kind === 'ok' ? { ...answered, page } : answered;
}

/** The beginning of a text from the server, without the key. */
function readText(key: ApiKey, bytes: Buffer): string {
  return key.redact(bytes.subarray(0, errorBytes), bytes.length > errorBytes);
}

/**
 * The envelope to classify. The splitter takes an error without `jsonrpc` for a bare record and leaves an empty envelope, so
 * a short answer with an empty one is parsed again as a whole.
 */
function envelopeOf({ envelope }: { envelope: unknown }, body: Buffer): unknown {
  const isEmpty = envelope === null || JSON.stringify(envelope) === '{}';
  if (!isEmpty || body.length >= 4096) return envelope;
  try {
    return JSON.parse(body.toString());
  } catch {
    // The splitter accepts a byte order mark and JSON.parse does not. No known error begins with one.
    return envelope;
  }
}

/** Parses a body. One that cannot be parsed is the server's failure; without a `broken` its text is classified. */
function tryParse<T>(
  parse: (body: Buffer) => T,
  body: Buffer,
): { page?: T; broken?: string; tooBig?: string } {
  try {
    return { page: parse(body) };
  } catch (error) {
    if (error instanceof TooBigAnswer) return { tooBig: error.message };
    return error instanceof BrokenAnswer ? { broken: error.message } : {};
  }
}

function readFailure<T>(error: unknown): Exchanged<T> {
  if (!(error instanceof HttpFailure)) throw error;
  const kind = error.reason === 'broken' ? 'server' : error.reason;
  const outcome = { kind, message: error.message, code: null, retryAfterMs: null } as const;
  return { outcome, status: null, bytes: error.bytes, release() {} };
}

/** Server text for a terminal: control characters (escape sequences among them) become spaces. */
function shorten(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return clean.length > 300 ? `${clean.slice(0, 299)}…` : clean;
}
