import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/api/api-errors.ts';
import { type CrawlDeps, PagingLoop } from '../../../src/crawl/crawl-task.ts';
import { isEnded } from '../../../src/landing/reader.ts';
import { assets, cursorList, newCrawl, newTask, numberedList, type Params } from '../../support/crawl.ts';

const list = () => newTask('getAssetsByGroup', { params: { groupKey: 'collection', groupValue: 'v' } });
const own = { groupKey: 'collection', groupValue: 'v', limit: 2 };
const gone = new Error('no such group');

describe('a list', () => {
  test('cursor mode: to the empty page, which a cursor list ends with', async () => {
    const crawl = await newCrawl(list(), cursorList(5));
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked).toEqual([
      own,
      { ...own, cursor: '2' },
      { ...own, cursor: '4' },
      { ...own, cursor: '5' },
    ]);
    const landed = await crawl.landed();
    expect(landed).toMatchObject({ records: 5, minSlot: 100, maxSlot: 100 });
    expect(landed.last).toMatchObject({ page: 4, end: 'exhausted', position: { limit: 2, cursor: '5' } });
  });

  test('page mode: to the empty page', async () => {
    const crawl = await newCrawl(list(), numberedList(3));
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked).toEqual([own, { ...own, page: 2 }, { ...own, page: 3 }]);
    expect(await crawl.landed()).toMatchObject({ records: 3 });
  });

  test('an empty first page ends it, and has landed', async () => {
    const crawl = await newCrawl(list(), cursorList(0));
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.length).toBe(1);
    expect(isEnded(await crawl.landed())).toBe(true);
  });

  test('short pages are not the end', async () => {
    const shapes = [1, 2, 1, 0];
    let from = 0;
    const crawl = await newCrawl(list(), (_, nth) => {
      const items = assets(from, from + (shapes[nth - 1] ?? 0));
      from += items.length;
      return { total: items.length, items, ...(items.length > 0 ? { cursor: `c${nth}` } : {}) };
    });
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.length).toBe(4);
    expect(await crawl.landed()).toMatchObject({ records: 4, minSlot: null });
  });

  test('a sorted list pages by number from the first request', async () => {
    const sortBy = { sortBy: 'updated', sortDirection: 'desc' };
    const task = newTask('getAssetsByGroup', { params: { sortBy } });
    const crawl = await newCrawl(task, numberedList(1));
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked).toEqual([
      { sortBy, limit: 2, page: 1 },
      { sortBy, limit: 2, page: 2 },
    ]);
  });

  test('a cursor that comes again stops it', async () => {
    const crawl = await newCrawl(list(), (_, nth) => ({
      items: assets(nth * 2, nth * 2 + 2),
      cursor: ['a', 'b', 'a'][nth - 1] ?? 'never',
    }));
    expect(await crawl.run()).toBeInstanceOf(PagingLoop);
    expect(crawl.asked.length).toBe(3);
  });

  test('a server that ignores the cursor, or the page number, is found out on the second page, or the third', async () => {
    for (const [cursor, pages] of [[{ cursor: 'same' }, 2] as const, [{}, 3] as const]) {
      const crawl = await newCrawl(list(), () => ({ items: assets(0, 2), ...cursor }));
      expect(await crawl.run()).toBeInstanceOf(PagingLoop);
      expect(crawl.asked.length).toBe(pages);
    }
  });

  test('a server that ignores a new cursor every time is found out too', async () => {
    const crawl = await newCrawl(list(), (_, nth) => ({ items: assets(0, 2), cursor: `c${nth}` }));
    expect(await crawl.run()).toBeInstanceOf(PagingLoop);
    expect(crawl.asked.length).toBe(2);
  });

  test('a source that is no newer than the last complete crawl is left after one page', async () => {
    const before = await newCrawl(list(), cursorList(3, 100));
    await before.run();
    const { content: firstContent = null } = (await before.landed()).first!;
    const goal = { lastCompleteSlot: 100, firstContent, seenSlot: 100, coveredSlot: null };
    const crawl = await newCrawl(list(), cursorList(50, 100));
    expect(await crawl.run({ goal })).toBe(null);
    expect(crawl.asked.length).toBe(2);
    expect((await crawl.landed()).last).toMatchObject({ end: 'unchanged', next: null });
    // A slot that is stuck while the content moves.
    const moved = await newCrawl(list(), cursorList(1, 100));
    expect(await moved.run({ goal })).toBe(null);
    expect((await moved.landed()).last).toMatchObject({ end: 'exhausted' });
  });

  test('errors of an answer stand in the place of records', async () => {
    const crawl = await newCrawl(list(), (_, nth) =>
      nth === 1
        ? { items: assets(0, 1), errors: [{ id: 'x', error: 'broken' }], cursor: 'c' }
        : { items: [] },
    );
    expect(await crawl.run()).toBe(null);
    expect(await crawl.landed()).toMatchObject({ records: 2, first: { set_aside: 1 } });
  });

  test.each([
    ['cursor mode', cursorList(7), [own, ...['2', '4', '6', '7'].map((cursor) => ({ ...own, cursor }))]],
    ['page mode', numberedList(7), [own, ...[2, 3, 4, 5].map((page) => ({ ...own, page }))]],
  ])('stopped after each of its pages, %s goes on with the next one', async (_, answer, pages: Params[]) => {
    for (let broken = 1; broken <= pages.length; broken += 1) {
      const crawl = await newCrawl(list(), (params, nth) => (nth === broken ? gone : answer(params, nth)));
      expect(await crawl.run()).toBeInstanceOf(ApiError);
      expect(await crawl.run()).toBe(null);
      const twice = pages[broken - 1]!;
      expect(crawl.asked).toEqual([...pages.slice(0, broken), twice, ...pages.slice(broken)]);
      expect(await crawl.landed()).toMatchObject({ records: 7 });
      expect(await crawl.run()).toBe(null);
      expect(crawl.asked.length).toBe(pages.length + 1);
    }
  });
});

describe('a batch', () => {
  const batch = () => newTask('getAssetBatch');
  const ids = ['a', 'b', 'b2', 'c', 'd'];
  /** Duplicates collapse, unknown ones are null, order is the server's. */
  const known = ({ ids }: Params) =>
    [...new Set(ids as string[])].reverse().map((id) => (id === 'c' ? null : { id }));

  test('slices of the page size, nulls counted', async () => {
    const crawl = await newCrawl(batch(), known);
    expect(await crawl.run({ ids })).toBe(null);
    expect(crawl.asked.map(({ ids }) => ids)).toEqual([['a', 'b'], ['b2', 'c'], ['d']]);
    const landed = await crawl.landed();
    expect(landed).toMatchObject({ records: 4, nulls: 1, frozen: true });
    expect(isEnded(landed)).toBe(true);
  });

  test('an answer of nulls only, or with fewer records than ids, ends its slice', async () => {
    const crawl = await newCrawl(batch(), ({ ids }) =>
      (ids as string[])[0] === 'a' ? (ids as string[]).map(() => null) : [{ id: 'x' }],
    );
    expect(await crawl.run({ ids: ['a', 'a', 'c', 'c'] })).toBe(null);
    expect(await crawl.landed()).toMatchObject({ records: 1, nulls: 3, frozen: true });
  });

  test('an answer without a record is asked for again', async () => {
    let down = true;
    const crawl = await newCrawl(newTask('getAssetBatch', { pageSize: 4 }), (params) => {
      if (!down) return known(params);
      down = false;
      return [null, null, null, null];
    });
    expect(await crawl.run({ ids: ['a', 'b', 'c', 'c', 'd'] })).toBe(null);
    expect(crawl.asked.map(({ ids }) => (ids as string[]).join()).sort()).toEqual([
      'a,b,c,c',
      'a,b,c,c',
      'd',
    ]);
    const landed = await crawl.landed();
    expect(landed).toMatchObject({ records: 3, frozen: true });
    expect(isEnded(landed)).toBe(true);
  });

  test.each([
    ['nulls', (count: number) => Array.from({ length: count }, () => null)],
    ['an empty list', () => []],
  ])('a long list of ids that nobody knows costs little more than its slices: %s', async (_, nothing) => {
    const crawl = await newCrawl(newTask('getAssetBatch', { pageSize: 10 }), ({ ids }) =>
      nothing((ids as string[]).length),
    );
    const many = Array.from({ length: 1000 }, (_, n) => `id${n}`);
    expect(await crawl.run({ ids: many })).toBe(null);
    expect(crawl.asked.length).toBeGreaterThan(100);
    // One more for each of the two slices in flight.
    expect(crawl.asked.length).toBeLessThanOrEqual(102);
    expect(await crawl.landed()).toMatchObject({ records: 0, nulls: 1000, frozen: true });
  });

  test('stopped at each slice, the same slices go on, whatever the ids are by then', async () => {
    for (let broken = 1; broken <= 3; broken += 1) {
      const crawl = await newCrawl(batch(), (params, nth) => (nth === broken ? gone : known(params)));
      expect(await crawl.run({ ids })).toBeInstanceOf(ApiError);
      expect(await crawl.run({ ids: ['other'] })).toBe(null);
      const slices = crawl.asked.map(({ ids }) => (ids as string[]).join());
      expect(slices.length, `broken at ${broken}`).toBe(4);
      expect([...new Set(slices)].sort()).toEqual(['a,b', 'b2,c', 'd']);
      expect(slices.filter((slice) => slice === slices[broken - 1]).length).toBe(2);
      expect(await crawl.landed()).toMatchObject({ records: 4, nulls: 1 });
    }
  });
});

describe('an incremental crawl', () => {
  const sortBy = { sortBy: 'updated', sortDirection: 'desc' };
  const task = () => newTask('getAssetsByGroup', { params: { sortBy }, incremental: true, pageSize: 300 });
  /** Pages that were asked about: page, records, first record. */
  const newQuestions = (knownFrom: number) => {
    const asked: unknown[] = [];
    const isKnown: CrawlDeps['isKnown'] = async (page, records) => {
      asked.push([page.page, records.length, JSON.parse(records[0]!.bytes.toString()).id]);
      return page.page >= knownFrom;
    };
    return { asked, isKnown };
  };

  test('ends where the last 200 records of a page are known, and its line says so', async () => {
    const { asked, isKnown } = newQuestions(2);
    const crawl = await newCrawl(task(), numberedList(1000), isKnown);
    expect(await crawl.run()).toBe(null);
    expect(asked).toEqual([
      [1, 200, 'asset-100'],
      [2, 200, 'asset-400'],
    ]);
    expect(crawl.asked.map(({ page }) => page)).toEqual([1, 2]);
    expect((await crawl.landed()).last).toMatchObject({
      page: 2,
      incremental: true,
      end: 'known',
      next: null,
    });
  });

  test('asks about all of a shorter page, and nothing of one that ends it anyhow', async () => {
    const { asked, isKnown } = newQuestions(9);
    const crawl = await newCrawl({ ...task(), pageSize: 100 }, numberedList(150), isKnown);
    expect(await crawl.run()).toBe(null);
    expect(asked).toEqual([
      [1, 100, 'asset-0'],
      [2, 50, 'asset-100'],
    ]);
    expect((await crawl.landed()).last).toMatchObject({ page: 3, end: 'exhausted' });
  });

  test('a question that cannot be answered stops it before the page lands', async () => {
    const crawl = await newCrawl(task(), numberedList(1000), async ({ page }) => {
      if (page === 2) throw new Error('cannot be read');
      return false;
    });
    expect(await crawl.run()).toMatchObject({ message: 'cannot be read' });
    expect(await crawl.landed()).toMatchObject({ pages: new Set([1]) });
  });

  test('a full crawl asks nothing', async () => {
    const { asked, isKnown } = newQuestions(1);
    const crawl = await newCrawl({ ...task(), incremental: false }, numberedList(600), isKnown);
    expect(await crawl.run()).toBe(null);
    expect({ asked, pages: crawl.asked.length }).toEqual({ asked: [], pages: 4 });
  });
});
