import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type * as z from 'zod';
import { readApiKey } from '../../src/api/api-key.ts';
import { type ApiClient, createClient } from '../../src/api/client.ts';
import type { AttemptEntry, ClientOptions } from '../../src/api/client-state.ts';
import type { Http } from '../../src/api/http.ts';
import type { Timing } from '../../src/api/timing.ts';
import type { Operation } from '../../src/operations/operation.ts';

export const canary = 'canary-key/7f3a+9b21==';

/** What the server saw of one request. */
export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** The JSON-RPC id, when there was one. */
  id: string | undefined;
}

export type Respond = (seen: Seen, response: ServerResponse, nth: number) => void | Promise<void>;

/** A real HTTP server on a free loopback port, closed when the test ends. */
export async function startServer(respond: Respond): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    // Its clients have clocks of their own.
    response.sendDate = false;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { method = '', url = '', headers } = request;
    const id = body === '' ? undefined : JSON.parse(body).id;
    const entry = { method, url, headers, body, id };
    seen.push(entry);
    await respond(entry, response, seen.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** Answers with JSON; strings go out as they are. */
export function reply(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** A good answer to a JSON-RPC request. */
export function replyResult(response: ServerResponse, { id }: Seen, result: unknown = { items: [] }): void {
  reply(response, 200, { jsonrpc: '2.0', id, result });
}

/** An operation with only what the client looks at. */
export function operation(overrides: Partial<Operation> = {}): Operation {
  return {
    name: 'getAsset',
    describe: 'test',
    transport: 'rpc',
    params: undefined as unknown as z.ZodObject,
    paging: 'none',
    limit: null,
    records: { path: [], form: 'single' },
    slotAt: [],
    pool: 'das',
    credits: 10,
    shape: 'asset',
    table: 'assets',
    ...overrides,
  };
}

/** A clock that jumps instead of waiting, and no jitter. */
export function jumpingTime(random = 0): Timing & { slept: number[] } {
  let now = Date.UTC(2026, 0, 1);
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    random: () => random,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms;
    },
  };
}

/** A client of one server, its log of attempts and the clock it runs on. */
export function clientOf(url: string, overrides: Partial<ClientOptions> = {}, timing?: Timing, http?: Http) {
  const attempts: AttemptEntry[] = [];
  const time = timing ?? jumpingTime();
  const client: ApiClient = createClient(
    {
      endpoints: { rpc: url, wallet: url, webhook: url },
      limits: {},
      credits: {},
      timeoutMs: 5_000,
      paramNames: {},
      onAttempt: (entry) => attempts.push(entry),
      userAgent: 'ledgerlake-test',
      unlimited: true,
      ...overrides,
    },
    { key: readApiKey({ LEDGERLAKE_API_KEY: canary }), timing: time, ...(http ? { http } : {}) },
  );
  onTestFinished(() => client.close());
  return { client, attempts, time };
}

/** Stands in for the splitter: the whole document is the envelope. */
export function readJson(body: Buffer): { envelope: unknown } {
  return { envelope: JSON.parse(body.toString()) };
}

export async function errorOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('expected an error');
}
