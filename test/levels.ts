import { test } from 'vitest';
import { level } from './bars.ts';

/** A test from `make test-daily` on: a second witness of what another test shows, or one that takes long. Like `test`. */
export const daily = test.runIf(level !== 'test');

/** A test of `make test-release` only. Like `test`. */
export const release = test.runIf(level === 'release');

/** Cases of a test: the first so many in `make test`, all of them from `make test-daily` on. */
export function firstOf<T>(count: number, cases: readonly T[]): readonly T[] {
  return level === 'test' ? cases.slice(0, count) : cases;
}
