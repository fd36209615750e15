import { startSlot } from './asset-traits.ts';
import { countBefore } from './binary-search.ts';
import { createKeyTable, type KeyTable } from './key-table.ts';
import { hashStream, Random } from './random.ts';

/** One transaction that used the compression program. */
export interface SignatureItem {
  signature: string;
  slot: number;
  /** Unix seconds. */
  blockTime: number;
}

/** The feed of signatures, oldest first by (slot, signature bytes); several share a slot. */
export interface WorldSignatures {
  readonly size: number;
  readonly keys: KeyTable;
  /** The item at a position of the feed. */
  at(position: number): SignatureItem;
  /** How many items of the feed come before (slot, signature). */
  countBefore(slot: number, signature: Uint8Array): number;
  /** Adds about a hundredth of what is there, with slots from `slotAt`. */
  tick(ticks: number, slotAt: (random: Random) => number): void;
}

/** Two days of slots at 0.4 s, so that a feed job with `since: 1d` reads about half. */
const feedSlots = 432_000;
/** Block time of the start slot: 2026-01-01T00:00:00Z. */
const startTime = 1_767_225_600;

/** Block time of a slot, in Unix seconds. */
export function blockTimeOf(slot: number): number {
  return startTime + Math.floor((slot - startSlot) * 0.4);
}

export function createWorldSignatures(seed: number, count: number): WorldSignatures {
  const keys = createKeyTable(seed, 'signature', 0, 64);
  const tickWords = hashStream(seed, 'signature-tick');
  const slots: number[] = [];
  const feed: number[] = [];
  const bySlotThenKey = (a: number, b: number) => slots[a]! - slots[b]! || keys.rank(a) - keys.rank(b);
  const append = (some: number[]) => {
    const first = slots.length;
    slots.push(...some);
    feed.push(...some.map((_, n) => first + n).sort(bySlotThenKey));
    keys.grow(some.length);
  };
  append(firstSlots(new Random(tickWords(0)), count));
  return {
    get size() {
      return feed.length;
    },
    keys,
    at(position) {
      const index = feed[position] as number;
      const slot = slots[index] as number;
      return { signature: keys.text(index), slot, blockTime: blockTimeOf(slot) };
    },
    countBefore: (slot, signature) =>
      countBefore(feed.length, (position) => {
        const index = feed[position] as number;
        if (slots[index] !== slot) return slots[index]! < slot;
        return keys.countBelow(Uint32Array.of(index), signature, false) === 1;
      }),
    tick(ticks, slotAt) {
      const random = new Random(tickWords(ticks));
      const more = Math.ceil(count / 100);
      append(Array.from({ length: more }, () => slotAt(random)));
    },
  };
}

/** Slots for `count` signatures, in groups of one to five that share one. */
function firstSlots(random: Random, count: number): number[] {
  const slots: number[] = [];
  while (slots.length < count) {
    const slot = startSlot - 1 - random.below(feedSlots);
    const sharing = Math.min(1 + random.below(5), count - slots.length);
    for (let n = 0; n < sharing; n += 1) slots.push(slot);
  }
  return slots;
}
