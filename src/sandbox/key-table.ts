import { decodeBase58, encodeBase58 } from './base58.ts';
import { type HashStream, hashStream } from './random.ts';

/**
 * The keys (addresses or signatures) of one kind of thing, numbered from 0. Nothing is stored but their
 * order: a key's bytes are a function of (seed, name, index). Its first word differs for every index
 * (a hash stream is a bijection), so that word alone decides the order of two keys of one table.
 */
export interface KeyTable {
  readonly size: number;
  /** The key of an index in base58; indexes beyond the size have keys, too. */
  text(index: number): string;
  /** The key of an index as it is hashed and compared. */
  bytes(index: number): Uint8Array;
  /** The index of a base58 key, or -1. */
  find(text: string): number;
  /** All indexes, ascending by the bytes of their keys. */
  order(): Uint32Array;
  /** How many of `rows` (indexes ascending by key) have a key below `bytes`, or up to and with it. */
  countBelow(rows: Uint32Array, bytes: Uint8Array, inclusive: boolean): number;
  /** The first 32 bits of a key, which order it within the table. */
  rank(index: number): number;
  /** Adds `count` keys with the next indexes. */
  grow(count: number): void;
}

/** @param byteLength 32 for addresses, 64 for signatures */
export function createKeyTable(seed: number, name: string, size: number, byteLength = 32): KeyTable {
  const words = Array.from({ length: byteLength / 4 }, (_, w) => hashStream(seed, `key:${name}:${w}`));
  const rank = words[0] as HashStream;
  let count = size;
  let sorted: Uint32Array | null = null;
  const order = () => {
    sorted ??= sortBy(count, rank);
    return sorted;
  };
  const countBelow = (rows: Uint32Array, bytes: Uint8Array, inclusive: boolean) =>
    countBefore(rows.length, (n) => compareKey(words, rows[n] as number, bytes) < (inclusive ? 1 : 0));
  return {
    get size() {
      return count;
    },
    text: (index) => encodeBase58(keyBytes(words, index)),
    bytes: (index) => keyBytes(words, index),
    find(text) {
      const bytes = decodeBase58(text, byteLength);
      if (bytes === null) return -1;
      const index = order()[countBelow(order(), bytes, false)];
      return index !== undefined && compareKey(words, index, bytes) === 0 ? index : -1;
    },
    order,
    countBelow,
    rank,
    grow(more) {
      count += more;
      sorted = null;
    },
  };
}

function keyBytes(words: readonly HashStream[], index: number): Uint8Array {
  const bytes = new Uint8Array(words.length * 4);
  const view = new DataView(bytes.buffer);
  for (let w = 0; w < words.length; w += 1) view.setUint32(w * 4, (words[w] as HashStream)(index));
  return bytes;
}

function compareKey(words: readonly HashStream[], index: number, bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let w = 0; w < words.length; w += 1) {
    const difference = (words[w] as HashStream)(index) - view.getUint32(w * 4);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * The numbers 0 to `count` - 1, ascending by `weight` (32 bits), then by themselves. The native sort of
 * 64-bit words made of weight and number takes a tenth of the time of a sort with a comparator.
 */
export function sortBy(count: number, weight: (n: number) => number): Uint32Array {
  const halves = new Uint32Array(count * 2);
  for (let n = 0; n < count; n += 1) {
    halves[n * 2] = n;
    halves[n * 2 + 1] = weight(n);
  }
  // Little-endian, as every platform Node runs on: the second half is the high one.
  new BigUint64Array(halves.buffer).sort();
  const sorted = new Uint32Array(count);
  for (let n = 0; n < count; n += 1) sorted[n] = halves[n * 2] as number;
  return sorted;
}

/** Binary search: how many positions, of 0 to `length` - 1, are before; these must all come first. */
export function countBefore(length: number, isBefore: (position: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
