import { createServer, type Server, type Socket } from 'node:net';

/** One request as it came in, and how often it came before. */
export interface Asked {
  method: string;
  params: Record<string, unknown>;
  id: unknown;
  /** Method and parameters: the same request has the same name, whatever its id. */
  name: string;
  /** From 1. */
  attempt: number;
}

/** What stands on the wire in place of an answer, and what becomes of the connection then. */
export interface Act {
  bytes: string;
  /** `drip`: a byte every 20 ms for ever; `refuse`: the port is closed, and with `ms` opened again after them. */
  after: 'keep' | 'end' | 'reset' | 'hang' | 'drip' | 'refuse';
  reopenAfterMs?: number;
}

/** A request that stands to be answered. */
export interface Visit extends Asked {
  /** The API's answer to it, or to it with other parameters, under its id. */
  fetchAnswer(params?: Record<string, unknown>): Promise<string>;
}

export interface ProxyPlan {
  /** What goes out for a request; null: the API's answer. */
  answer(visit: Visit): Promise<Act | null>;
  /** What goes out unasked on every open connection, after that answer has; null: nothing. */
  afterAnswer(asked: Asked): Promise<Act | null>;
}

export interface FaultProxy {
  url: string;
  /** What was asked, oldest first. */
  readonly asked: Asked[];
  /** From now on every answer is the API's. */
  heal(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Stands before a JSON-RPC API and answers as planned, byte by byte: on `node:net`, because an HTTP server would not let
 * a broken answer out. What it does depends on the requests only, never on the time.
 */
export async function startFaultProxy(target: string, plan: ProxyPlan): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  const times = new Map<string, number>();
  const asked: Asked[] = [];
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    void serve(socket);
  });
  const port = await listen(listener, 0);
  let reopening: NodeJS.Timeout | undefined;
  const open = async () => {
    if (!listener.listening) await listen(listener, port);
  };
  let healed = false;

  const serve = async (socket: Socket) => {
    for await (const { path, body } of readRequests(socket)) {
      const request = readAsked(body, times);
      asked.push(request);
      const fetchAnswer = (params = request.params) => ask(`${target}${path}`, { ...request, params });
      const act = healed ? null : await plan.answer({ ...request, fetchAnswer });
      perform(act ?? whole(await fetchAnswer()), [socket]);
      const unasked = healed ? null : await plan.afterAnswer(request);
      if (unasked !== null) perform(unasked, [...sockets]);
    }
  };

  const perform = ({ bytes, after, reopenAfterMs }: Act, on: readonly Socket[]) => {
    for (const socket of on) if (bytes !== '') socket.write(bytes);
    if (after === 'end') for (const socket of on) socket.end();
    if (after === 'reset') for (const socket of on) resetAfterWrite(socket);
    if (after === 'drip') for (const socket of on) drip(socket);
    if (after !== 'refuse') return;
    listener.close();
    for (const socket of sockets) socket.resetAndDestroy();
    clearTimeout(reopening);
    if (reopenAfterMs !== undefined) reopening = setTimeout(() => void open(), reopenAfterMs);
  };

  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    async heal() {
      healed = true;
      clearTimeout(reopening);
      await open();
    },
    async close() {
      clearTimeout(reopening);
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => listener.close(() => resolve()));
    },
  };
}

/** A whole good answer. */
export function whole(body: string): Act {
  return { bytes: answerBytes(200, body), after: 'keep' };
}

/** The bytes of an HTTP answer. */
export function answerBytes(status: number, body: string, headers: Record<string, string> = {}): string {
  const all = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${status}\r\n${lines.join('')}\r\n${body}`;
}

function listen(listener: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(port, '127.0.0.1', () => {
      listener.off('error', reject);
      resolve((listener.address() as { port: number }).port);
    });
  });
}

/** Bytes that were written arrive before the reset does: a reset at once would take them back. */
function resetAfterWrite(socket: Socket): void {
  if (socket.writableLength === 0) setImmediate(() => socket.resetAndDestroy());
  else socket.once('drain', () => socket.resetAndDestroy());
}

function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write(' '), 20);
  socket.on('close', () => clearInterval(timer));
}

/** Requests of one connection, one after another; a body always has its length (it comes from our own client). */
async function* readRequests(socket: Socket): AsyncGenerator<{ path: string; body: string }> {
  let received = Buffer.alloc(0);
  try {
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer]);
      for (let end = received.indexOf('\r\n\r\n'); end !== -1; end = received.indexOf('\r\n\r\n')) {
        const head = received.toString('latin1', 0, end);
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
        if (received.length < end + 4 + length) break;
        const body = received.toString('utf8', end + 4, end + 4 + length);
        received = received.subarray(end + 4 + length);
        yield { path: head.split(' ')[1] ?? '/', body };
      }
    }
  } catch {
    // A connection that breaks off has no more requests.
  }
}

function readAsked(body: string, times: Map<string, number>): Asked {
  const { method, params, id } = JSON.parse(body) as Pick<Asked, 'method' | 'params' | 'id'>;
  const name = `${method} ${JSON.stringify(params)}`;
  const attempt = (times.get(name) ?? 0) + 1;
  times.set(name, attempt);
  return { method, params, id, name, attempt };
}

async function ask(
  url: string,
  { id, method, params }: Pick<Asked, 'id' | 'method' | 'params'>,
): Promise<string> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
  });
  return answer.text();
}
