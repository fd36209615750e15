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
