import { createDraw, type Draw } from '../../support/random.ts';
import { type Call, JsonText, RawReply, startScriptedApi } from '../../support/scripted-api.ts';
import type { AssetList, ListParams } from './asset-list.ts';
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
  /** Whether it is a page without records. */
  empty: boolean;
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
  const api = await startScriptedApi({ sendsDate: false });
  api.setScript((call) => {
    count += 1;
    onRequest(count);
    if (!isCalm && draw.chance(faults)) return drawFault(draw);
    const { result, ...of } = answer(world, call);
    answered.push({ night, ...of });
    return new JsonText(result);
  });
  const ledgers = [...world.lists, ...world.feeds];
  return {
    url: api.url,
    answered,
    beginNight(listener) {
      night += 1;
      count = 0;
      onRequest = listener;
      for (const ledger of ledgers) ledger.sleep();
    },
    calm() {
      isCalm = true;
      for (const ledger of ledgers) ledger.calm();
    },
    close: api.close,
  };
}

/** @throws InvalidParams */
function answer(world: World, { operation, params }: Call): Answer {
  const asked = JSON.stringify(params);
  if (operation === 'getAssetBatch') {
    const result = lookUp(world, new Set(params.ids as string[]));
    return { result, list: null, asked, behind: false, empty: false };
  }
  if (operation === 'getAssetsByGroup') {
    const list = world.lists.find(({ collection }) => collection === params.groupValue)!;
    const { text, behind } = list.page(params as unknown as ListParams);
    return { result: text, list, asked, behind, empty: text.includes('"items":[]') };
  }
  const feed = world.feeds.find(({ address }) => address === params.address)!;
  const result = feed.page(params as unknown as FeedParams);
  return { result, list: null, asked, behind: false, empty: false };
}

/** Ids of several ledgers in one request: one look-up each; strangers are unknown. */
function lookUp({ lists }: World, asked: ReadonlySet<string>): string {
  const texts = lists.flatMap((list) => {
    const own = [...asked].filter((id) => list.has(id));
    return own.length === 0 ? [] : list.lookUp(own);
  });
  return `[${texts}]`;
}

function drawFault(draw: Draw): RawReply {
  if (draw.chance(0.1)) return new RawReply('{"error":{"code":-32429,"message":"Too many requests"}}', 429);
  return new RawReply('<html><title>Bad gateway</title></html>', draw.pick([500, 502, 503]), 'text/html');
}
