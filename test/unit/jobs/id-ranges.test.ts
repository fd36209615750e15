import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeId, splitIdSpace } from '../../../src/jobs/task.ts';
import { encodeBase58 } from '../../../src/sandbox/base58.ts';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const number = (id: string) =>
  [...id].reduce((sum, digit) => sum * 58n + BigInt(alphabet.indexOf(digit)), 0n);
const bytesOf = (id: bigint) => Buffer.from(id.toString(16).padStart(64, '0'), 'hex');
const most = 2n ** 256n - 1n;
const anyId = fc.oneof(fc.bigInt(0n, most), fc.bigInt(0n, 2n ** 64n), fc.bigInt(most - 2n ** 64n, most));

test('ids are written as the ledger writes them', () => {
  fc.assert(fc.property(anyId, (id) => encodeId(id) === encodeBase58(bytesOf(id))));
  expect([encodeId(0n), encodeId(most)]).toEqual([
    '11111111111111111111111111111111',
    'JEKNVnkbo3jma5nREBBJCDoXFVeKkD56V3xKrvRmWxFG',
  ]);
});

test('every id is in exactly one range, whatever the count', () => {
  const bound = (id: string | null) => (id === null ? null : number(id));
  const holds = (id: bigint) => (range: { after: bigint | null; before: bigint | null }) =>
    (range.after === null || id > range.after) && (range.before === null || id < range.before);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 256 }), anyId, (count, id) => {
      const ranges = splitIdSpace(count).map(({ after, before }) => ({
        after: bound(after),
        before: bound(before),
      }));
      expect(ranges.filter(holds(id)).length).toBe(1);
      // The ids beside a bound are where one could fall between two ranges, or into both.
      const { after, before } = ranges[Number(id % BigInt(count))]!;
      const bounds = [after, before].filter((bound) => bound !== null);
      for (const beside of bounds.flatMap((bound) => [bound - 1n, bound, bound + 1n]))
        expect(ranges.filter(holds(beside)).length).toBe(1);
    }),
    { numRuns: 500 },
  );
});

test('the first range has no lower bound, the last no upper one; they are numbered and of one size', () => {
  expect(splitIdSpace(1)).toEqual([{ number: 1, count: 1, after: null, before: null }]);
  expect(splitIdSpace(2)).toEqual([
    { number: 1, count: 2, after: null, before: encodeId(2n ** 255n) },
    { number: 2, count: 2, after: encodeId(2n ** 255n - 1n), before: null },
  ]);
});
