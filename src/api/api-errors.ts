import { LedgerlakeError, StoppedEarly } from '../errors.ts';

/**
 * Why one request cannot be answered while others can.
 * - `rejected`: the API does not take the request (parameters, unknown method, wrong path)
 * - `forbidden`: plan or IP; stop this operation
 * - `no_data`: the one thing asked for does not exist (`Operation.mayBeUnknown`): an answer, not a failure
 * - `too_big`: the answer is larger than the API gives, or than is taken; a list is asked for with half the `limit`
 * - `slow`: no answer in time, not ours nor the API's own; likewise
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
  /** What the server said, without the key, at most 300 characters. */
  said: string;
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

/** What a reader of answers throws when it can say what is wrong with one: it is asked for again. */
export class BrokenAnswer extends Error {}

/** What a reader of answers throws when one is more than it takes: less is asked for, or nothing. */
export class TooBigAnswer extends Error {}

/** One request failed for good; its target fails, the run goes on. Exit 1 where there is no run (`ledgerlake call`). */
export class ApiError extends LedgerlakeError {
  readonly exitCode = 1;
  readonly kind: ApiErrorKind;
  readonly operation: string;
  readonly origin: string;
  readonly said: string;
  readonly status: number | null;
  readonly code: number | null;
  readonly attempts: number;

  constructor(kind: ApiErrorKind, fields: ApiErrorFields) {
    super(describe(fields, kind.replace('_', ' ')), apiHints[kind]);
    this.kind = kind;
    this.operation = fields.operation;
    this.origin = fields.origin;
    this.said = fields.said;
    this.status = fields.status;
    this.code = fields.code;
    this.attempts = fields.attempts;
  }
}

/**
 * Why the API cannot be used at the moment at all.
 * - `unreachable`: no connection in the last attempt, and none before, or none after half a minute's rest either
 * - `down`: five requests in a row failed in every attempt, and so did a probe half a minute later
 * - `throttled`: it keeps throttling, or asks to wait longer than 15 minutes
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

/** Exit 69: the API cannot be used. Everything received is kept, running again goes on; somebody should look. */
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
export function describe(fields: ApiErrorFields, what: string): string {
  const details = [
    fields.status === null ? null : `HTTP ${fields.status}`,
    fields.code === null ? null : `code ${fields.code}`,
    fields.attempts === 1 ? '1 attempt' : `${fields.attempts} attempts`,
  ].filter((detail) => detail !== null);
  const said = fields.said === '' ? '' : `: ${fields.said}`;
  return `${fields.operation} at ${fields.origin}: ${what} (${details.join(', ')})${said}`;
}
