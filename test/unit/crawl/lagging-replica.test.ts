import { describe, expect, test } from 'vitest';
import { hashContent } from '../../../src/landing/render-page.ts';
import { splitPage } from '../../../src/landing/split.ts';
import { assets, ceilingAbove, cursorList, newCrawl, newTask, type Params } from '../../support/crawl.ts';

const list = () => newTask('getAssetsByGroup', { params: { groupKey: 'collection' } });
/** Answers as `list` does at these slots, request by request; the last one stays. */
const atSlots =
  (slots: readonly number[], count: number) =>
  (params: Params, nth: number): unknown =>
    cursorList(count, slots[Math.min(nth, slots.length) - 1])(params, nth);
/** What the first page holds whenever it is asked for. */
const firstPage = Buffer.from(JSON.stringify(assets(0, 2)));
const firstContent = hashContent(splitPage(firstPage, { path: [], form: 'array' }).records);
const goal = { lastCompleteSlot: 100, firstContent, seenSlot: 110, coveredSlot: null };

describe('the first page of a list, below what the source was seen at', () => {
  test('is asked for again; the first answer that is not behind is gone on from', async () => {
    const crawl = await newCrawl(list(), atSlots([90, 100, 120], 3));
    expect(await crawl.run({ goal })).toBe(null);
    expect(crawl.asked.map(({ cursor }) => cursor)).toEqual([undefined, undefined, undefined, '2', '3']);
    expect(await crawl.landed()).toMatchObject({ records: 3, minSlot: 120, first: { slot: 120 } });
  });

  test('three times in all; then it is gone on from, and ends nothing', async () => {
    const crawl = await newCrawl(list(), atSlots([90], 3));
    expect(await crawl.run({ goal })).toBe(null);
    expect(crawl.asked.map(({ cursor }) => cursor)).toEqual([undefined, undefined, undefined, '2', '3']);
    expect((await crawl.landed()).last).toMatchObject({ end: 'exhausted' });
  });

  test('at a slot where the last crawl was all the time nothing has changed', async () => {
    const crawl = await newCrawl(list(), atSlots([100], 3));
    expect(await crawl.run({ goal: { ...goal, seenSlot: 100 } })).toBe(null);
    // The run's first answer has no witness, so it is asked for again.
    expect(crawl.asked.length).toBe(2);
    expect((await crawl.landed()).last).toMatchObject({ end: 'unchanged' });
  });

  test('where only a replica stands still, the list is crawled', async () => {
    const first = await newCrawl(list(), atSlots([100, 120], 3));
    expect(await first.run({ goal: { ...goal, seenSlot: 100 } })).toBe(null);
    expect(await first.landed()).toMatchObject({ records: 3, minSlot: 120, last: { end: 'exhausted' } });
    for (const [newest, end, requests] of [
      [120, 'exhausted', 4],
      [100, 'unchanged', 1],
    ] as const) {
      const slots = ceilingAbove(110);
      slots.saw(newest, Date.UTC(2026, 0, 1), 'rpc');
      const crawl = await newCrawl(list(), atSlots([100], 3));
      expect(await crawl.run({ goal: { ...goal, seenSlot: 100 } }, { slots })).toBe(null);
      expect((await crawl.landed()).last).toMatchObject({ end });
      expect(crawl.asked.length).toBe(requests);
    }
  });

  test('that crawl moved on while it went: what it saw first may have changed', async () => {
    const crawl = await newCrawl(list(), atSlots([110], 1));
    expect(await crawl.run({ goal })).toBe(null);
    expect((await crawl.landed()).last).toMatchObject({ end: 'exhausted' });
  });
});

describe('the page that would end a list, below all others of the crawl', () => {
  test('is asked for again before it is believed', async () => {
    const whole = cursorList(5, 100);
    const crawl = await newCrawl(list(), (params, nth) =>
      nth === 2 ? { last_indexed_slot: 80, items: [] } : whole(params, nth),
    );
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.map(({ cursor }) => cursor)).toEqual([undefined, '2', '2', '4', '5']);
    expect(await crawl.landed()).toMatchObject({ records: 5, minSlot: 100 });
  });

  test('also after a stop', async () => {
    const whole = cursorList(6, 100);
    const crawl = await newCrawl(list(), (params, nth) => {
      if (nth === 2) return new Error('broken');
      return nth === 3 ? { last_indexed_slot: 80, items: [] } : whole(params, nth);
    });
    expect(await crawl.run()).not.toBe(null);
    expect(await crawl.run()).toBe(null);
    expect(await crawl.landed()).toMatchObject({ records: 6, minSlot: 100 });
  });

  test('three times in all', async () => {
    const crawl = await newCrawl(list(), (params, nth) =>
      nth >= 2 ? { last_indexed_slot: 80, items: [] } : cursorList(6, 100)(params, nth),
    );
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.length).toBe(4);
    expect(await crawl.landed()).toMatchObject({ records: 2, minSlot: 80 });
  });

  test('a page in the middle may be older', async () => {
    const crawl = await newCrawl(list(), atSlots([100, 80, 100], 3));
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.length).toBe(3);
  });
});

test('an incremental crawl asks again for a page from behind, for what is on it stands elsewhere now', async () => {
  const sortBy = { sortBy: 'updated', sortDirection: 'desc' };
  const task = newTask('getAssetsByGroup', { incremental: true, params: { sortBy } });
  // Behind, the list has not got its newest row, so the same number names other rows.
  const crawl = await newCrawl(task, ({ page }, nth) => {
    const lag = nth === 2 ? 1 : 0;
    const items = assets(2 * Number(page) - 2 + lag, Math.min(5, 2 * Number(page) + lag));
    return { last_indexed_slot: 100 - lag, items };
  });
  expect(await crawl.run()).toBe(null);
  expect(crawl.asked.map(({ page }) => page)).toEqual([1, 2, 2, 3, 4]);
  expect(await crawl.landed()).toMatchObject({ records: 5, minSlot: 100 });
});

test('an incremental crawl does not take the word of a replica behind for the end', async () => {
  const sortBy = { sortBy: 'updated', sortDirection: 'desc' };
  const task = newTask('getAssetsByGroup', { incremental: true, params: { sortBy } });
  const crawl = await newCrawl(
    task,
    ({ page }, nth) => ({
      last_indexed_slot: nth === 2 ? 80 : 100,
      items: Number(page) > 3 ? [] : [{ id: `asset-${page}-${nth}` }],
    }),
    async (page) => page.slot === 80,
  );
  expect(await crawl.run()).toBe(null);
  expect(crawl.asked.map(({ page }) => page)).toEqual([1, 2, 2, 3, 4]);
});
