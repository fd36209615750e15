import { describe, expect, onTestFinished, test } from 'vitest';
import { PagingLoop, SlotAhead } from '../../../src/crawl/crawl-task.ts';
import { receivePage } from '../../../src/crawl/page.ts';
import { refuseLoop } from '../../../src/crawl/page-checks.ts';
import { highestSlot, type SlotHistory } from '../../../src/crawl/slot-ceiling.ts';
import { splitPage } from '../../../src/landing/split.ts';
import { createShapeMacros } from '../../../src/load/shape-query.ts';
import { openDatabase } from '../../../src/warehouse/database.ts';
import { cursorList, newCrawl, newTask } from '../../support/crawl.ts';

const now = Date.UTC(2026, 0, 1);

/** Answers that are well-formed and would do harm if they were believed. */
const list = () => newTask('getAssetsByGroup', { params: { groupKey: 'collection' } });

describe('slots', () => {
  test('of a page whose line says no ceiling: as where nobody knows when its slot was seen', async () => {
    const database = await openDatabase(':memory:', { memoryLimit: '64MB', threads: 1, tempDir: '' });
    onTestFinished(() => database.close());
    await createShapeMacros(database);
    const [row] = await database.rows(
      'select page_ceiling(null, 400) as seen, page_ceiling(null, null) as never',
    );
    const at = (newest: SlotHistory['newest']) => BigInt(highestSlot({ newest, perSecond: 2.5 }, now));
    expect(row).toEqual({ seen: at({ slot: 400, at: null }), never: at(null) });
  });

  test.each<[string, number, SlotHistory]>([
    ['a hundred years where nothing was seen', 10_000_000_000, { newest: null, perSecond: 2.5 }],
    [
      '100,000 slots, however short a time ago',
      400_100_000,
      { newest: { slot: 400e6, at: now - 1000 }, perSecond: 2.5 },
    ],
    [
      'ten times as many as a day has',
      402_160_000,
      { newest: { slot: 400e6, at: now - 86_400_000 }, perSecond: 2.5 },
    ],
    [
      'by the rate that was learnt',
      408_640_000,
      { newest: { slot: 400e6, at: now - 86_400_000 }, perSecond: 10 },
    ],
    [
      'ten years where the time is not known',
      1_200_000_000,
      { newest: { slot: 400e6, at: null }, perSecond: 2.5 },
    ],
    [
      'ten years where it is in the future',
      1_200_000_000,
      { newest: { slot: 400e6, at: now + 1 }, perSecond: 2.5 },
    ],
    ['ten years at most', 1_200_000_000, { newest: { slot: 400e6, at: 0 }, perSecond: 250 }],
  ])('%s', (_, highest, history) => expect(highestSlot(history, now)).toBe(highest));

  test.each([2 ** 53 - 1, 2 ** 50, 100_121, '999999999999'])(
    '%s, far above what was seen: asked for again, and the other answer counts',
    async (slot) => {
      const crawl = await newCrawl(list(), (params, nth) => ({
        ...(cursorList(3, 120)(params, nth) as object),
        ...(nth === 2 ? { last_indexed_slot: slot } : {}),
      }));
      expect(await crawl.run()).toBe(null);
      expect(crawl.asked.map(({ cursor }) => cursor)).toEqual([undefined, '2', '2', '3']);
      expect(await crawl.landed()).toMatchObject({ records: 3, maxSlot: 120 });
    },
  );

  test('in every answer: the target fails and says why', async () => {
    const crawl = await newCrawl(list(), cursorList(3, 2 ** 50));
    const error = await crawl.run();
    expect(error).toBeInstanceOf(SlotAhead);
    expect(error?.message).toContain('at slot 1125899906842624, and 100110 is the highest');
    expect(error?.message).toMatch(/ledgerlake run --accept r[0-9a-f]{8}$/);
    expect(crawl.asked.length).toBe(3);
  });

  test.each([-5, -1, 1.5, '-5', 2 ** 60])('%s is none', async (slot) => {
    const crawl = await newCrawl(list(), cursorList(3, slot as number));
    expect(await crawl.run()).toBe(null);
    expect(await crawl.landed()).toMatchObject({ records: 3, minSlot: null, maxSlot: null });
  });

  test('a negative slot at the end of a feed page covers nothing below', async () => {
    const task = newTask('getLatestCompressionSignatures', { since: { kind: 'pages', pages: 1 } });
    const crawl = await newCrawl(task, () => ({
      context: { slot: 110 },
      value: { items: [{ signature: 'a', slot: -5 }], cursor: 'next' },
    }));
    expect(await crawl.run()).toBe(null);
    expect(await crawl.landed()).toMatchObject({ records: 1, reachedSlot: null });
  });
});

describe('endless pages', () => {
  const id = (n: number) => `Asset${'ABCDEFGHJK'[n]}11111111111111111111111111111111`;

  test.each([
    ['cursor', 2],
    ['page', 3],
  ])('the same ids with other bytes and another %s', async (style, pages) => {
    const crawl = await newCrawl(list(), (_, nth) => ({
      items: [0, 1].map((n) => ({ id: id(n), note: nth })),
      ...(style === 'cursor' ? { cursor: `c${nth}` } : {}),
    }));
    expect(await crawl.run()).toBeInstanceOf(PagingLoop);
    expect(crawl.asked.length).toBe(pages);
  });

  test('of balances, whose prices move from answer to answer', () => {
    const task = newTask('walletBalances');
    const seen = new Map<string, number>();
    const receive = (price: number) => {
      const balances = [0, 1].map((n) => ({ mint: id(n), usdValue: price }));
      const body = Buffer.from(JSON.stringify({ balances, pagination: { hasMore: true } }));
      const page = receivePage(task.operation, splitPage(body, task.operation.records));
      refuseLoop(task, page, { limit: 100, page: price }, seen);
    };
    receive(1);
    receive(2);
    expect(() => receive(3)).toThrow(PagingLoop);
  });

  test('no circle: by page number, as many records as a page has came in above', async () => {
    const crawl = await newCrawl(list(), (_, nth) => ({
      items: nth >= 4 ? [] : [0, 1].map((n) => ({ id: id((nth === 1 ? 0 : nth - 2) * 2 + n) })),
    }));
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.length).toBe(5);
  });

  test('in a circle of three', async () => {
    const crawl = await newCrawl(list(), (_, nth) => ({
      items: [0, 1].map((n) => ({ id: id(((nth - 1) % 3) * 2 + n), note: nth })),
      cursor: `c${nth}`,
    }));
    expect(await crawl.run()).toBeInstanceOf(PagingLoop);
    expect(crawl.asked.length).toBe(4);
  });
});

test('ids that a batch leaves out count as unknown, as those it says null to', async () => {
  const answers = {
    getAssetBatch: [{ id: 'a' }, null],
    getAssetProofBatch: { a: { root: 'r' } },
    getMultipleCompressedAccounts: { context: { slot: 110 }, value: { items: [{ hash: 'a' }] } },
  };
  for (const [name, answer] of Object.entries(answers)) {
    const crawl = await newCrawl(newTask(name, { pageSize: 5 }), () => answer);
    expect(await crawl.run({ ids: ['a', 'b', 'c', 'd', 'e'] })).toBe(null);
    expect(await crawl.landed(), name).toMatchObject({ records: 1, nulls: 4 });
  }
});
