import { describe, expect, test } from 'vitest';
import { BoundsIgnored, RangesRefused } from '../../../src/crawl/crawl-task.ts';
import { compareIds } from '../../../src/crawl/record-keys.ts';
import { encodeId, splitIdSpace } from '../../../src/jobs/task.ts';
import type { PageLine } from '../../../src/landing/page-line.ts';
import { type Answer, newCrawl, newTask } from '../../support/crawl.ts';
import { idList, number, spreadIds } from './id-list.ts';

const ids = spreadIds(20);
const ranges = splitIdSpace(4);
const sortBy = { sortBy: 'id', sortDirection: 'asc' };
/** The nth of four ranges, from 1. */
const range = (n: number) => newTask('getAssetsByGroup', { params: { sortBy }, range: ranges[n - 1]! });

describe('a range of ids', () => {
  test.each([1, 2, 3, 4])('%d of 4 is walked upwards to its empty page', async (n) => {
    const crawl = await newCrawl(range(n), idList(ids));
    expect(await crawl.run()).toBe(null);
    const own = ids.slice((n - 1) * 5, n * 5);
    const { after, before } = ranges[n - 1]!;
    const bound = before === null ? {} : { before };
    const asked = (id: string | null) => ({
      sortBy,
      limit: 2,
      ...(id === null ? {} : { after: id }),
      ...bound,
    });
    expect(crawl.asked).toEqual([after, own[1]!, own[3]!, own[4]!].map(asked));
    const { last } = await crawl.landed();
    expect(await crawl.landed()).toMatchObject({ records: 5 });
    expect(last).toMatchObject({ end: 'exhausted', range: ranges[n - 1], records: 0 });
  });

  test('short pages are not its end, and cursors mean nothing', async () => {
    let page = 0;
    const crawl = await newCrawl(range(1), () => {
      page += 1;
      return { items: page > 3 ? [] : [{ id: ids[page]! }], cursor: 'same' };
    });
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.length).toBe(4);
  });

  test('goes on after its last id when it was stopped', async () => {
    const answer = idList(ids);
    const crawl = await newCrawl(range(2), (params, nth) =>
      nth === 3 ? new Error('broken') : answer(params, nth),
    );
    expect(await crawl.run()).not.toBe(null);
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.map(({ after }) => after)).toEqual([ranges[1]!.after, ids[6], ids[8], ids[8], ids[9]]);
    expect(await crawl.landed()).toMatchObject({ records: 5 });
  });

  test('a refused bound begins the range again', async () => {
    const crawl = await newCrawl(
      range(2),
      idList(ids, { refuses: (_, nth) => (nth === 3 ? 'Invalid pagination: `after` not found' : null) }),
    );
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.map(({ after }) => after).slice(2, 5)).toEqual([ids[8], ranges[1]!.after, ids[6]]);
  });
});

describe('a source that has no ranges is found out by a first page', () => {
  test.each<[string, number, Answer]>([
    ['that is refused', 1, idList(ids, { refuses: () => 'unknown parameter `sortBy`' })],
    ['below the range', 2, idList(ids, { ignores: ['after'] })],
    ['above the range', 1, idList(ids, { ignores: ['before', 'after'] }).bind(null)],
    ['in descending order', 2, idList(ids, { ignores: ['sortBy'] })],
    [
      'with one id in the middle out of order',
      1,
      () => ({ items: [1, 3, 2, 4].map((n) => ({ id: ids[n]! })) }),
    ],
  ])('%s', async (what, n, answer) => {
    const own = what === 'above the range' ? { ...range(n), pageSize: 10 } : range(n);
    const crawl = await newCrawl(own, answer);
    expect(await crawl.run()).toBeInstanceOf(RangesRefused);
    expect(crawl.asked.length).toBe(1);
    await expect(crawl.landed()).rejects.toThrow('nothing has landed');
  });
});

test('the first range sends `after` on its second page, and finds out there that it is ignored', async () => {
  const crawl = await newCrawl(range(1), idList(ids, { ignores: ['after'] }));
  expect(await crawl.run()).toBeInstanceOf(RangesRefused);
  expect(crawl.asked.length).toBe(2);
});

test('a source that keeps to `after` only is found out where a range ends', async () => {
  const crawl = await newCrawl(range(2), idList(ids, { ignores: ['before'] }));
  expect(await crawl.run()).toBeInstanceOf(RangesRefused);
  expect(crawl.asked.length).toBe(3);
});

test('a later page out of order fails the range: rows may be missing', async () => {
  const answer = idList(ids);
  const crawl = await newCrawl(range(2), (params, nth) =>
    nth === 3 ? { items: [{ id: ids[8]! }, { id: ids[7]! }] } : answer(params, nth),
  );
  expect(await crawl.run()).toBeInstanceOf(BoundsIgnored);
});

test('ids in `errors` are passed by, too', async () => {
  const crawl = await newCrawl(range(1), ({ after }) =>
    after === undefined
      ? { items: [{ id: ids[0]! }], errors: [{ id: ids[1]!, error: 'gone' }] }
      : { items: [] },
  );
  expect(await crawl.run()).toBe(null);
  expect(crawl.asked.map(({ after }) => after)).toEqual([undefined, ids[1], ids[1]]);
  expect(((await crawl.landed()).first as PageLine).last_key).toBe(ids[1]);
});

test('base58 compares like the numbers it stands for, whatever its length', () => {
  const numbers = [
    0n,
    1n,
    57n,
    58n,
    255n,
    256n,
    2n ** 64n,
    2n ** 248n - 1n,
    2n ** 248n,
    2n ** 255n,
    2n ** 256n - 1n,
  ];
  const texts = numbers.map(encodeId);
  expect(texts.map(number)).toEqual(numbers);
  for (const [n, a] of texts.entries())
    for (const [m, b] of texts.entries()) expect(Math.sign(compareIds(a, b))).toBe(Math.sign(n - m));
});
