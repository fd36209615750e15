import { KeyRefused, LedgerlakeError, StoppedEarly } from '../errors.ts';
import type { Pool } from '../operations/operation.ts';
import type { Breaker, FailedAttempt } from './retry.ts';

/**
 * Why one request cannot be answered while others can.
 * - `rejected`: the API refuses the request (parameters, unknown method, wrong path)
 * - `forbidden`: the plan or the IP address does not allow the operation
 * - `no_data`: the requested record does not exist (`Operation.mayBeUnknown`): an answer, not a failure
 * - `too_big`: the answer is larger than the API sends, or than we accept; a list is requested with half the `limit`
 * - `slow`: our deadline or the API's own passed; a list is requested with half the `limit`
 * - `server`, `node_behind`: the API failed on this request in every attempt
 */
export type ApiErrorKind =
  | 'rejected'
  | 'forbidden'
  | 'no_data'
  | 'too_big'
  | 'slow'
  | 'server'
  | 'node_behind';

export interface ApiErrorFields {
  operation: string;
  /** Scheme, host and port; never a URL with path or query. */
  origin: string;
  /** Without the key, at most 300 characters. */
  serverMessage: string;
  /** HTTP status; null when there was no complete answer. */
  status: number | null;
  /** JSON-RPC or provider error code. */
  code: number | null;
  attempts: number;
}

const apiHints: Record<ApiErrorKind, string> = {
  rejected:
    'Check the parameters: `ledgerlake methods --json` lists the operations, api.param_names renames them.',
  forbidden:
    'The plan does not include this operation, or this IP address is not allowed: check both in the dashboard.',
  no_data: 'The API has nothing under this id.',
  too_big:
    'One record alone is too big, or what the parameters add to it: leave out those that make answers larger.',
  slow: 'Raise api.timeout_s, or run again later.',
  server: 'Run again later; if only this target fails, try it alone with `ledgerlake call`.',
  node_behind: "Run again in a few minutes: the API's index is catching up.",
};

/** The `parse` of a request throws this for a broken answer, with what is wrong with it. The request is sent again. */
export class BrokenAnswer extends Error {}

/** The `parse` of a request throws this for an answer that is larger than it accepts. The request ends as `too_big`. */
export class TooBigAnswer extends Error {}

/** One request failed for good: its target fails and the run continues. Exit 1 without a run (`ledgerlake call`). */
export class ApiError extends LedgerlakeError {
  readonly exitCode = 1;
  readonly kind: ApiErrorKind;
  readonly operation: string;
  readonly origin: string;
  readonly serverMessage: string;
  readonly status: number | null;
  readonly code: number | null;
  readonly attempts: number;

  constructor(kind: ApiErrorKind, fields: ApiErrorFields) {
    super(describe(fields, kind.replace('_', ' ')), apiHints[kind]);
    this.kind = kind;
    this.operation = fields.operation;
    this.origin = fields.origin;
    this.serverMessage = fields.serverMessage;
    this.status = fields.status;
    this.code = fields.code;
    this.attempts = fields.attempts;
  }
}

/**
 * Why the API cannot be used at all at the moment.
 * - `unreachable`: no connection in the last attempt, and none before it, nor after half a minute's rest
 * - `down`: five requests in a row failed in every attempt, and so did a probe half a minute later
 * - `throttled`: the API keeps throttling, or asks to wait longer than 15 minutes
 * - `credits_gone`: the provider's usage limit is reached
 */
export type ApiStopReason = 'unreachable' | 'down' | 'throttled' | 'credits_gone';

const stopHints: Record<ApiStopReason, (origin: string) => string> = {
  unreachable: (origin) =>
    `Check the network and the URL in the environment (try: curl -I ${origin}), then run again: it continues.`,
  down: () => "Look at the provider's status page and run again later: it continues where it stopped.",
  throttled: () => 'Set api.limits.<pool>.rps to what your plan allows, then run again: it continues.',
  credits_gone: () =>
    'Wait for the next billing period or buy credits, then run again: it continues where it stopped.',
};

/** Exit 69: the API cannot be used. Everything received is kept and the next run continues; a person should look. */
export class ApiStopped extends StoppedEarly {
  override readonly exitCode = 69;
  readonly reason: ApiStopReason;
  readonly operation: string;
  readonly origin: string;

  constructor(reason: ApiStopReason, fields: ApiErrorFields) {
    super(describe(fields, `the API is ${stopWords[reason]}`), stopHints[reason](fields.origin));
    this.reason = reason;
    this.operation = fields.operation;
    this.origin = fields.origin;
  }
}

const stopWords: Record<ApiStopReason, string> = {
  unreachable: 'unreachable',
  down: 'down',
  throttled: 'throttling',
  credits_gone: 'out of credits',
};

/** `getAsset at https://api.example.com: rejected (HTTP 400, code -32602, 1 attempt): Invalid params`. */
function describe(fields: ApiErrorFields, what: string): string {
  const details = [
    fields.status === null ? null : `HTTP ${fields.status}`,
    fields.code === null ? null : `code ${fields.code}`,
    fields.attempts === 1 ? '1 attempt' : `${fields.attempts} attempts`,
  ].filter((detail) => detail !== null);
  const suffix = fields.serverMessage === '' ? '' : `: ${fields.serverMessage}`;
  return `${fields.operation} at ${fields.origin}: ${what} (${details.join(', ')})${suffix}`;
}

/**
 * The error of a request after its last attempt, which is also recorded in the breaker: an ApiError fails the target, the
 * others stop the run.
 */
export function failRequest(
  { kind, status, code, serverMessage, decision }: FailedAttempt,
  request: { operation: string; pool: Pool; origin: string; attempts: number },
  breaker: Breaker,
): Error {
  const { operation, pool, origin, attempts } = request;
  const fields: ApiErrorFields = { operation, origin, serverMessage, status, code, attempts };
  if (!decision.retry && decision.because === 'wait_too_long') return new ApiStopped('throttled', fields);
  switch (kind) {
    case 'key_refused':
      return new KeyRefused(
        describe(fields, 'the API refused the key'),
        'Check LEDGERLAKE_API_KEY, the file LEDGERLAKE_API_KEY_FILE names, or the key of this interface alone (LEDGERLAKE_WALLET_API_KEY, …): wrong, expired or revoked.',
      );
    case 'credits_gone':
      return new ApiStopped(kind, fields);
    case 'unreachable':
      // The pool was answered before. The rest that begins here gives a server that restarts time to come back.
      if (breaker.disconnected(pool)) return new ApiError('server', fields);
      breaker.open(pool);
      return new ApiStopped(kind, fields);
    case 'throttled':
    case 'try_again':
      return new ApiStopped('throttled', fields);
    case 'rejected':
    case 'forbidden':
    case 'no_data':
    case 'too_big':
      return new ApiError(kind, fields);
    default:
      // One page that always fails is its target's problem. The probe decides whether five in a row are the API's.
      breaker.exhausted(pool);
      if (kind === 'slow' || kind === 'timeout') return new ApiError('slow', fields);
      return new ApiError(kind === 'node_behind' ? kind : 'server', fields);
  }
}
