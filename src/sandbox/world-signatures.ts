import { startSlot } from './asset-traits.ts';
import { countBefore, createKeyTable, type KeyTable } from './key-table.ts';
import { hashStream, Random } from './random.ts';

/** One transaction that used the compression program. */
export interface SignatureItem {
  signature: string;
  slot: number;
  /** Unix seconds. */
  blockTime: number;
}

/** Some signatures, oldest first by (slot, signature bytes). */
export interface SignatureList {
  readonly size: number;
  /** The item at a position of the list. */
  at(position: number): SignatureItem;
  /** How many items of the list come before (slot, signature). */
  countBefore(slot: number, signature: Uint8Array): number;
}

/** The feed of all signatures; several share a slot. They are numbered from 0 in the order of their slots. */
export interface WorldSignatures extends SignatureList {
  readonly keys: KeyTable;
  slotOf(number: number): number;
  /** The item with a number. */
  item(number: number): SignatureItem;
  /** The list of the signatures with these numbers, which may be in any order. */
  listOf(numbers: Iterable<number>): SignatureList;
  /** Adds about a hundredth of the initial signatures, with slots from `slotAt`. */
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
  const append = (added: number[]) => {
    const first = slots.length;
    slots.push(...added.sort((a, b) => a - b));
    feed.push(...added.map((_, n) => first + n).sort(bySlotThenKey));
    keys.grow(added.length);
  };
  append(firstSlots(new Random(tickWords(0)), count));
  const item = (number: number) => {
    const slot = slots[number] as number;
    return { signature: keys.text(number), slot, blockTime: blockTimeOf(slot) };
  };
  const isBefore = (number: number, slot: number, signature: Uint8Array) =>
    slots[number] === slot
      ? keys.countBelow(Uint32Array.of(number), signature, false) === 1
      : slots[number]! < slot;
  const list = (numbers: readonly number[]): SignatureList => ({
    get size() {
      return numbers.length;
    },
    at: (position) => item(numbers[position] as number),
    countBefore: (slot, signature) =>
      countBefore(numbers.length, (position) => isBefore(numbers[position] as number, slot, signature)),
  });
  return Object.assign(list(feed), {
    keys,
    item,
    slotOf: (number: number) => slots[number] as number,
    listOf: (numbers: Iterable<number>) => list([...numbers].sort(bySlotThenKey)),
    tick(ticks: number, slotAt: (random: Random) => number) {
      const random = new Random(tickWords(ticks));
      append(Array.from({ length: Math.ceil(count / 100) }, () => slotAt(random)));
    },
  });
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
