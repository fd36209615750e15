import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase58, encodeBase58 } from '../../../src/sandbox/base58.ts';

test('known addresses have their known bytes', () => {
  expect(encodeBase58(new Uint8Array(32))).toBe('1'.repeat(32));
  expect(
    Buffer.from(decodeBase58('So11111111111111111111111111111111111111112', 32) as Uint8Array).toString(
      'hex',
    ),
  ).toBe('069b8857feab8184fb687f634618c035dac439dc1aeb3b5598a0f00000000001');
});

test('every 32 or 64 bytes come back as they were', () => {
  const bytes = fc.constantFrom(32, 64).chain((n) => fc.uint8Array({ minLength: n, maxLength: n }));
  fc.assert(
    fc.property(bytes, (some) => {
      expect(decodeBase58(encodeBase58(some), some.length)).toEqual(some);
    }),
  );
});

test('what is no key of that length is refused', () => {
  for (const text of [
    '',
    '0',
    'l'.repeat(44),
    '1'.repeat(31),
    '1'.repeat(33),
    'z'.repeat(44),
    'z'.repeat(100),
  ]) {
    expect(decodeBase58(text, 32)).toBeNull();
  }
});
