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
  type Failure,
  maxAttempts,
  maxRetryAfterMs,
  type RetryDecision,
} from './retry.ts';
import { dropSecretMember, encodeRequest } from './wire.ts';

/** What to send, and how often it was tried. */
export interface AttemptRequest<T> {
  operation: Operation;
  params: () => Params;
  read: (body: Buffer) => T;
  /** From 1. */
  attempt: number;
  signal: AbortSignal | undefined;
  askLess: ((isProbe: boolean) => boolean) | undefined;
  /** Who asks, the job. */
  share: string;
}

/** A failed attempt with all that its error will say. */
export interface FailedAttempt {
  ok: false;
  kind: AttemptEntry['outcome'];
  status: number | null;
  code: number | null;
  /** The server's words: without the key, one line, at most 300 characters. */
  said: string;
  /** Whether the caller asks for less instead: no word on the API. */
  less: boolean;
  decision: RetryDecision;
}

export type Attempted<T> =
  /** `receivedAt`: by the answers' clock. `release`: once the page is kept. */
  { ok: true; page: T; receivedAt: Date; release(): void } | FailedAttempt;

interface Judged<T> {
  outcome: Omit<Outcome, 'kind'> & { kind: AttemptEntry['outcome'] };
  status: number | null;
  bytes: number;
  page?: T;
  release(): void;
}

/**
 * One attempt, inside its turn of the limiter: budget, wire, judgement, accounting.
 * The hold is set before the turn ends, so that no other request slips out in between.
 */
export async function attemptRequest<T extends { envelope: unknown }>(
  session: ClientState,
  limiter: Limiter,
  request: AttemptRequest<T>,
): Promise<Attempted<T>> {
  const { breaker, waitSignal } = session;
  const { pool } = request.operation;
  for (let rest = breaker.rest(pool, waitSignal); rest !== null; rest = breaker.rest(pool, waitSignal)) {
    await rest;
    await limiter.takeTurnAgain(waitSignal);
  }
  const admission = breaker.admit(pool);
  if (admission === null) throw apiIsDown(session, request);
  try {
    const attempted = await makeAttempt(session, limiter, request, admission);
    if (!attempted.ok && silences.includes(attempted.kind))
      session.lastFailures.set(pool, describeCause(attempted));
    if (attempted.ok || !silences.includes(attempted.kind)) breaker.answered(pool);
    else if (attempted.less) breaker.abandoned(pool, admission);
    else breaker.failed(pool, admission);
    if (!attempted.ok && attempted.kind === 'unreachable' && request.attempt === maxAttempts - 1)
      breaker.disconnected(pool);
    return attempted;
  } catch (error) {
    breaker.abandoned(pool, admission);
    throw error;
  }
}

async function makeAttempt<T extends { envelope: unknown }>(
  session: ClientState,
  limiter: Limiter,
  request: AttemptRequest<T>,
  admission: Admission,
): Promise<Attempted<T>> {
  const { operation, attempt } = request;
  const { timing, options, retryBudget } = session;
  const id = session.nextId();
  const wire = encodeRequest(operation, request.params(), options.paramNames[operation.name] ?? {}, id);
  const credits = options.credits[operation.name] ?? operation.credits;
  options.budget?.takeAttempt(credits);
  if (attempt === 1) retryBudget.countFirstAttempt();

  const sentAt = timing.now();
  const signal = request.signal ? { signal: request.signal } : {};
  const judged = await session.http.request({ ...wire, ...signal }).then(
    (answer) => {
      session.clock.learn(answer.date, sentAt, timing.now());
      return { ...judgeAnswer(session, request, answer, id), release: answer.release };
    },
    (error) => judgeFailure<T>(error),
  );
  const { kind } = judged.outcome;
  if (kind !== 'ok') judged.release();
  // Without a connection nothing was sent: days of a network that is down would use up the month.
  if (kind === 'unreachable') options.budget?.giveBack(credits);
  const receivedMs = timing.now();
  const entry: AttemptEntry = {
    at: new Date(sentAt).toISOString(),
    operation: operation.name,
    pool: operation.pool,
    credits: kind === 'unreachable' ? 0 : credits,
    outcome: kind,
    status: judged.status,
    latencyMs: receivedMs - sentAt,
    bytes: judged.bytes,
    attempt,
  };
  options.onAttempt(entry, request.share);
  return settle(session, limiter, request, judged, { sentAt, receivedMs, admission });
}

function describeCause({ status, kind, said }: FailedAttempt): string {
  const what = status === null ? kind : `HTTP ${status}`;
  return said === '' ? what : `${what}: ${said}`;
}

function apiIsDown(
  { http, lastFailures }: ClientState,
  { operation, attempt }: AttemptRequest<unknown>,
): ApiStopped {
  const last = lastFailures.get(operation.pool);
  return new ApiStopped('down', {
    operation: operation.name,
    origin: http.origin(operation.transport),
    said: `not asked any more: earlier requests failed in every attempt${last === undefined ? '' : `, the last with ${last}`}`,
    status: null,
    code: null,
    attempts: attempt - 1,
  });
}

/** Outcomes that do not show that the API is there. */
const silences: readonly AttemptEntry['outcome'][] = [
  'server',
  'slow',
  'node_behind',
  'unreachable',
  'timeout',
];

/** Tells limiter and retry budget how it went, and decides what comes next. */
function settle<T>(
  { timing, retryBudget, clock }: ClientState,
  limiter: Limiter,
  { attempt, signal, askLess }: AttemptRequest<T>,
  { outcome, status, page, release }: Judged<T>,
  { sentAt, receivedMs, admission }: { sentAt: number; receivedMs: number; admission: Admission },
): Attempted<T> {
  const { kind, message, code, retryAfterMs } = outcome;
  if (kind === 'aborted') throw signal?.reason ?? new Error(message);
  if (kind === 'throttled' || kind === 'try_again') limiter.settle('throttled', sentAt);
  else if (status !== null) limiter.settle('accepted', sentAt);
  // With a good answer the header means nothing, and must not keep the whole pool waiting.
  if (kind !== 'ok' && retryAfterMs !== null && retryAfterMs <= maxRetryAfterMs) limiter.hold(retryAfterMs);
  if (kind === 'ok')
    return { ok: true, page: page!, receivedAt: new Date(clock.correct(receivedMs)), release };

  const isSlow = kind === 'slow' || kind === 'timeout';
  const less = isSlow && askLess?.(admission === 'probe') === true;
  const failure: Failure = { kind, retryAfterMs, less };
  // Without a connection the API was not asked: what is in flight when it restarts may be more than the budget has.
  const isAsked = kind !== 'unreachable';
  const decision = decideRetry(failure, attempt, timing.random(), !isAsked || retryBudget.mayRetry());
  if (decision.retry && isAsked) retryBudget.countRetry();
  return { ok: false, kind, status, code, said: message, less, decision };
}

// Long enough for any error; the text of a page of records is never needed.
const judgedBytes = 64 * 1024;

function judgeAnswer<T extends { envelope: unknown }>(
  { key, timing }: ClientState,
  { operation, read }: AttemptRequest<T>,
  { status, retryAfter, body: received, bytes }: HttpAnswer,
  id: string,
): Omit<Judged<T>, 'release'> {
  const { secretMember } = operation;
  const body = secretMember === undefined ? received : dropSecretMember(received, secretMember);
  const isSuccess = status >= 200 && status < 300;
  const echoesKey = key.isIn(body);
  const { page, broken, tooBig } = isSuccess && !echoesKey ? tryRead(read, body) : {};
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
  const refused = isSuccess && echoesKey ? 'the answer repeats the API key and was refused' : broken;
  const message = shorten(readText(key, Buffer.from(refused ?? outcome.message)));
  const judged = { outcome: { ...outcome, message }, status, bytes };
  return page && outcome.kind === 'ok' ? { ...judged, page } : judged;
}

/** The beginning of what the server said, without the key. */
function readText(key: ApiKey, bytes: Buffer): string {
  return key.redact(bytes.subarray(0, judgedBytes), bytes.length > judgedBytes);
}

/**
 * The envelope to judge. An error without `jsonrpc` looks like a bare record to the splitter, which then leaves
 * nothing in the envelope: a short answer is read again as a whole.
 */
function envelopeOf({ envelope }: { envelope: unknown }, body: Buffer): unknown {
  const isLeftEmpty = envelope === null || JSON.stringify(envelope) === '{}';
  if (!isLeftEmpty || body.length >= 4096) return envelope;
  try {
    return JSON.parse(body.toString());
  } catch {
    // The splitter takes a byte order mark, JSON.parse does not; no error is known to begin with one.
    return envelope;
  }
}

/** A body that cannot be read is the server's failure, judged from its text where the reader has no words for it. */
function tryRead<T>(read: (body: Buffer) => T, body: Buffer): { page?: T; broken?: string; tooBig?: string } {
  try {
    return { page: read(body) };
  } catch (error) {
    if (error instanceof TooBigAnswer) return { tooBig: error.message };
    return error instanceof BrokenAnswer ? { broken: error.message } : {};
  }
}

function judgeFailure<T>(error: unknown): Judged<T> {
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
