import { expect, test } from 'vitest';
import { parseDuration } from '../../src/duration.ts';

test.each([
  ['90s', 90_000],
  ['30m', 1_800_000],
  ['1h30m', 5_400_000],
  ['2d', 172_800_000],
  ['1w', 604_800_000],
  ['1d1s', 86_401_000],
])('%s', (text, ms) => expect(parseDuration(text)).toBe(ms));

test.each(['', '0', '0s', '5', 'h', '5 h', '-1h', '1.5h', '30m1h', '1h1h', '9999999s', '1hour'])(
  'no duration: "%s"',
  (text) => expect(parseDuration(text)).toBe(null),
);
