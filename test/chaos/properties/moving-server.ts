import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDraw, type Draw } from '../../support/random.ts';
import type { AssetList, ListParams } from './asset-list.ts';
import { Refused } from './refused.ts';
import type { FeedParams, SignatureFeed } from './signature-feed.ts';

/** An answer with records. */
interface Answer {
  result: string;
  /** The list it was of; null: another operation, or of several lists. */
  list: AssetList | null;
  /** What of the list it was asked for. */
  asked: string;
  /** Whether it came from a replica that is behind. */
  behind: boolean;
}

export type Answered = Omit<Answer, 'result'> & { night: number };

/** The API of some moving ledgers, on loopback. */
export interface MovingServer {
  url: string;
  readonly answered: readonly Answered[];
  /** A night begins: time has passed, and the requests are counted anew. */
  beginNight(onRequest: (count: number) => void): void;
  calm(): void;
  close(): Promise<void>;
}

interface Call {
  id: unknown;
  method: string;
  params: Record<string, unknown>;
}

export interface World {
  lists: readonly AssetList[];
  feeds: readonly SignatureFeed[];
}

/** @param faults share of requests that fail with a status that passes by itself */
export async function startMovingServer(world: World, seed: number, faults: number): Promise<MovingServer> {
  const answered: Answered[] = [];
  const draw = createDraw(seed);
  let night = 0;
  let count = 0;
  let isCalm = false;
  let onRequest: (count: number) => void = () => {};
  const server = createServer(async (request, response) => {
    // The tests move the clock of the program, and answers would tell the time.
    response.sendDate = false;
    const call = await readCall(request);
    count += 1;
    onRequest(count);
    if (!isCalm && draw.chance(faults)) return fail(draw, response);
    const id = JSON.stringify(call.id);
    try {
      const { result, ...of } = answer(world, call);
      answered.push({ night, ...of });
      send(response, 200, `{"jsonrpc":"2.0","id":${id},"result":${result}}`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const refusal = { code: -32602, message: error.message };
      send(response, 200, `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(refusal)}}`);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const ledgers = [...world.lists, ...world.feeds];
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answered,
    beginNight(told) {
      night += 1;
      count = 0;
      onRequest = told;
      for (const ledger of ledgers) ledger.sleep();
    },
    calm() {
      isCalm = true;
      for (const ledger of ledgers) ledger.calm();
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function readCall(request: IncomingMessage): Promise<Call> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Call;
}

/** @throws Refused */
function answer(world: World, { method, params }: Call): Answer {
  const asked = JSON.stringify(params);
  if (method === 'getAssetBatch') {
    const result = lookUp(world, new Set(params.ids as string[]));
    return { result, list: null, asked, behind: false };
  }
  if (method === 'getAssetsByGroup') {
    const list = world.lists.find(({ collection }) => collection === params.groupValue)!;
    const { text, behind } = list.page(params as unknown as ListParams);
    return { result: text, list, asked, behind };
  }
  const feed = world.feeds.find(({ address }) => address === params.address)!;
  return { result: feed.page(params as unknown as FeedParams), list: null, asked, behind: false };
}

/** Ids of several ledgers in one request: one look-up each; strangers are unknown. */
function lookUp({ lists }: World, asked: ReadonlySet<string>): string {
  const texts = lists.flatMap((list) => {
    const own = [...asked].filter((id) => list.has(id));
    return own.length === 0 ? [] : list.lookUp(own);
  });
  return `[${texts}]`;
}

function fail(draw: Draw, response: ServerResponse): void {
  if (draw.chance(0.1)) send(response, 429, '{"error":{"code":-32429,"message":"Too many requests"}}');
  else send(response, draw.pick([500, 502, 503]), '<html><title>Bad gateway</title></html>');
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': status === 200 ? 'application/json' : 'text/html' });
  response.end(body);
}
