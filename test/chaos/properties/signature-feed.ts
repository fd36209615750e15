import { createDraw, drawAddress } from '../../support/random.ts';
import { createCursors } from './cursors.ts';
import { createReplicas } from './replicas.ts';

export interface FeedParams {
  limit: number;
  cursor?: string;
}

export interface Signature {
  signature: string;
  slot: number;
}

/** The signatures of one address, newest first; they grow with every request for them. */
export interface SignatureFeed {
  readonly seed: number;
  readonly address: string;
  /** Everything there is, in feed order. */
  all(): readonly Signature[];
  /** One answer to getCompressionSignaturesForAddress, as the text of its `result`. @throws InvalidParams */
  page(params: FeedParams): string;
  sleep(): void;
  calm(): void;
  now(): number;
  readonly trace: readonly string[];
}

/** Slot every feed begins at. */
export const feedStart = 1000;

/** Shares of answers that come from a replica that is behind. */
const feedLag = [0, 0, 0.1, 0.3];

export function createSignatureFeed(seed: number): SignatureFeed {
  const draw = createDraw(seed * 2 + 1);
  const replicas = createReplicas(draw, feedStart, feedLag);
  const cursors = createCursors(draw, replicas);
  const address = drawAddress(draw);
  /** Most signatures of a slot: some slots take several pages. */
  const busiest = draw.pick([1, 3, 12]);
  const busy = draw.pick([0.2, 0.7]);
  const all: Signature[] = [];
  const trace: string[] = [];
  const move = () => {
    if (!replicas.step() || !draw.chance(busy)) return;
    for (let n = draw.between(1, busiest); n > 0; n -= 1)
      all.push({ signature: draw.base58(88), slot: replicas.now() });
    all.sort(newestFirst);
  };
  for (let n = draw.pick([0, 5, 40]); n > 0; n -= 1) move();
  return {
    ...{ seed, address, trace },
    all: () => all,
    page({ limit, cursor }) {
      move();
      const slot = replicas.answerAt();
      trace.push(
        `at ${replicas.now()}, as of ${slot}: ${cursor === undefined ? 'head' : `below ${cursor.slice(0, 12)}`}`,
      );
      const [below] = cursor === undefined ? [] : [readPlace(cursors.read(cursor))];
      const items = all
        .filter((item) => item.slot <= slot && (below === undefined || newestFirst(below, item) < 0))
        .slice(0, limit);
      trace.push(`  ${items.map((item) => item.slot).join(' ')}`);
      const next = items.length < limit ? null : cursors.write(writePlace(items.at(-1)!));
      const value = {
        items: items.map((item) => ({ ...item, blockTime: 1_700_000_000 + item.slot })),
        cursor: next,
      };
      return JSON.stringify({ context: { slot }, value });
    },
    sleep() {
      cursors.sleep();
      for (let n = draw.between(0, 12); n > 0; n -= 1) move();
    },
    calm: replicas.calm,
    now: replicas.now,
  };
}

function newestFirst(a: Signature, b: Signature): number {
  return b.slot - a.slot || (a.signature < b.signature ? 1 : a.signature > b.signature ? -1 : 0);
}

function writePlace({ slot, signature }: Signature): string {
  return `${slot}:${signature}`;
}

function readPlace(place: string): Signature {
  const [slot, signature] = place.split(':');
  return { slot: Number(slot), signature: signature! };
}
