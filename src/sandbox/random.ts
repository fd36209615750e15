/**
 * Randomness without state: everything the sandbox invents is a function of (seed, stream, index), so a
 * record can be made on demand, and a million of them need no memory.
 */

/** MurmurHash3's finalizer: a bijection on 32-bit words that spreads neighbours over the whole range. */
function mix(word: number): number {
  let mixed = word ^ (word >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

function hashName(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return mix(hash);
}

/** Maps an index to a 32-bit unsigned word. Different indexes always give different words. */
export type HashStream = (index: number) => number;

/** The stream called `name` of a seed: two streams of one seed have nothing to do with each other. */
export function hashStream(seed: number, name: string): HashStream {
  const low = mix((hashName(name) ^ seed) | 0);
  const key = mix(low + Math.trunc(seed / 2 ** 32) + 0x9e3779b9);
  const twist = mix(key ^ 0x6a09e667);
  return (index) => mix((mix(index ^ key) + twist) | 0) >>> 0;
}

/** A small sequence of random values that starts from one word (mulberry32). */
export class Random {
  #state: number;
  /** Whether what it generates may be odd (`WorldOptions.quirks`). */
  readonly quirks: boolean;

  constructor(word: number, quirks = false) {
    this.#state = word | 0;
    this.quirks = quirks;
  }

  /** An integer from 0 to 2^32 - 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let word = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return (word ^ (word >>> 14)) >>> 0;
  }

  /** An integer from 0 to `count` - 1. */
  below(count: number): number {
    return Math.floor((this.next() / 2 ** 32) * count);
  }

  /** True once in `count` times. */
  oneIn(count: number): boolean {
    return this.below(count) === 0;
  }

  /** True once in `count` times where quirks are on; where they are off, no value is drawn. */
  quirk(count: number): boolean {
    return this.quirks && this.oneIn(count);
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  /** An exact integer from 0 to 2^64 - 1. */
  u64(): bigint {
    return (BigInt(this.next()) << 32n) | BigInt(this.next());
  }
}

/** An index below `count` that favours the small ones: `power` 1 is even, 3 makes the first few big. */
export function skewed(word: number, count: number, power: number): number {
  return Math.floor((word / 2 ** 32) ** power * count);
}
