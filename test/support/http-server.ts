import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** One request with its whole body. */
export interface HttpRequest {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** The JSON-RPC id of a body that has one. */
  readonly id: string | undefined;
}

/** Answers the nth request (from 1). */
export type Respond = (request: HttpRequest, response: ServerResponse, nth: number) => unknown;

/** A server on a free loopback port. */
export interface HttpServer {
  url: string;
  /** Oldest first. */
  readonly requests: readonly HttpRequest[];
  close(): Promise<void>;
}

/**
 * Opens a server, which the caller closes. Its answers have no `Date`, because the tests move the program's clock, unless
 * `respond` sets one.
 */
export async function openServer(respond: Respond): Promise<HttpServer> {
  const requests: HttpRequest[] = [];
  const server = createServer(async (incoming, response) => {
    response.sendDate = false;
    // A client may close the connection while an answer is written.
    response.on('error', () => undefined);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = incoming;
    const body = Buffer.concat(chunks).toString();
    const request: HttpRequest = {
      ...{ method, url, headers, body },
      get id() {
        return body === '' ? undefined : JSON.parse(body).id;
      },
    };
    requests.push(request);
    await respond(request, response, requests.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Opens a server that is closed when the test ends. */
export async function startServer(respond: Respond): Promise<HttpServer> {
  const server = await openServer(respond);
  onTestFinished(() => server.close());
  return server;
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

/** Answers a JSON-RPC request with a result. */
export function replyResult(
  response: ServerResponse,
  { id }: HttpRequest,
  result: unknown = { items: [] },
): void {
  reply(response, 200, { jsonrpc: '2.0', id, result });
}
