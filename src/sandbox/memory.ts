import type { KeyTable } from './key-table.ts';

/** Answers made for a number and kept until they are forgotten. */
export interface Memory<T> {
  get(key: number): T;
  forget(): void;
}

/** Keeps the first `most` answers of `make`; others are made each time. */
export function createMemory<T>(make: (key: number) => T, most = 200): Memory<T> {
  const known = new Map<number, T>();
  return {
    get(key) {
      const kept = known.get(key);
      if (kept !== undefined) return kept;
      const made = make(key);
      if (known.size < most) known.set(key, made);
      return made;
    },
    forget: () => known.clear(),
  };
}

/** Keeps the base58 texts of keys that recur: the first 100,000, which take 10 MB. */
export function rememberTexts(text: (index: number) => string): (index: number) => string {
  return createMemory(text, 100_000).get;
}

/** Rows of a key table by the group each belongs to, ascending by key; made when first asked for. */
export function groupRows(
  keys: KeyTable,
  groups: number,
  groupOf: (index: number) => number,
  skip: (index: number) => boolean,
): { rows(group: number): Uint32Array; forget(): void } {
  let made: { starts: Uint32Array; all: Uint32Array } | null = null;
  const make = () => {
    const starts = new Uint32Array(groups + 2);
    const rows = keys.order().filter((index) => !skip(index));
    for (const index of rows) starts[groupOf(index) + 2]! += 1;
    for (let g = 2; g < starts.length; g += 1) starts[g]! += starts[g - 1]!;
    const all = new Uint32Array(rows.length);
    // While filling, starts[g + 1] is where group g goes on; afterwards it is where the group ends.
    for (const index of rows) all[starts[groupOf(index) + 1]!++] = index;
    return { starts, all };
  };
  return {
    rows(group) {
      made ??= make();
      if (group < 0) return new Uint32Array(0);
      return made.all.subarray(made.starts[group], made.starts[group + 1]);
    },
    forget() {
      made = null;
    },
  };
}
