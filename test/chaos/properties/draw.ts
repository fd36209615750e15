import { createRandom } from '../crash/random.ts';

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
