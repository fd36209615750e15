import type { Operation } from '../operations/operation.ts';
import { isOwnError, saysUnknown } from './not-found.ts';

/** What an answer means for the crawl; the words also stand in `data/requests.ndjson`. */
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
  /** What the server said, as sent (the caller removes the key and shortens it). */
  message: string;
  /** JSON-RPC or provider error code, when there was one. */
  code: number | null;
  /** How long the server asked to wait, in ms; null when it did not say. */
  retryAfterMs: number | null;
}

/** What was received, before it is judged. */
export interface Received {
  operation: AskedOf;
  status: number;
  /** Retry-After header as sent. */
  retryAfter: string | null;
  /** The body's text, or its beginning when it is long. */
  text: string;
  /** The envelope, when the body could be read as a page; absent otherwise. */
  envelope?: unknown;
  /** The JSON-RPC id that was sent; null for REST. */
  sentId: string | null;
  now: number;
}

/** What of an operation decides what an answer to it means. */
export type AskedOf = Pick<Operation, 'transport' | 'records' | 'mayBeUnknown'>;

interface Said {
  message: string;
  code: number | null;
}

/**
 * Judges one answer: HTTP status first, then the message, then the code, because codes collide
 * (-32000 is both "server error" and "not found"; API.md, Errors and limits).
 * Text is only read where an error stands, never in records: an asset may be called "rate limited".
 */
export function classify(received: Received): Outcome {
  const { status } = received;
  const retryAfterMs = parseRetryAfter(received.retryAfter, received.now);
  if (status >= 200 && status < 300) return { ...judgeSuccess(received), retryAfterMs };
  const said = readError(received.text);
  const kind = judgeStatus(received, said);
  const message = said.message || `HTTP ${status}`;
  return { kind, message, code: said.code, retryAfterMs };
}

function judgeSuccess(received: Received): Omit<Outcome, 'retryAfterMs'> {
  if (received.envelope === undefined) {
    const said = readError(received.text);
    if (said.code === null && said.message === '') return broken('the answer is cut or not JSON');
    return {
      kind: judgeMessage(said, received.operation) ?? 'server',
      message: said.message,
      code: said.code,
    };
  }
  const { envelope } = received;
  if (isObject(envelope)) {
    // Only an envelope's id is an echo: a bare record's `id` is the asset's own.
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
      const said = errorIn(envelope);
      return {
        kind: judgeMessage(said, received.operation) ?? 'server',
        message: said.message || 'an error without a message',
        code: said.code,
      };
    }
  }
  if (!hasRecords(envelope, received.operation)) return broken('the answer has no records where they belong');
  return { kind: 'ok', message: '', code: null };
}

/**
 * False when a key on the way to the records is missing, or what it leads to is not of their form, null included: taken
 * for an empty page, it would end the list. Null in the place of one record is an answer where there may be none.
 */
function hasRecords(envelope: unknown, { records: { path, form }, mayBeUnknown }: AskedOf): boolean {
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
  // One record was taken out, and has left null in its place: who took it knows its form.
  if (form === 'single') return true;
  return form === 'array' ? Array.isArray(value) : isObject(value);
}

function judgeStatus({ status, text, operation }: Received, said: Said): OutcomeKind {
  if (status === 401) return /try again/i.test(said.message) ? 'try_again' : 'key_refused';
  if (status === 402 || saysCreditsGone(said.message)) return 'credits_gone';
  if (status === 403) return 'forbidden';
  if (status === 429) return 'throttled';
  if (status === 413) return 'too_big';
  if (status === 504) return 'slow';
  if (status === 404) return judgeNotFound(said, text, operation);
  if (status === 408 || status === 425 || status < 400) return 'server';
  const byMessage = judgeMessage(said, operation);
  if (status >= 500) {
    const passes: (OutcomeKind | undefined)[] = ['throttled', 'too_big', 'slow', 'node_behind'];
    return byMessage !== undefined && passes.includes(byMessage) ? byMessage : 'server';
  }
  return byMessage === undefined || byMessage === 'server' ? 'rejected' : byMessage;
}

/**
 * A gateway, or a server at another path, also answers 404: taken for "no data" it would make every wallet look empty.
 * So it counts only in the API's own form, of a resource, and where there may be none; all else may pass by itself.
 */
function judgeNotFound(said: Said, text: string, operation: AskedOf): OutcomeKind {
  const byMessage = judgeMessage(said, operation);
  if (byMessage !== undefined) return byMessage;
  const { transport, mayBeUnknown = false } = operation;
  if (transport === 'webhook') return 'rejected';
  const isUnknown =
    transport === 'wallet' && isOwnError(parseObject(text) ?? {}) && saysUnknown(said.message);
  return isUnknown && mayBeUnknown ? 'no_data' : 'server';
}

function saysCreditsGone(message: string): boolean {
  return /max(imum)? usage reached|credits? (exhausted|exceeded)|out of credits/i.test(message);
}

const refusalWords =
  /invalid|expired|unknown|not found|no such|malformed|validation|unrecogni[sz]ed|outdated|stale|no longer|not (a|an|the|valid)\b|bad|could not|cannot|failed|does not|mismatch/i;

/**
 * Whether the API says that it does not know the place a request would go on at. The reference server's words are
 * "Cursor Validation Err: … is invalid", with the code that it also has for failures that pass.
 * @param names parameters that said where to go on, besides `cursor`
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

/** Message, then code. Undefined when neither says anything known. */
function judgeMessage(
  { message, code }: Said,
  { transport, mayBeUnknown }: AskedOf,
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

/** Finds the error in a body of any form: JSON-RPC, `{error, code}`, `{message, statusCode}`, plain text, HTML. */
function readError(text: string): Said {
  const trimmed = text.trim();
  if (trimmed.startsWith('{')) {
    const body = parseObject(trimmed);
    return body === null ? { message: '', code: null } : errorIn(body);
  }
  if (trimmed.startsWith('[')) return { message: '', code: null };
  if (trimmed.startsWith('<')) {
    const title = /<title>([^<]*)<\/title>/i.exec(trimmed)?.[1]?.trim();
    return { message: title ? `an HTML page: ${title}` : 'an HTML page', code: null };
  }
  return { message: trimmed, code: null };
}

/** Null for what is no object, or cut: nothing in it can be trusted, records may hold any words. */
function parseObject(text: string): Record<string, unknown> | null {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : null;
  } catch {
    return null;
  }
}

function errorIn(body: Record<string, unknown>): Said {
  const inner = isObject(body.error) ? body.error : body;
  const words = [inner.message, inner.error, inner.details].filter((word) => typeof word === 'string');
  return {
    message: [...new Set(words)].join(': '),
    code: Number.isInteger(inner.code) ? (inner.code as number) : null,
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Retry-After in ms from now: seconds or an HTTP date; a past date is 0; negative numbers and junk are null.
 * Dates must begin with a weekday: Date.parse alone takes "-1" for a day in 2001.
 */
export function parseRetryAfter(header: string | null, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (!/^[A-Za-z]{3,9},? /.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
