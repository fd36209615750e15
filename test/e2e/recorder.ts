import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One answer as it went over the wire. */
export interface Exchange {
  method: string;
  /** The answer's text, not compressed. */
  body: string;
}

/** Stands before an API and keeps every answer's text. */
export interface Recorder {
  url: string;
  /** Oldest first. */
  readonly exchanges: Exchange[];
  close(): Promise<void>;
}

export async function startRecorder(target: string): Promise<Recorder> {
  const exchanges: Exchange[] = [];
  const server = createServer(async (request, response) => {
    // The tests move the clock of the program, and answers would tell the time.
    response.sendDate = false;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const answer = await fetch(`${target}${request.url}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
      body: text,
    });
    const body = await answer.text();
    exchanges.push({ method: (JSON.parse(text) as { method: string }).method, body });
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(body);
  });
  return { url: await listen(server), exchanges, close: () => stop(server) };
}

/** Answers requests with texts of the test's own making. */
export interface CannedApi {
  url: string;
  close(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads the parameters it expects
export type Answer = (method: string, params: any) => string;

/** What an answer throws that is a JSON-RPC error. */
export class CannedError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** @param answer gives the `result` of a request as JSON text, or throws a CannedError */
export async function startCannedApi(answer: Answer): Promise<CannedApi> {
  const server = createServer(async (request, response) => {
    // The tests move the clock of the program, and answers would tell the time.
    response.sendDate = false;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    response.writeHead(200, { 'content-type': 'application/json' });
    const said = () => {
      try {
        return `"result":${answer(method, params)}`;
      } catch (error) {
        if (!(error instanceof CannedError)) throw error;
        return `"error":${JSON.stringify({ code: error.code, message: error.message })}`;
      }
    };
    response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${said()}}`);
  });
  return { url: await listen(server), close: () => stop(server) };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
