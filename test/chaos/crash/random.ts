import { isNightly } from '../../bars.ts';

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

/** The seed of this test run: LEDGERLAKE_SEED, else in the nightly run a new one, else always the same. The test prints it. */
export function readSeed(): number {
  const given = process.env.LEDGERLAKE_SEED;
  if (given !== undefined && given !== '') return Number(given);
  return isNightly ? Math.floor(Math.random() * 2 ** 31) : usualSeed;
}
