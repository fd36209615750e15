import type { KeyTable } from './key-table.ts';

/** A cache of values by number. */
export interface Memory<T> {
  get(key: number): T;
  forget(): void;
}

/** Caches the first `max` values of `make`; others are made each time. */
export function createMemory<T>(make: (key: number) => T, max = 200): Memory<T> {
  const cache = new Map<number, T>();
  return {
    get(key) {
      const cached = cache.get(key);
      if (cached !== undefined) return cached;
      const value = make(key);
      if (cache.size < max) cache.set(key, value);
      return value;
    },
    forget: () => cache.clear(),
  };
}

/** Keeps the base58 texts of keys that recur: the first 100,000, which take 10 MB. */
export function rememberTexts(text: (index: number) => string): (index: number) => string {
  return createMemory(text, 100_000).get;
}

/** Rows of a key table by the group each belongs to, ascending by key; computed on first use. */
export function groupRows(
  keys: KeyTable,
  groups: number,
  groupOf: (index: number) => number,
  skip: (index: number) => boolean,
): { rows(group: number): Uint32Array; forget(): void } {
  let grouped: { starts: Uint32Array; all: Uint32Array } | null = null;
  const make = () => {
    const starts = new Uint32Array(groups + 2);
    const rows = keys.order().filter((index) => !skip(index));
    for (const index of rows) starts[groupOf(index) + 2]! += 1;
    for (let g = 2; g < starts.length; g += 1) starts[g]! += starts[g - 1]!;
    const all = new Uint32Array(rows.length);
    // While filling, starts[g + 1] is the next position of group g; afterwards it is the end of the group.
    for (const index of rows) all[starts[groupOf(index) + 1]!++] = index;
    return { starts, all };
  };
  return {
    rows(group) {
      grouped ??= make();
      if (group < 0) return new Uint32Array(0);
      return grouped.all.subarray(grouped.starts[group], grouped.starts[group + 1]);
    },
    forget() {
      grouped = null;
    },
  };
}
