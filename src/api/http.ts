import './mute-undici.ts';
import { Pool } from 'undici';
import { UsageError } from '../errors.ts';
import type { Transport } from '../operations/operation.ts';
import type { ApiKey } from './api-key.ts';
import {
  asHttpFailure,
  type BodyPlace,
  type BodyRoom,
  createBodyRoom,
  HttpFailure,
  readBody,
} from './http-body.ts';

/** One request below a transport's base URL; the key is added here and never seen outside. */
export interface HttpRequest {
  transport: Transport;
  method: 'GET' | 'POST' | 'PATCH';
  /** Starts with `/`; percent-encoded; may carry a query. */
  path: string;
  /** JSON text, for POST and PATCH. */
  body?: string;
  signal?: AbortSignal;
}

/** An answer as received: any status, the whole decoded body. */
export interface HttpAnswer {
  status: number;
  /** The headers Retry-After and Date as sent. No others are passed on but those of `limits`. */
  retryAfter: string | null;
  date: string | null;
  /** Headers that say something of rate limits (`x-ratelimit-remaining`, …), as sent: they may repeat the key. */
  limits?: Readonly<Record<string, string>>;
  /** Decoded. UTF-8 is not checked here: the splitter validates every byte it keeps. */
  body: Buffer;
  /** Bytes on the wire, before decoding. */
  bytes: number;
  /** Gives back the body's share of the memory that all bodies have: when its page is kept, or not needed. */
  release(): void;
}

export interface HttpOptions {
  endpoints: Partial<Record<Transport, string>>;
  key: ApiKey;
  /** One deadline for connect, headers and the whole body; while a body waits for others it stands still. */
  timeoutMs: number;
  /** Most open connections to one origin. */
  connections: number;
  userAgent: string;
  /** Most decoded bytes of one answer; default 64 MB. */
  maxBytes?: number;
}

export interface Http {
  /** @throws HttpFailure when there is no complete answer */
  request(request: HttpRequest): Promise<HttpAnswer>;
  /** Scheme, host and port: what errors and logs may show. */
  origin(transport: Transport): string;
  close(): Promise<void>;
}

const defaultMaxBytes = 64 * 1024 * 1024;

/** Bytes of all bodies that are received or kept at once: of 50 requests a second, a hundred may be in flight. */
const roomBytes = 96 * 1024 * 1024;
const variables = {
  rpc: 'LEDGERLAKE_RPC_URL',
  wallet: 'LEDGERLAKE_WALLET_URL',
  webhook: 'LEDGERLAKE_WEBHOOK_URL',
};

/**
 * The one HTTP module: keep-alive pools of one connection set per origin, gzip, no redirects, one deadline.
 * @throws UsageError for an endpoint that is not https (loopback excepted), or that carries credentials or a query
 */
export function createHttp(options: HttpOptions): Http {
  const bases = new Map<Transport, URL>();
  for (const transport of ['rpc', 'wallet', 'webhook'] as const) {
    const text = options.endpoints[transport];
    if (text) bases.set(transport, parseEndpoint(text, variables[transport]));
  }
  const room = createBodyRoom(roomBytes);
  const connections = new Map<string, Pool>();
  for (const { origin } of bases.values()) {
    if (!connections.has(origin)) connections.set(origin, openPool(origin, options));
  }
  const baseOf = (transport: Transport): URL => {
    const base = bases.get(transport);
    if (!base) throw new UsageError(`no ${transport} endpoint is set`, `Set ${variables[transport]}.`);
    return base;
  };
  return {
    origin: (transport) => baseOf(transport).origin,
    request: (request) => {
      const base = baseOf(request.transport);
      return exchange(connections.get(base.origin)!, base, request, { ...options, room });
    },
    async close() {
      await Promise.all([...connections.values()].map((pool) => pool.destroy()));
    },
  };
}

function openPool(origin: string, options: HttpOptions): Pool {
  // undici's own timeouts restart with every byte, so a slow drip never trips them: the deadline in exchange() rules.
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
  options: HttpOptions & { room: BodyRoom },
): Promise<HttpAnswer> {
  if (request.signal?.aborted) throw new HttpFailure('aborted', 'interrupted before it was sent', 0);
  const deadline = startDeadline(options.timeoutMs, request.signal);
  const wire = { bytes: 0 };
  let place: BodyPlace | undefined;
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
      enter(body) {
        place = options.room.enter(body, deadline.hold);
        return place;
      },
    });
    const headerOf = (name: string) => [answer.headers[name] ?? []].flat()[0] ?? null;
    const [retryAfter, date] = [headerOf('retry-after'), headerOf('date')];
    const release = () => place?.release();
    const { statusCode: status } = answer;
    return {
      status,
      retryAfter,
      date,
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

/** A signal that aborts with the caller's or after timeoutMs, whichever is first; `hold` stops the time, and lets it go on. */
function startDeadline(timeoutMs: number, caller?: AbortSignal) {
  const stop = new AbortController();
  let passed = false;
  let [left, since] = [timeoutMs, performance.now()];
  const start = () =>
    setTimeout(() => {
      passed = true;
      stop.abort();
    }, left);
  let timer = start();
  const onAbort = () => stop.abort();
  caller?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: stop.signal,
    hasPassed: () => passed,
    hold(waits: boolean) {
      clearTimeout(timer);
      if (waits) left -= performance.now() - since;
      else [since, timer] = [performance.now(), start()];
    },
    clear() {
      clearTimeout(timer);
      caller?.removeEventListener('abort', onAbort);
    },
  };
}

function headersFor(request: HttpRequest, userAgent: string): Record<string, string> {
  const headers = { 'user-agent': userAgent, accept: 'application/json', 'accept-encoding': 'gzip' };
  return request.body === undefined ? headers : { ...headers, 'content-type': 'application/json' };
}

function parseEndpoint(text: string, variable: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    // The text itself is not shown: people paste URLs with the key in them.
    throw new UsageError(
      `${variable} is not a URL`,
      `Set ${variable} to something like https://api.example.com.`,
    );
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new UsageError(
      `${variable} carries a query or credentials`,
      `Keep only scheme, host and path in ${variable}; the key belongs in LEDGERLAKE_API_KEY.`,
    );
  }
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.origin))) {
    throw new UsageError(
      `${variable} is not https`,
      'Use https://: over plain http everybody on the way could read the key.',
    );
  }
  return url;
}

/** True for localhost, 127.0.0.0/8 and [::1]: the embedded sandbox and test servers. */
export function isLoopback(origin: string): boolean {
  const { hostname } = new URL(origin);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
