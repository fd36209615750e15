import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDraw, type Draw } from '../../support/random.ts';
import { Refused } from '../properties/refused.ts';
import type { Ledger } from './ledger.ts';
import { answer, type Manner, type Params } from './ledger-answers.ts';

/** What an API does to its callers for a while. Shares of requests. */
export interface Weather {
  /** The ledger changes before the answer. */
  moves: number;
  /** The answer comes from a replica that is behind. */
  lags: number;
  /** 503 instead of an answer. */
  fails: number;
}

export const calm: Weather = { moves: 0, lags: 0, fails: 0 };

export function isCalm({ moves, lags, fails }: Weather): boolean {
  return moves + lags + fails === 0;
}

/** One answer with records. */
export interface Answered {
  method: string;
  params: Params;
  /** Whether it came from a replica that is behind. */
  behind: boolean;
}

/** The API of one ledger, on loopback. */
export interface LedgerServer {
  url: string;
  /** Oldest first. */
  readonly answered: readonly Answered[];
  /** Requests so far, also those that failed. */
  requests(): number;
  /** A command begins: until it ends, this is the weather. */
  beginNight(weather: Weather): void;
  close(): Promise<void>;
}

export async function startLedgerServer(ledger: Ledger, manner: Manner, seed: number): Promise<LedgerServer> {
  const draw = createDraw(seed);
  const answered: Answered[] = [];
  let weather = calm;
  let requests = 0;
  let night = 0;
  const server = createServer(async (request, response) => {
    // The tests move the clock of the program, and answers would tell the time.
    response.sendDate = false;
    const { id, method, params } = await readCall(request);
    requests += 1;
    if (draw.chance(weather.fails)) return void response.writeHead(503).end('busy');
    if (draw.chance(weather.moves)) ledger.change(draw, draw.between(1, 2));
    const state = drawState(draw, ledger, weather);
    try {
      const result = answer(method, params, { state, manner, night });
      answered.push({ method, params, behind: state.slot < ledger.now().slot });
      send(response, id, `"result":${result}`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      send(response, id, `"error":${JSON.stringify({ code: -32602, message: error.message })}`);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answered,
    requests: () => requests,
    beginNight(now) {
      weather = now;
      night += 1;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** The newest state, or that of a replica that is some slots behind. */
function drawState(draw: Draw, ledger: Ledger, { lags }: Weather) {
  const newest = ledger.now();
  if (!draw.chance(lags)) return newest;
  return ledger.at(newest.slot - draw.pick([1, 3, 40]));
}

async function readCall(request: IncomingMessage): Promise<{ id: unknown; method: string; params: Params }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

function send(response: ServerResponse, id: unknown, said: string): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${said}}`);
}
