import { level } from '../bars.ts';

/** A stream of numbers in [0, 1) that its seed decides (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What `make test` plays every time, so that a test that fails was broken by the change. */
const usualSeed = 2_006_390_465;

/** The day, and room for the seeds that follow it: no day plays what the day before did. */
const seedOfToday = Math.floor(Date.now() / 86_400_000) * 20_011;

/**
 * The seed of this test run: LEDGERLAKE_SEED, else always the same in `make test`, the day's in `make test-daily`, and a new one in
 * `make test-release`. The test prints it.
 */
export function readSeed(): number {
  const given = process.env.LEDGERLAKE_SEED;
  if (given !== undefined && given !== '') return Number(given);
  const seeds = { test: usualSeed, daily: seedOfToday, release: Math.floor(Math.random() * 2 ** 31) };
  return seeds[level];
}

/** Draws that one seed decides, in the order they are asked for. */
export interface Draw {
  /** True in this share of the cases. */
  chance(share: number): boolean;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  pick<T>(items: readonly T[]): T;
  /** Base58 text, as addresses and signatures are. */
  base58(length: number): string;
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

export function createDraw(seed: number): Draw {
  const random = createRandom(seed);
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1));
  return {
    chance: (share) => random() < share,
    between,
    pick: (items) => items[between(0, items.length - 1)]!,
    base58: (length) => Array.from({ length }, () => alphabet[between(0, 57)]).join(''),
  };
}

/** An address of 32 bytes: 44 characters, so that the order of the texts is the order of the bytes. */
export function drawAddress(draw: Draw): string {
  return alphabet[draw.between(1, 15)] + draw.base58(43);
}
