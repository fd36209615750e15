import type { Operation } from '../operations/operation.ts';
import { type ErrorBody, errorOf, isObject, isWalletError, readErrorBody } from './wire.ts';

/** What an answer means for the crawl. `data/requests.ndjson` records these words. */
export type OutcomeKind =
  | 'ok'
  | 'throttled'
  | 'credits_gone'
  | 'key_refused'
  | 'try_again'
  | 'forbidden'
  | 'no_data'
  | 'too_big'
  | 'slow'
  | 'server'
  | 'rejected'
  | 'node_behind';

export interface Outcome {
  kind: OutcomeKind;
  /** The server's message as sent. The caller removes the key and shortens it. */
  message: string;
  /** JSON-RPC or provider error code, when there was one. */
  code: number | null;
  /** Retry-After in ms; null without one. */
  retryAfterMs: number | null;
}

/** An answer that is to be classified. */
export interface ReceivedAnswer {
  operation: AnswerTraits;
  status: number;
  /** Retry-After header as sent. */
  retryAfter: string | null;
  /** The body's text, or its beginning when it is long. */
  text: string;
  /** The envelope; absent if the body could not be read as a page. */
  envelope?: unknown;
  /** The JSON-RPC id that was sent; null for REST. */
  sentId: string | null;
  now: number;
}

/** The traits of an operation that decide what an answer to it means. */
export type AnswerTraits = Pick<Operation, 'transport' | 'records' | 'mayBeUnknown'>;

/**
 * Classifies one answer. The HTTP status counts first, then the message, then the code, because codes collide:
 * -32000 is both "server error" and "not found".
 * Only errors are searched for words, never records: an asset may be called "rate limited".
 */
export function classify(received: ReceivedAnswer): Outcome {
  const { status } = received;
  const retryAfterMs = parseRetryAfter(received.retryAfter, received.now);
  if (status >= 200 && status < 300) return { ...classifySuccess(received), retryAfterMs };
  const error = readErrorBody(received.text);
  const kind = kindByStatus(received, error);
  const message = error.message || `HTTP ${status}`;
  return { kind, message, code: error.code, retryAfterMs };
}

function classifySuccess(received: ReceivedAnswer): Omit<Outcome, 'retryAfterMs'> {
  if (received.envelope === undefined) {
    const error = readErrorBody(received.text);
    if (error.code === null && error.message === '') return broken('the answer is cut or not JSON');
    return { ...error, kind: kindByMessage(error, received.operation) ?? 'server' };
  }
  const { envelope } = received;
  if (isObject(envelope)) {
    // Only an envelope's id repeats the request's. A bare record's `id` is the asset's.
    const isEnvelope = 'jsonrpc' in envelope || 'result' in envelope;
    if (
      isEnvelope &&
      received.sentId !== null &&
      envelope.id != null &&
      String(envelope.id) !== received.sentId
    ) {
      return broken("the answer carries another request's id");
    }
    if (envelope.error != null) {
      const error = errorOf(envelope);
      return {
        kind: kindByMessage(error, received.operation) ?? 'server',
        message: error.message || 'an error without a message',
        code: error.code,
      };
    }
  }
  if (!hasRecords(envelope, received.operation)) return broken('the answer has no records where they belong');
  return { kind: 'ok', message: '', code: null };
}

/**
 * Whether the path to the records exists and ends in their form. Anything else, null included, would be taken for an empty
 * page, which ends a list. Null instead of one record is an answer where the record may not exist.
 */
function hasRecords(envelope: unknown, { records: { path, form }, mayBeUnknown }: AnswerTraits): boolean {
  let value = envelope;
  if (isObject(envelope)) {
    if ('jsonrpc' in envelope && !('result' in envelope)) return false;
    if ('result' in envelope) value = envelope.result;
  }
  for (const key of path) {
    if (value === null) return form === 'single' && mayBeUnknown === true;
    if (!isObject(value) || !(key in value)) return false;
    value = value[key];
  }
  // The splitter has replaced the record by null. Its caller checks the form.
  if (form === 'single') return true;
  return form === 'array' ? Array.isArray(value) : isObject(value);
}

function kindByStatus({ status, text, operation }: ReceivedAnswer, error: ErrorBody): OutcomeKind {
  if (status === 401) return /try again/i.test(error.message) ? 'try_again' : 'key_refused';
  if (status === 402 || saysCreditsGone(error.message)) return 'credits_gone';
  if (status === 403) return 'forbidden';
  if (status === 429) return 'throttled';
  if (status === 413) return 'too_big';
  if (status === 504) return 'slow';
  if (status === 404) return kindOfNotFound(error, text, operation);
  if (status === 408 || status === 425 || status < 400) return 'server';
  const byMessage = kindByMessage(error, operation);
  if (status >= 500) {
    const believed: (OutcomeKind | undefined)[] = ['throttled', 'too_big', 'slow', 'node_behind'];
    return byMessage !== undefined && believed.includes(byMessage) ? byMessage : 'server';
  }
  return byMessage === undefined || byMessage === 'server' ? 'rejected' : byMessage;
}

/**
 * A 404 means "no data" only where the resource may not exist, the body is the API's own error, and its words concern the
 * resource. A gateway, or a server at another path, answers 404 too, and would make every wallet look empty.
 */
function kindOfNotFound(error: ErrorBody, text: string, operation: AnswerTraits): OutcomeKind {
  const byMessage = kindByMessage(error, operation);
  if (byMessage !== undefined) return byMessage;
  const { transport, mayBeUnknown = false } = operation;
  if (transport === 'webhook') return 'rejected';
  const isUnknown = transport === 'wallet' && isWalletError(text) && saysUnknown(error.message);
  return isUnknown && mayBeUnknown ? 'no_data' : 'server';
}

/** Parts of a service that an error may report missing. */
const serviceParts =
  '(service|method|route|endpoint|path|page|url|host|backend|upstream|server|handler|function|application|database|table|relation|index|shard|store)';
/** "Not found" about the service itself does not concern the resource. */
const serviceLacks = new RegExp(
  `\\b${serviceParts}\\b[^.:;]{0,40}(not found|does not exist)|(unknown|no|no such) ${serviceParts}\\b|\\broute\\b|cannot (get|post)`,
  'i',
);

/** Whether an error's words report that the requested resource does not exist. */
function saysUnknown(message: string): boolean {
  return /not found|unknown|does not exist|\bno\b/i.test(message) && !serviceLacks.test(message);
}

function saysCreditsGone(message: string): boolean {
  return /max(imum)? usage reached|credits? (exhausted|exceeded)|out of credits/i.test(message);
}

const refusalWords =
  /invalid|expired|unknown|not found|no such|malformed|validation|unrecogni[sz]ed|outdated|stale|no longer|not (a|an|the|valid)\b|bad|could not|cannot|failed|does not|mismatch/i;

/**
 * Whether the API refuses the cursor. The reference server's words are "Cursor Validation Err: … is invalid", with a code that
 * it also uses for temporary failures.
 * @param names parameters other than `cursor` that carried the position
 */
export function saysCursorRefused(message: string, names: readonly string[] = []): boolean {
  const words = new RegExp(
    `cursor|pagination|continuation|page.?token${names.map((n) => `|\\b${n}\\b`).join('')}`,
    'i',
  );
  return words.test(message) && refusalWords.test(message);
}

const kindByCode: Record<number, OutcomeKind> = {
  [-32429]: 'throttled',
  [-32029]: 'throttled',
  [-32005]: 'throttled',
  [-32401]: 'key_refused',
  [-32403]: 'forbidden',
  [-32600]: 'rejected',
  [-32601]: 'rejected',
  [-32602]: 'rejected',
};

/** The kind by message, then by code; undefined when neither is known. */
function kindByMessage(
  { message, code }: ErrorBody,
  { transport, mayBeUnknown }: AnswerTraits,
): OutcomeKind | undefined {
  if (saysCreditsGone(message)) return 'credits_gone';
  if (/rate.?limit|too many requests/i.test(message)) return 'throttled';
  if (/node is behind|no data has been indexed/i.test(message)) return 'node_behind';
  if (/(response|result|answer|page|payload|body|message)\b.{0,30}\btoo (big|large)/i.test(message))
    return 'too_big';
  if (/deadline exceeded|(request|query|gateway|operation) time(d ?out|-?out)/i.test(message)) return 'slow';
  if (/invalid api.?key/i.test(message)) return 'key_refused';
  if (code === -32401 && /try again/i.test(message)) return 'try_again';
  if (saysCursorRefused(message)) return 'rejected';
  if (transport === 'rpc' && code === -32000 && /not found/i.test(message))
    return mayBeUnknown && saysUnknown(message) ? 'no_data' : 'server';
  return code === null ? undefined : kindByCode[code];
}

function broken(message: string): Omit<Outcome, 'retryAfterMs'> {
  return { kind: 'server', message, code: null };
}

/**
 * Retry-After in ms from now, given in seconds or as an HTTP date. A past date is 0; negative numbers and junk are null.
 * Dates must begin with a weekday because Date.parse alone takes "-1" for a day in 2001.
 */
export function parseRetryAfter(header: string | null, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (!/^[A-Za-z]{3,9},? /.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
