import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/api/api-errors.ts';
import { isEnded } from '../../../src/landing/reader.ts';
import { type Answer, newCrawl, newTask } from '../../support/crawl.ts';

/** When the answers arrive, by the client's clock: Unix seconds of 2026-01-01. */
const now = 1_767_225_600;
/** Slots newest first; several signatures share a slot. Slot 90 is an hour ago, slot 70 a week. */
const slots = [100, 100, 99, 90, 90, 90, 90, 80, 70, 60];
const ages: Record<number, number> = { 100: 0, 99: 0, 90: 3600, 80: 86_000, 70: 7 * 86_400, 60: 8 * 86_400 };

/** The feed in pages of `limit`; the cursor is null as soon as a page is not full. */
const feed: Answer = ({ cursor, limit }) => {
  const from = Number(cursor ?? 0);
  const items = slots.slice(from, from + Number(limit)).map((slot, n) => ({
    signature: `s${from + n}`,
    slot,
    blockTime: now - (ages[slot] ?? 0),
  }));
  const next = items.length < Number(limit) ? null : String(from + items.length);
  return { context: { slot: 105 }, value: { items, cursor: next } };
};

const task = (since: Parameters<typeof newTask>[1] = {}) => newTask('getLatestCompressionSignatures', since);

describe('a feed', () => {
  test('all of it: a full last page gives one more, empty one, which is asked for twice', async () => {
    const crawl = await newCrawl(task(), feed);
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.map(({ cursor }) => cursor)).toEqual([undefined, '2', '4', '6', '8', '10', '10']);
    const landed = await crawl.landed();
    expect(landed).toMatchObject({ records: 10, first: { slot: 105, last_slot: 100 } });
    expect(landed.last).toMatchObject({ end: 'exhausted', last_slot: null });
  });

  test('down to the covered slot inclusive: the page that ends within it is not the last', async () => {
    const crawl = await newCrawl(task(), feed);
    expect(
      await crawl.run({
        goal: { lastCompleteSlot: null, firstContent: null, seenSlot: null, coveredSlot: 90 },
      }),
    ).toBe(null);
    const landed = await crawl.landed();
    expect(crawl.asked.length).toBe(4);
    expect(landed.records).toBe(8);
    expect(landed.last).toMatchObject({ end: 'covered', last_slot: 80, next: { cursor: '8' } });
  });

  test.each([
    ['pages', { kind: 'pages', pages: 3 }, 6],
    ['a slot', { kind: 'slot', slot: 90 }, 8],
    ['a day', { kind: 'age', ms: 86_400_000 }, 10],
    ['half an hour', { kind: 'age', ms: 1_800_000 }, 4],
    ['all', { kind: 'all' }, 10],
  ] as const)('since %s', async (_, since, records) => {
    const crawl = await newCrawl(task({ since }), feed);
    expect(await crawl.run()).toBe(null);
    expect(await crawl.landed()).toMatchObject({ records });
  });

  test('stopped after each of its pages, it goes on with the next one', async () => {
    for (let broken = 1; broken <= 6; broken += 1) {
      const crawl = await newCrawl(task(), (params, nth) =>
        nth === broken ? new Error('broken') : feed(params, nth),
      );
      expect(await crawl.run()).toBeInstanceOf(ApiError);
      expect(await crawl.run()).toBe(null);
      expect(crawl.asked.length, `broken at ${broken}`).toBe(8);
      const landed = await crawl.landed();
      expect(landed).toMatchObject({ records: 10 });
      expect(isEnded(landed)).toBe(true);
    }
  });

  test('a resumed crawl stops at what is covered below it', async () => {
    const crawl = await newCrawl(task(), (params, nth) =>
      nth === 2 ? new Error('broken') : feed(params, nth),
    );
    expect(await crawl.run()).toBeInstanceOf(ApiError);
    expect(
      await crawl.run({
        goal: { lastCompleteSlot: null, firstContent: null, seenSlot: null, coveredSlot: 99 },
      }),
    ).toBe(null);
    expect(await crawl.landed()).toMatchObject({ records: 4, last: { end: 'covered', last_slot: 90 } });
  });
});

describe('a replica that is behind the cursor', () => {
  /** The feed, with the slots that the nth answers say they reflect. */
  const behind =
    (slots: Record<number, number>): Answer =>
    (params, nth) => ({ ...(feed(params, nth) as object), context: { slot: slots[nth] ?? 105 } });

  test('is asked again', async () => {
    const crawl = await newCrawl(task(), behind({ 2: 99 }));
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.map(({ cursor }) => cursor)).toEqual([undefined, '2', '2', '4', '6', '8', '10', '10']);
    expect(await crawl.landed()).toMatchObject({ records: 10, minSlot: 105 });
  });

  test('three times in all; then its page lands, and says how far behind it was', async () => {
    const crawl = await newCrawl(task(), behind({ 2: 99, 3: 98, 4: 97 }));
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.map(({ cursor }) => cursor).slice(0, 5)).toEqual([undefined, '2', '2', '2', '4']);
    expect(await crawl.landed()).toMatchObject({ records: 10, minSlot: 97 });
  });

  test('also in a crawl that goes on after a stop', async () => {
    const answer = behind({ 3: 99 });
    const crawl = await newCrawl(task(), (params, nth) =>
      nth === 2 ? new Error('broken') : answer(params, nth),
    );
    expect(await crawl.run()).toBeInstanceOf(ApiError);
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.map(({ cursor }) => cursor).slice(0, 4)).toEqual([undefined, '2', '2', '2']);
    expect(await crawl.landed()).toMatchObject({ minSlot: 105 });
  });

  test('also at the cursor of a gap; the head has none to be behind of', async () => {
    const gap = await newCrawl(task(), behind({ 1: 80 }));
    expect(await gap.run({ from: { slot: 90, position: { limit: 2, cursor: '6' } } })).toBe(null);
    expect(gap.asked.map(({ cursor }) => cursor)).toEqual(['6', '6', '8', '10', '10']);
    const head = await newCrawl(task(), behind({ 1: 80 }));
    expect(await head.run()).toBe(null);
    expect(head.asked.length).toBe(7);
  });
});

describe('a feed whose cursor is refused', () => {
  test('begins again at its head, and its pages say so', async () => {
    const crawl = await newCrawl(task(), (params, nth) =>
      nth === 3 ? new Error('cursor expired') : feed(params, nth),
    );
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.map(({ cursor }) => cursor)).toEqual([
      ...[undefined, '2', '4', undefined, '2', '4', '6', '8', '10', '10'],
    ]);
    expect(await crawl.landed()).toMatchObject({ records: 14, reachedSlot: 60 });
  });

  test('a gap whose cursor is gone is looked for from the head', async () => {
    const crawl = await newCrawl(task(), (params, nth) =>
      params.cursor === 'gone' ? new Error('cursor expired') : feed(params, nth),
    );
    const from = { slot: 90, position: { limit: 2, cursor: 'gone' } };
    const goal = { lastCompleteSlot: null, firstContent: null, seenSlot: null, coveredSlot: 80 };
    expect(await crawl.run({ from, goal })).toBe(null);
    expect(crawl.asked.map(({ cursor }) => cursor)).toEqual(['gone', undefined, '2', '4', '6', '8']);
    expect((await crawl.landed()).last).toMatchObject({ end: 'covered', from_slot: 90 });
  });

  test('`since: {pages}` counts from where it began again', async () => {
    const crawl = await newCrawl(task({ since: { kind: 'pages', pages: 3 } }), (params, nth) =>
      nth === 3 ? new Error('cursor expired') : feed(params, nth),
    );
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.map(({ cursor }) => cursor)).toEqual([undefined, '2', '4', undefined, '2', '4']);
  });

  test('`since: {pages}` counts a page that asked for less as a part of one, also over a stop', async () => {
    const since = { kind: 'pages', pages: 2 } as const;
    const crawl = await newCrawl(task({ since, pageSize: 4 }), (params, nth) => {
      if (Number(params.limit) > 2) return new Error('Response is too big');
      return nth === 4 ? new Error('broken') : feed(params, nth);
    });
    expect(await crawl.run()).toBeInstanceOf(ApiError);
    expect(await crawl.run()).toBe(null);
    expect(await crawl.landed()).toMatchObject({ records: 8, last: { page: 4, end: 'since' } });
  });
});
