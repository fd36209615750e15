import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AssetList, ListParams } from './asset-list.ts';
import { createDraw, type Draw } from './draw.ts';
import type { FeedParams, SignatureFeed } from './signature-feed.ts';

/** A request that was answered with records. */
export interface Answered {
  night: number;
  seed: number;
  method: string;
  cursor: string | null;
  /** A replica that is behind answered: it may have been asked again. */
  isBehind: boolean;
}

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
    const call = await readCall(request);
    count += 1;
    onRequest(count);
    if (!isCalm && draw.chance(faults)) return fail(draw, response);
    const { result, seed: of } = answer(world, call);
    const { cursor = null } = call.params as { cursor?: string };
    const slot = Number(/"last_indexed_slot":(\d+)/.exec(result)?.[1]);
    for (const target of of) {
      const now = world.lists.find((list) => list.seed === target)?.now() ?? slot;
      answered.push({ night, seed: target, method: call.method, cursor, isBehind: slot < now });
    }
    send(response, 200, `{"jsonrpc":"2.0","id":${JSON.stringify(call.id)},"result":${result}}`);
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

function answer(world: World, { method, params }: Call): { result: string; seed: number[] } {
  if (method === 'getAssetBatch') return answerBatch(world, params.ids as string[]);
  if (method === 'getAssetsByGroup') {
    const list = world.lists.find(({ collection }) => collection === params.groupValue)!;
    return { result: list.page(params as unknown as ListParams), seed: [list.seed] };
  }
  const feed = world.feeds.find(({ address }) => address === params.address)!;
  return { result: feed.page(params as unknown as FeedParams), seed: [feed.seed] };
}

/** Ids of several ledgers in one request: one look-up each. */
function answerBatch({ lists }: World, ids: readonly string[]): { result: string; seed: number[] } {
  const asked = new Set(ids);
  const found = lists
    .map((list) => ({ list, own: [...asked].filter((id) => list.has(id)) }))
    .filter(({ own }) => own.length > 0);
  const texts = found.flatMap(({ list, own }) => list.lookUp(own));
  return { result: `[${texts}]`, seed: found.map(({ list }) => list.seed) };
}

function fail(draw: Draw, response: ServerResponse): void {
  if (draw.chance(0.1)) send(response, 429, '{"error":{"code":-32429,"message":"Too many requests"}}');
  else send(response, draw.pick([500, 502, 503]), '<html><title>Bad gateway</title></html>');
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': status === 200 ? 'application/json' : 'text/html' });
  response.end(body);
}
