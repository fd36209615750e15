import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { createFaultPlan, type Fault } from './faults.ts';
import { createRequestLog, type RequestLog, type RequestLogEntry } from './request-log.ts';
import { answerRequest, answerText, errorText, type RpcRequest, readRequest } from './rpc-answer.ts';
import { RpcError } from './rpc-method.ts';
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

/** How the sandbox is served; every one is optional. */
export interface SandboxOptions extends WorldOptions {
  /** TCP port; 0 takes any free one. Default: 0. */
  port?: number;
  host?: '127.0.0.1';
  /** The one key that is let in. Default: `sandbox`. The key `sandbox-forbidden` is always answered 403. */
  apiKey?: string;
  /** Requests per second and pool (das, compression, …) before 429. Default: 0, no limit. */
  rps?: number;
  /** How many may come at once. Default: `rps`, at least 1. */
  burst?: number;
  /** Share of requests that fail (500, 502 with HTML, 503, reset, cut JSON), 0 to 1. Default: 0. */
  faultRate?: number;
  /** Milliseconds every answer waits. Default: 0. */
  latencyMs?: number;
  /** Lists never give a cursor and ignore one they are sent. Default: false. */
  pageOnly?: boolean;
}

/** A running sandbox. */
export interface Sandbox {
  /** `http://127.0.0.1:<port>`; all interfaces of the API are served below it. */
  readonly url: string;
  readonly world: World;
  /** What was asked, oldest first (the oldest are dropped after about 16 MB of request bodies). */
  readonly requests: RequestLogEntry[];
  /** Moves the content `n` times (default 1). Never in the middle of an answer. */
  tick(n?: number): void;
  /** Drops open connections and frees the port. */
  close(): Promise<void>;
}

/**
 * Serves a generated ledger over the API of the spec on loopback. `POST /_sandbox/tick {"n":1}` and
 * `GET /_sandbox/requests` stand beside the API for processes that cannot call `tick` (no key, no limit).
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const world = createWorld(options);
  const log = createRequestLog();
  const app = Fastify({ logger: false, bodyLimit: 16 * 1024 * 1024, forceCloseConnections: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  const tick = (n = 1) => {
    for (let times = 0; times < n; times += 1) world.tick();
  };
  addRpcRoute(app, world, log, options);
  addControlRoutes(app, world, log, tick);
  await app.listen({ port: options.port ?? 0, host: options.host ?? '127.0.0.1' });
  const { address, port } = app.server.address() as AddressInfo;
  return { url: `http://${address}:${port}`, world, requests: log.entries, tick, close: () => app.close() };
}

/** An answer before it is sent. */
interface Answer {
  status: number;
  body: string;
  headers?: Record<string, string>;
  error?: number;
}

function addRpcRoute(app: FastifyInstance, world: World, log: RequestLog, options: SandboxOptions): void {
  const judge = createDoorkeeper(options);
  const nextFault = createFaultPlan(options.seed ?? 1, options.faultRate ?? 0);
  const pageOnly = options.pageOnly ?? false;
  app.post('/', async (request, reply) => {
    const body = typeof request.body === 'string' ? request.body : '';
    const asked = readRequest(body);
    const entry: RequestLogEntry = { method: asked.method, params: asked.params, status: 0, at: Date.now() };
    log.add(entry, body.length);
    const refused = judge(keyOf(request), asked);
    const fault = refused === null ? nextFault() : null;
    if (options.latencyMs !== undefined && options.latencyMs > 0) await sleep(options.latencyMs);
    const answer = refused ?? faultAnswer(fault) ?? answerFrom(world, asked, pageOnly);
    if (fault === 'reset') {
      reply.hijack();
      request.raw.socket.resetAndDestroy();
      return reply;
    }
    entry.status = answer.status;
    if (answer.error !== undefined) entry.error = answer.error;
    if (fault === 'cut') answer.body = answer.body.slice(0, Math.floor(answer.body.length / 2));
    return sendAnswer(request, reply, answer);
  });
}

function addControlRoutes(
  app: FastifyInstance,
  world: World,
  log: RequestLog,
  tick: (n: number) => void,
): void {
  app.post('/_sandbox/tick', async (request) => {
    const { n = 1 } = JSON.parse((request.body as string | undefined) || '{}') as { n?: number };
    tick(n);
    return { ticks: world.ticks, slot: world.slot };
  });
  app.get('/_sandbox/requests', async () => log.entries);
}

function keyOf(request: FastifyRequest): string | undefined {
  const key = (request.query as Record<string, unknown>)['api-key'];
  return typeof key === 'string' ? key : undefined;
}

/** Key first, then the rate limit of the method's pool: what is refused is never answered from the world. */
function createDoorkeeper(options: SandboxOptions) {
  const { apiKey = 'sandbox', rps = 0 } = options;
  const buckets = new Map<string, TokenBucket>();
  return (key: string | undefined, asked: RpcRequest): Answer | null => {
    if (key === 'sandbox-forbidden') return refuse(asked, new RpcError(-32403, 'forbidden', 403));
    if (key !== apiKey) return refuse(asked, new RpcError(-32401, 'invalid api key', 401));
    const pool = asked.known?.pool ?? 'das';
    const bucket = buckets.get(pool) ?? createTokenBucket(rps, options.burst ?? rps);
    buckets.set(pool, bucket);
    const waitSeconds = bucket.take(performance.now());
    if (waitSeconds === 0) return null;
    const answer = refuse(asked, new RpcError(-32429, 'rate limited', 429));
    return { ...answer, headers: { 'retry-after': `${waitSeconds}` } };
  };
}

function refuse(asked: RpcRequest, error: RpcError): Answer {
  return { status: error.status, body: errorText(asked.id, error), error: error.code };
}

function answerFrom(world: World, asked: RpcRequest, pageOnly: boolean): Answer {
  try {
    const result = answerRequest(asked, { world, slot: world.advanceSlot(), pageOnly });
    return { status: 200, body: answerText(asked.id, result) };
  } catch (error) {
    if (error instanceof RpcError) return refuse(asked, error);
    throw error;
  }
}

function faultAnswer(fault: Fault | null): Answer | null {
  if (fault === 'error-500')
    return { status: 500, body: errorText(null, { code: -32603, message: 'Internal error' }) };
  const html = { 'content-type': 'text/html' };
  if (fault === 'html-502') {
    return { status: 502, body: '<html><body><h1>502 Bad Gateway</h1></body></html>', headers: html };
  }
  if (fault === 'unavailable-503') return { status: 503, body: 'Service Unavailable', headers: html };
  return null;
}

const compress = promisify(gzip);

async function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): Promise<FastifyReply> {
  reply.code(answer.status).headers({ 'content-type': 'application/json; charset=utf-8', ...answer.headers });
  const plain = Buffer.from(answer.body);
  const zipped = plain.length > 1024 && /\bgzip\b/.test(`${request.headers['accept-encoding'] ?? ''}`);
  if (!zipped) return reply.send(plain);
  const body = await compress(plain, { level: constants.Z_BEST_SPEED });
  return reply.header('content-encoding', 'gzip').send(body);
}
