import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Answer, type Refusal, sendAnswer } from './answer.ts';
import { hashStream } from './random.ts';
import type { Pool } from './rpc-method.ts';

/** Access, limits and faults, the same for all interfaces. */
export interface FrontDeskOptions {
  seed?: number;
  /** The only accepted key. Default: `sandbox`. The key `sandbox-forbidden` is always answered 403. */
  apiKey?: string;
  /** Requests per second and pool (das, compression, proof, fee, wallet, webhook) before 429. Default: 0, no limit. */
  rps?: number;
  /** Requests that may come at once. Default: `rps`, at least 1. */
  burst?: number;
  /** Share of requests that fail (500, 502 with HTML, 503, reset, cut JSON), 0 to 1. Default: 0. */
  faultRate?: number;
  /** Milliseconds that every answer is delayed. Default: 0. */
  latencyMs?: number;
}

/** What the desk needs of a request. */
export interface Visit {
  /** Name in the log: the JSON-RPC method, or the REST operation. */
  method: string;
  params: unknown;
  /** Size of the body, for the log's budget. */
  bytes: number;
  key: string | undefined;
  pool: Pool;
  refuse(refusal: Refusal): Answer;
  answer(): Answer;
}

/** Logs a request, and answers or refuses it. */
export type FrontDesk = (request: FastifyRequest, reply: FastifyReply, visit: Visit) => Promise<FastifyReply>;

export function createFrontDesk(log: ReceivedLog, options: FrontDeskOptions): FrontDesk {
  const refuseUninvited = createGate(options);
  const nextFault = createFaultPlan(options.seed ?? 1, options.faultRate ?? 0);
  return async (request, reply, visit) => {
    const entry: ReceivedRequest = { method: visit.method, params: visit.params, status: 0, at: Date.now() };
    log.add(entry, visit.bytes);
    const refused = refuseUninvited(visit);
    const fault = refused === null ? nextFault() : null;
    if (options.latencyMs !== undefined && options.latencyMs > 0) await sleep(options.latencyMs);
    const answer = refused ?? faultAnswer(fault, visit) ?? visit.answer();
    if (fault === 'reset') {
      reply.hijack();
      request.raw.socket.resetAndDestroy();
      return reply;
    }
    entry.status = answer.status;
    if (answer.error !== undefined) entry.error = answer.error;
    if (fault === 'cut') answer.body = answer.body.slice(0, Math.floor(answer.body.length / 2));
    return sendAnswer(request, reply, answer);
  };
}

/** The key in the query, which every interface takes. */
export function queryKey(request: FastifyRequest): string | undefined {
  const key = (request.query as Record<string, unknown>)['api-key'];
  return typeof key === 'string' ? key : undefined;
}

/** Checks the key, then the rate limit of the pool. The world never sees a refused request. */
function createGate(options: FrontDeskOptions) {
  const { apiKey = 'sandbox', rps = 0 } = options;
  const buckets = new Map<Pool, TokenBucket>();
  return ({ key, pool, refuse }: Visit): Answer | null => {
    if (key === 'sandbox-forbidden') return refuse({ status: 403, code: -32403, message: 'forbidden' });
    if (key !== apiKey) return refuse({ status: 401, code: -32401, message: 'invalid api key' });
    const bucket = buckets.get(pool) ?? createTokenBucket(rps, options.burst ?? rps);
    buckets.set(pool, bucket);
    const waitSeconds = bucket.take(performance.now());
    if (waitSeconds === 0) return null;
    const answer = refuse({ status: 429, code: -32429, message: 'rate limited' });
    return { ...answer, headers: { 'retry-after': `${waitSeconds}` } };
  };
}

function faultAnswer(fault: Fault | null, visit: Visit): Answer | null {
  if (fault === 'error-500') return visit.refuse({ status: 500, code: -32603, message: 'Internal error' });
  const html = { 'content-type': 'text/html' };
  if (fault === 'html-502') {
    return { status: 502, body: '<html><body><h1>502 Bad Gateway</h1></body></html>', headers: html };
  }
  if (fault === 'unavailable-503') return { status: 503, body: 'Service Unavailable', headers: html };
  return null;
}

/** A way for an answer to fail. */
export type Fault = 'error-500' | 'html-502' | 'unavailable-503' | 'reset' | 'cut';

const faults: readonly Fault[] = ['error-500', 'html-502', 'unavailable-503', 'reset', 'cut'];

/** Decides for each request in turn whether, and how, it fails: the same seed gives the same sequence. */
export function createFaultPlan(seed: number, rate: number): () => Fault | null {
  const chances = hashStream(seed, 'fault');
  const kinds = hashStream(seed, 'fault-kind');
  let requests = 0;
  return () => {
    requests += 1;
    if (chances(requests) / 2 ** 32 >= rate) return null;
    return faults[kinds(requests) % faults.length] as Fault;
  };
}

/** A rate limit: `rps` requests a second on average, up to `burst` at once. */
export interface TokenBucket {
  /** Takes one token: 0 when there was one, else the whole seconds until there is (Retry-After). */
  take(nowMs: number): number;
}

/** @param rps 0 means no limit  @param burst bucket size, at least 1 */
export function createTokenBucket(rps: number, burst: number): TokenBucket {
  const size = Math.max(1, burst);
  let tokens = size;
  let filledAt: number | null = null;
  return {
    take(nowMs) {
      if (rps <= 0) return 0;
      tokens = Math.min(size, tokens + ((nowMs - (filledAt ?? nowMs)) / 1000) * rps);
      filledAt = nowMs;
      if (tokens < 1) return Math.max(1, Math.ceil((1 - tokens) / rps));
      tokens -= 1;
      return 0;
    },
  };
}

/** One request that the sandbox received, for tests that count them. */
export interface ReceivedRequest {
  /** JSON-RPC method; '' when the body named none. */
  method: string;
  params: unknown;
  /** HTTP status; 0 when the connection was reset by a fault. */
  status: number;
  /** The JSON-RPC error code, when that was the answer. */
  error?: number;
  /** Milliseconds since 1970. */
  at: number;
}

/** The requests received, oldest first, within a budget of request bytes. */
export interface ReceivedLog {
  /** The log itself: always the same array. */
  readonly entries: ReceivedRequest[];
  add(entry: ReceivedRequest, bytes: number): void;
}

/** @param maxBytes of request bodies; the oldest tenth is dropped when they exceed it */
export function createReceivedLog(maxBytes = 16 * 1024 * 1024): ReceivedLog {
  const entries: ReceivedRequest[] = [];
  const sizes: number[] = [];
  let total = 0;
  return {
    entries,
    add(entry, bytes) {
      entries.push(entry);
      sizes.push(bytes);
      total += bytes;
      if (total <= maxBytes) return;
      const dropped = Math.ceil(entries.length / 10);
      entries.splice(0, dropped);
      for (const size of sizes.splice(0, dropped)) total -= size;
    },
  };
}
