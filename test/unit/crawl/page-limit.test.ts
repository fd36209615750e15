import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/api/api-errors.ts';
import { BrokenCursor } from '../../../src/crawl/crawl-task.ts';
import { countSuccess, halveLimit, initialBackoff } from '../../../src/crawl/page-size.ts';
import { resizePosition } from '../../../src/crawl/position.ts';
import { maxPageRecords } from '../../../src/landing/page-line.ts';
import { isEnded } from '../../../src/landing/reader.ts';
import { type Answer, assets, cursorList, newCrawl, newTask, numberedList } from '../../support/crawl.ts';
import { createRandom, readSeed } from '../../support/random.ts';

const seed = readSeed();
const list = (pageSize: number) =>
  newTask('getAssetsByGroup', { params: { groupKey: 'collection', groupValue: 'v' }, pageSize });
const ids = (count: number) => assets(0, count).map(({ id }) => id);
const tooBig = new Error('Response is too big');

/** A list whose records weigh so much each: answers of more than `most` in all are refused. */
function weighed(answer: Answer, weights: readonly number[], most: number): Answer {
  return (params, nth) => {
    const from = Number(params.cursor ?? (Number(params.page ?? 1) - 1) * Number(params.limit));
    const asked = weights.slice(from, from + Number(params.limit));
    return asked.reduce((sum, weight) => sum + weight, 0) > most ? tooBig : answer(params, nth);
  };
}

describe('answers that are too big', () => {
  test('half as much is asked for in the same place, and twice as much again after a while', async () => {
    const weights = Array.from({ length: 60 }, (_, n) => (n >= 16 && n < 24 ? 10 : 1));
    const crawl = await newCrawl(list(16), weighed(cursorList(60), weights, 40));
    expect(await crawl.run()).toBe(null);
    expect(await crawl.landedIds()).toEqual(ids(60));
    expect(crawl.asked.map(({ cursor = '0', limit }) => `${cursor}+${limit}`)).toEqual([
      ...['0+16', '16+16', '16+8', '16+4', '20+4', '24+4', '28+4', '32+4', '36+4', '40+4', '44+4', '48+8'],
      ...['56+8', '60+8'],
    ]);
  });

  test.each([
    ['cursors', cursorList],
    ['page numbers', numberedList],
  ])('by %s: every record once, in order, whatever weighs what', async (_, answer) => {
    const random = createRandom(seed);
    for (let round = 0; round < 15; round += 1) {
      const count = Math.floor(random() * 80);
      const weights = Array.from({ length: count }, () => Math.ceil(random() ** 4 * 60));
      const pageSize = 1 + Math.floor(random() * 40);
      const crawl = await newCrawl(list(pageSize), weighed(answer(count), weights, 70));
      expect(await crawl.run(), `seed ${seed}, round ${round}`).toBe(null);
      expect(await crawl.landedIds(), `seed ${seed}, round ${round}`).toEqual(ids(count));
    }
  });

  test('a stopped walk goes on with the limit that held, and comes back to the whole page', async () => {
    let refuses = true;
    const crawl = await newCrawl(list(8), (params, nth) => {
      if (refuses && Number(params.limit) > 2) return tooBig;
      if (refuses && params.cursor === '6') return new Error('this page always fails');
      return cursorList(60)(params, nth);
    });
    expect(await crawl.run()).toBeInstanceOf(ApiError);
    refuses = false;
    const asked = crawl.asked.length;
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked[asked]).toMatchObject({ cursor: '6', limit: 2 });
    expect(crawl.asked.at(-1)).toMatchObject({ limit: 8 });
    expect(await crawl.landedIds()).toEqual(ids(60));
  });

  test('an incremental crawl that gets parts of pages ends where as many rows are known as of a whole page', async () => {
    const sortBy = { sortBy: 'updated', sortDirection: 'desc' };
    const task = newTask('getAssetsByGroup', { params: { sortBy }, incremental: true, pageSize: 300 });
    const answer: Answer = (params, nth) =>
      Number(params.limit) > 80 ? tooBig : numberedList(1000)(params, nth);
    const known = [false, true, false, true, true, true, true];
    const crawl = await newCrawl(task, answer, async ({ page }) => known[page - 1]!);
    expect(await crawl.run()).toBe(null);
    expect((await crawl.landed()).last).toMatchObject({ page: 6, end: 'known', next: null });
    expect(await crawl.landedIds()).toEqual(ids(6 * 75));
  });

  test('one record that is too big alone fails its target', async () => {
    const crawl = await newCrawl(list(8), weighed(cursorList(10), [1, 1, 1, 99], 50));
    expect(await crawl.run()).toMatchObject({ name: 'ApiError', kind: 'too_big' });
    expect(await crawl.landedIds()).toEqual(ids(3));
  });

  test('what stands beside the records makes an answer too big as well', async () => {
    const around: Answer = (params, nth) => ({
      ...(cursorList(10)(params, nth) as object),
      more: 'x'.repeat(1_000_000 * Number(params.limit)),
    });
    const crawl = await newCrawl(list(8), around);
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.slice(0, 3).map(({ limit }) => limit)).toEqual([8, 4, 2]);
    expect(await crawl.landedIds()).toEqual(ids(10));
  });

  test('so do more records than a page may have', async () => {
    const flood = { items: new Array(maxPageRecords + 1).fill({ id: ids(1)[0] }) };
    const answer: Answer = (params, nth) => (Number(params.limit) > 4 ? flood : cursorList(10)(params, nth));
    const crawl = await newCrawl(list(8), answer);
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.slice(0, 2).map(({ limit }) => limit)).toEqual([8, 4]);
    expect(await crawl.landedIds()).toEqual(ids(10));
  });

  test('and fails the target, with what was too big, where less does not help', async () => {
    const around: Answer = (params, nth) => ({
      ...(cursorList(10)(params, nth) as object),
      more: 'x'.repeat(5_000_000),
    });
    const crawl = await newCrawl(list(8), around);
    const error = await crawl.run();
    expect(error).toMatchObject({ name: 'ApiError', kind: 'too_big' });
    expect(error?.message).toContain('5.0 MB beside its records, at most 4.0 MB are taken');
    expect(crawl.asked.map(({ limit }) => limit)).toEqual([8, 4, 2, 1]);
    await expect(crawl.landed()).rejects.toThrow('nothing has landed');
  });

  test('a cursor that no request could carry fails its target at once', async () => {
    const crawl = await newCrawl(list(8), () => ({ items: [{ id: 'a' }], cursor: 'c'.repeat(16_385) }));
    const error = await crawl.run();
    expect(error).toBeInstanceOf(BrokenCursor);
    expect(error?.message).toContain('16385 characters, at most 16384 are taken');
    expect(crawl.asked).toHaveLength(1);
    await expect(crawl.landed()).rejects.toThrow('nothing has landed');
  });

  test('an operation that has no limit to lower fails', async () => {
    const crawl = await newCrawl(newTask('getAsset', { params: { id: 'a' } }), () => tooBig);
    expect(await crawl.run()).toMatchObject({ kind: 'too_big' });
    expect(crawl.asked).toHaveLength(1);
  });

  describe('of a batch', () => {
    /** An API that answers at most so many ids at once. */
    const upTo = (most: number, answered: (asked: string[]) => void): Answer => {
      return ({ ids: asked }) => {
        if ((asked as string[]).length > most) return tooBig;
        answered(asked as string[]);
        return (asked as string[]).map((id) => ({ id }));
      };
    };

    test('its slices are cut, and each part lands', async () => {
      const all = ids(40);
      const heavy = new Set(all.slice(10, 14));
      const task = newTask('getAssetBatch', { pageSize: 10 });
      const crawl = await newCrawl(task, ({ ids: asked }) => {
        const weight = (asked as string[]).reduce((sum, id) => sum + (heavy.has(id) ? 10 : 1), 0);
        return weight > 20 ? tooBig : (asked as string[]).map((id) => (id === 'asset-11' ? null : { id }));
      });
      expect(await crawl.run({ ids: all })).toBe(null);
      const landed = await crawl.landed();
      expect(isEnded(landed)).toBe(true);
      expect(landed).toMatchObject({ records: 39, nulls: 1, frozen: true });
      expect(landed.pages).toEqual(new Set(landed.slices.keys()));
      const expected = all.filter((id) => id !== 'asset-11');
      expect((await crawl.landedIds()).sort()).toEqual(expected.sort());
    });

    test('what came before a stop is not asked for again, and every run comes further', async () => {
      const all = ids(20);
      const paid: string[] = [];
      const task = newTask('getAssetBatch', { pageSize: 16 });
      const answer = upTo(4, (asked) => paid.push(...asked));
      let left = 0;
      const crawl = await newCrawl(task, (params, nth) => {
        left -= 1;
        return left < 0 ? new Error('no more today') : answer(params, nth);
      });
      const nights: number[] = [];
      for (let night = 0; night < 5; night += 1) {
        left = 4;
        await crawl.run({ ids: all });
        nights.push((await crawl.landed()).records);
      }
      expect(nights.at(-1)).toBe(20);
      expect(paid.sort(), 'each is paid for once').toEqual(all.sort());
      expect((await crawl.landedIds()).sort()).toEqual(all.sort());
    });

    test('a short rest that comes says nothing of the size: it earns no more', async () => {
      const task = newTask('getAssetBatch', { pageSize: 5 });
      const crawl = await newCrawl(
        task,
        upTo(2, () => undefined),
      );
      expect(await crawl.run({ ids: ids(80) })).toBe(null);
      // Each slice of five comes as two, two and one. Eight of two must come before more is asked for again.
      const sizes = crawl.asked.map(({ ids: asked }) => (asked as string[]).length);
      const again = sizes.findIndex((size, n) => size > 2 && sizes.slice(0, n).includes(2));
      expect(sizes.slice(0, again).filter((size) => size === 2).length).toBeGreaterThanOrEqual(8);
    });
  });
});

test('the same place with another limit: a page number only where it begins at the same record', () => {
  expect(resizePosition({ limit: 100, cursor: 'c' }, 50)).toEqual({ limit: 50, cursor: 'c' });
  expect(resizePosition({ limit: 100, after: 'a', before: 'b' }, 50)).toEqual({
    limit: 50,
    after: 'a',
    before: 'b',
  });
  expect(resizePosition({ limit: 100, page: 1 }, 33)).toEqual({ limit: 33, page: 1 });
  expect(resizePosition({ limit: 100, page: 4 }, 50)).toEqual({ limit: 50, page: 7 });
  expect(resizePosition({ limit: 50, page: 7 }, 100)).toEqual({ limit: 100, page: 4 });
  expect(resizePosition({ limit: 50, page: 8 }, 100)).toEqual({ limit: 70, page: 6 });
  expect(resizePosition({ limit: 97, page: 2 }, 48)).toEqual({ limit: 1, page: 98 });
});

test('each time that more was asked for in vain, it takes longer until it is again', () => {
  let state = { limit: 8, backoff: initialBackoff };
  const waits: number[] = [];
  for (let times = 0; times < 9; times += 1) {
    state = halveLimit(state.limit, state.backoff)!;
    let good = 0;
    for (; state.limit < 8; good += 1) state = countSuccess(state.limit, state.backoff, 8);
    waits.push(good);
  }
  expect(waits).toEqual([8, 16, 32, 64, 128, 256, 256, 256, 256]);
  expect(halveLimit(1, initialBackoff)).toBe(null);
});
