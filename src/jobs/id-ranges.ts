const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** Ids are 32 bytes. */
const idCount = 1n << 256n;

/** One of `count` ranges that tile the id space. Bounds are ids, exclusive; null where the space ends. */
export interface IdRange {
  /** From 1. */
  number: number;
  count: number;
  after: string | null;
  before: string | null;
}

/**
 * Tiles the id space with ranges of one size (ids are uniform: API notes, "Lists"). Every id is in exactly one: the
 * first that a range does not hold is the first of the next.
 */
export function splitIdSpace(count: number): IdRange[] {
  const starts = Array.from({ length: count + 1 }, (_, n) => (idCount * BigInt(n)) / BigInt(count));
  return starts.slice(0, -1).map((start, n) => ({
    number: n + 1,
    count,
    after: n === 0 ? null : encodeId(start - 1n),
    before: n === count - 1 ? null : encodeId(starts[n + 1]!),
  }));
}

/** Base58 of a number of 32 bytes: a leading zero byte is a `1`, the others are its digits. */
export function encodeId(id: bigint): string {
  const bytes = id.toString(16).padStart(64, '0');
  const zeros = /^(00)*/.exec(bytes)![0].length / 2;
  let digits = '';
  for (let rest = id; rest > 0n; rest /= 58n) digits = alphabet.charAt(Number(rest % 58n)) + digits;
  return '1'.repeat(zeros) + digits;
}
