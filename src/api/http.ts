import './mute-undici.ts';
import { Pool } from 'undici';
import { UsageError } from '../errors.ts';
import type { Transport } from '../operations/operation.ts';
import type { ApiKey } from './api-key.ts';
import {
  asHttpFailure,
  type BodyMemory,
  createBodyMemory,
  HttpFailure,
  type Reservation,
  readBody,
} from './http-body.ts';

/** One request below a transport's base URL, without the key, which only this module adds. */
export interface HttpRequest {
  transport: Transport;
  method: 'GET' | 'POST' | 'PATCH';
  /** Starts with `/`; percent-encoded; may carry a query. */
  path: string;
  /** JSON text, for POST and PATCH. */
  body?: string;
  signal?: AbortSignal;
}

/** An answer of any status, with its whole body. */
export interface HttpAnswer {
  status: number;
  /** The header Retry-After as sent. */
  retryAfter: string | null;
  /** The header Date as sent. */
  date: string | null;
  /** The header Age as sent: the seconds that a cache held the answer. */
  age: string | null;
  /** Headers about rate limits (`x-ratelimit-remaining`, …) as sent; they may repeat the key. */
  limits?: Readonly<Record<string, string>>;
  /** Decoded, but not checked to be UTF-8: the splitter validates every byte. */
  body: Buffer;
  /** Bytes on the wire, before decoding. */
  bytes: number;
  /** Frees the memory that the body reserved; to be called when its page is stored or not needed. */
  release(): void;
}

export interface HttpOptions {
  endpoints: Partial<Record<Transport, string>>;
  key: ApiKey;
  /** One deadline for connect, headers and the whole body. The time a body waits for others does not count. */
  timeoutMs: number;
  /** Open connections to one origin at most. */
  connections: number;
  userAgent: string;
  /** Decoded bytes of one answer at most; default 64 MB. */
  maxBytes?: number;
}

export interface Http {
  /** @throws HttpFailure when there is no complete answer */
  request(request: HttpRequest): Promise<HttpAnswer>;
  /** Scheme, host and port, which errors and logs may show. */
  origin(transport: Transport): string;
  close(): Promise<void>;
}

const defaultMaxBytes = 64 * 1024 * 1024;

/** Bytes of all bodies in memory at most. At 50 requests a second a hundred may be in flight. */
const allBodiesBytes = 96 * 1024 * 1024;

/** The variables that hold the base URLs. */
export const endpointVariables = {
  rpc: 'LEDGERLAKE_RPC_URL',
  wallet: 'LEDGERLAKE_WALLET_URL',
  webhook: 'LEDGERLAKE_WEBHOOK_URL',
} as const;

/**
 * Opens a keep-alive pool per origin. Answers may be gzip; redirects are not followed.
 * @throws UsageError for an invalid endpoint (`endpointFault`)
 */
export function createHttp(options: HttpOptions): Http {
  const bases = new Map<Transport, URL>();
  for (const transport of ['rpc', 'wallet', 'webhook'] as const) {
    const text = options.endpoints[transport];
    if (text) bases.set(transport, parseEndpoint(text, endpointVariables[transport]));
  }
  const memory = createBodyMemory(allBodiesBytes);
  const connections = new Map<string, Pool>();
  for (const { origin } of bases.values()) {
    if (!connections.has(origin)) connections.set(origin, openPool(origin, options));
  }
  const baseOf = (transport: Transport): URL => {
    const base = bases.get(transport);
    if (!base)
      throw new UsageError(`no ${transport} endpoint is set`, `Set ${endpointVariables[transport]}.`);
    return base;
  };
  return {
    origin: (transport) => baseOf(transport).origin,
    request: (request) => {
      const base = baseOf(request.transport);
      return exchange(connections.get(base.origin)!, base, request, { ...options, memory });
    },
    async close() {
      await Promise.all([...connections.values()].map((pool) => pool.destroy()));
    },
  };
}

function openPool(origin: string, options: HttpOptions): Pool {
  // undici's own timeouts restart with every byte, so a slow drip never trips them. The deadline of exchange() does.
  return new Pool(origin, {
    connections: options.connections,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: Math.min(options.timeoutMs, 10_000) },
  });
}

async function exchange(
  pool: Pool,
  base: URL,
  request: HttpRequest,
  options: HttpOptions & { memory: BodyMemory },
): Promise<HttpAnswer> {
  if (request.signal?.aborted) throw new HttpFailure('aborted', 'interrupted before it was sent', 0);
  const deadline = startDeadline(options.timeoutMs, request.signal);
  const wire = { bytes: 0 };
  let reservation: Reservation | undefined;
  try {
    const target = options.key.authorize(request.transport, {
      base: base.pathname.replace(/\/+$/, ''),
      path: request.path,
      headers: headersFor(request, options.userAgent),
    });
    const { method, body = null } = request;
    const answer = await pool.request({ ...target, method, body, signal: deadline.signal });
    const decoded = await readBody(answer, {
      wire,
      maxBytes: options.maxBytes ?? defaultMaxBytes,
      reserve(body) {
        reservation = options.memory.reserve(body, deadline.hold);
        return reservation;
      },
    });
    const headerOf = (name: string) => [answer.headers[name] ?? []].flat()[0] ?? null;
    const [retryAfter, date, age] = [headerOf('retry-after'), headerOf('date'), headerOf('age')];
    const release = () => reservation?.release();
    const { statusCode: status } = answer;
    return {
      status,
      retryAfter,
      date,
      age,
      ...pickLimits(answer.headers),
      body: decoded,
      bytes: wire.bytes,
      release,
    };
  } catch (error) {
    if (deadline.hasPassed()) {
      throw new HttpFailure('timeout', `no complete answer in ${options.timeoutMs} ms`, wire.bytes);
    }
    if (request.signal?.aborted) throw new HttpFailure('aborted', 'interrupted', wire.bytes);
    throw asHttpFailure(error, wire.bytes);
  } finally {
    deadline.clear();
  }
}

function pickLimits(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Pick<HttpAnswer, 'limits'> {
  const names = Object.keys(headers).filter((name) => /^(x-)?rate-?limit/.test(name));
  if (names.length === 0) return {};
  return { limits: Object.fromEntries(names.map((name) => [name, [headers[name] ?? []].flat().join(', ')])) };
}

/** A signal that aborts with the caller's or after timeoutMs. `hold(true)` stops the clock, `hold(false)` lets it continue. */
function startDeadline(timeoutMs: number, caller?: AbortSignal) {
  const stop = new AbortController();
  let passed = false;
  let [leftMs, since] = [timeoutMs, performance.now()];
  const start = () =>
    setTimeout(() => {
      passed = true;
      stop.abort();
    }, leftMs);
  let timer = start();
  const onAbort = () => stop.abort();
  caller?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: stop.signal,
    hasPassed: () => passed,
    hold(waits: boolean) {
      clearTimeout(timer);
      if (waits) leftMs -= performance.now() - since;
      else [since, timer] = [performance.now(), start()];
    },
    clear() {
      clearTimeout(timer);
      caller?.removeEventListener('abort', onAbort);
    },
  };
}

function headersFor(request: HttpRequest, userAgent: string): Record<string, string> {
  const headers = {
    'user-agent': userAgent,
    accept: 'application/json',
    'accept-encoding': 'gzip',
    'cache-control': 'no-cache',
  };
  return request.body === undefined ? headers : { ...headers, 'content-type': 'application/json' };
}

function parseEndpoint(text: string, variable: string): URL {
  const fault = endpointFault(text);
  if (fault === null) return new URL(text);
  throw new UsageError(`${variable} ${fault.what}`, `Change it: ${fault.remedy}.`);
}

/** What is wrong with a base URL; null if nothing is. The URL is never repeated, because people paste keys into it. */
export function endpointFault(text: string): { what: string; remedy: string } | null {
  if (!URL.canParse(text))
    return { what: 'is not a URL', remedy: 'write something like https://api.example.com' };
  const url = new URL(text);
  if (url.username || url.password || url.search || url.hash) {
    return {
      what: 'carries a query or credentials',
      remedy: 'keep only scheme, host and path; the key belongs in LEDGERLAKE_API_KEY',
    };
  }
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.origin))) return null;
  return { what: 'is not https', remedy: 'use https://, plain http is for this machine only' };
}

/** Whether an origin is this machine: localhost, 127.0.0.0/8 or [::1]. */
export function isLoopback(origin: string): boolean {
  const { hostname } = new URL(origin);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
