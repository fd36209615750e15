import { randomBytes } from 'node:crypto';
import type { ApiKey } from '../api/api-key.ts';
import { classify, type OutcomeKind } from '../api/classify.ts';
import type { AttemptEntry } from '../api/client-state.ts';
import { createHttp, type HttpAnswer } from '../api/http.ts';
import { HttpFailure } from '../api/http-body.ts';
import { encodeRequest } from '../api/wire.ts';
import type { Config } from '../config/config.ts';
import { splitPage } from '../landing/split.ts';
import type { Operation, Params, Transport } from '../operations/operation.ts';

/** The result of one attempt at an operation. */
export interface Probe {
  operation: string;
  transport: Transport;
  /** Scheme, host and port. */
  origin: string;
  /** `ok` and `no_data`: it exists, and the key is accepted. */
  outcome: OutcomeKind | 'unreachable' | 'timeout';
  status: number | null;
  code: number | null;
  /** The provider's error message on one line, without the key; '' when it answered. */
  said: string;
  latencyMs: number;
  /** This computer's clock minus the answer's `Date`, ms; null without one. */
  aheadMs: number | null;
  /** Headers about rate limits, without the key. */
  limits: Readonly<Record<string, string>>;
}

export interface Prober {
  /** @throws UsageError for parameters that cannot be sent, and what interrupted it */
  ask(operation: Operation, params: Params, signal: AbortSignal): Promise<Probe>;
  close(): Promise<void>;
}

export interface ProberOptions {
  endpoints: Partial<Record<Transport, string>>;
  key: ApiKey;
  config: Pick<Config, 'timeoutMs' | 'paramNames' | 'credits'>;
  onAttempt(entry: AttemptEntry): void;
}

const maxTextBytes = 64 * 1024;

/** Sends requests one by one, without retries, limiter or budget. */
export function createProber({ endpoints, key, config, onAttempt }: ProberOptions): Prober {
  const { timeoutMs, paramNames } = config;
  const http = createHttp({ endpoints, key, timeoutMs, connections: 1, userAgent: 'ledgerlake' });
  return {
    close: () => http.close(),
    async ask(operation, params, signal) {
      const id = randomBytes(4).toString('hex');
      const wire = encodeRequest(operation, params, paramNames[operation.name] ?? {}, id);
      const sentAt = Date.now();
      const { name, pool, transport } = operation;
      const about = { operation: name, transport, origin: http.origin(transport) };
      const result = await http.request({ ...wire, signal }).then(
        (answer) => readAnswer(key, operation, answer, { id, sentAt, now: Date.now() }),
        (error) => readFailure(error, signal),
      );
      const latencyMs = Date.now() - sentAt;
      const { outcome, status, bytes, ...details } = result;
      onAttempt({
        ...{ at: new Date(sentAt).toISOString(), operation: name, pool, outcome, status, latencyMs, bytes },
        credits: outcome === 'unreachable' ? 0 : (config.credits[name] ?? operation.credits),
        attempt: 1,
      });
      return { ...about, outcome, status, latencyMs, ...details };
    },
  };
}

type ProbeResult = Omit<Probe, 'operation' | 'transport' | 'origin' | 'latencyMs'> & { bytes: number };

function readAnswer(
  key: ApiKey,
  operation: Operation,
  { status, retryAfter, date, limits, body, bytes, release }: HttpAnswer,
  { id, sentAt, now }: { id: string; sentAt: number; now: number },
): ProbeResult {
  const text = key.redact(body.subarray(0, maxTextBytes), body.length > maxTextBytes);
  const envelope = key.isIn(body) ? undefined : readEnvelope(operation, body);
  release();
  const { kind, message, code } = classify({
    ...{ operation, status, retryAfter, text, sentId: operation.rest ? null : id, now },
    ...(envelope === undefined ? {} : { envelope }),
  });
  const serverTime = date === null ? Number.NaN : Date.parse(date);
  const clean = Object.entries(limits ?? {}).map(([name, value]) => [name, showText(key, value)]);
  return {
    ...{ outcome: kind, status, code, said: showText(key, message), bytes },
    aheadMs: Number.isFinite(serverTime) ? Math.round((sentAt + now) / 2 - serverTime) : null,
    limits: Object.fromEntries(clean),
  };
}

/** Undefined where the body is not an answer of the operation: its text is classified then. */
function readEnvelope(operation: Operation, body: Buffer): unknown {
  try {
    const { envelope } = splitPage(body, operation.records);
    const isLeftEmpty = envelope === null || JSON.stringify(envelope) === '{}';
    return isLeftEmpty && body.length < 4096 ? JSON.parse(body.toString()) : envelope;
  } catch {
    return undefined;
  }
}

/** @throws the signal's abort reason */
function readFailure(error: unknown, signal: AbortSignal): ProbeResult {
  signal.throwIfAborted();
  if (!(error instanceof HttpFailure)) throw error;
  const { reason, message: said, bytes } = error;
  const outcome = reason === 'unreachable' || reason === 'timeout' ? reason : 'server';
  return { outcome, status: null, code: null, said, bytes, aheadMs: null, limits: {} };
}

/** The server's message on one line, for a terminal, without the key. */
function showText(key: ApiKey, text: string): string {
  const clean = key
    .redact(Buffer.from(text))
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return clean.length > 200 ? `${clean.slice(0, 199)}…` : clean;
}
