import { describe, expect, test } from 'vitest';
import { PagingLoop, type TaskStart } from '../../../src/crawl/crawl-task.ts';
import { type Answer, newCrawl, newTask } from '../../support/crawl.ts';
import { type ListCase, lists, sizes, targetOf } from '../../support/list-ledger.ts';
import { answerList } from '../../support/scripted-list.ts';
import { idList, spreadIds } from './id-list.ts';

const slot = 6_000;
const pageSize = 40;
const goal: TaskStart['goal'] = {
  ...{ lastCompleteSlot: null, firstContent: null, seenSlot: null, coveredSlot: null },
  hadRecords: true,
};

const taskOf = ({ operation, param }: ListCase) =>
  newTask(operation, {
    pageSize,
    params: param === null ? {} : { [param]: targetOf({ operation }, 'large') },
  });

/** The list of a case, its nth answer spoilt. */
const answerOf =
  (one: ListCase, count: number, spoil: (page: Record<string, unknown>, nth: number) => unknown): Answer =>
  (params, nth) => {
    const records = Array.from({ length: count }, (_, n) => one.record(targetOf(one, 'large'), n, slot));
    const page = answerList({ operation: one.operation, params }, records, { slot, pageSize });
    return spoil(page as Record<string, unknown>, nth);
  };
const asItIs = (page: Record<string, unknown>) => page;

/** An answer as at the end of a list: no records, and nothing below. */
const emptyPage = (one: ListCase) => answerList({ operation: one.operation, params: {} }, [], { slot });

/** An answer without what says where its list continues. */
const cutOff = ({ value, cursor: _, pagination: __, ...page }: Record<string, unknown>) => ({
  ...page,
  ...(value === undefined ? {} : { value: { ...(value as object), cursor: null } }),
});

const hasFlag = ({ operation }: ListCase) => operation.startsWith('wallet');
const cases = lists.map((one) => [one.operation, one] as const);
/** Three full pages; without a flag whether there are more, their lists end with an empty one. */
const count = sizes.large;

describe('an empty page below a full one', () => {
  test.each(cases)('%s: is asked for again, and nothing is missed', async (_, one) => {
    const whole = await newCrawl(taskOf(one), answerOf(one, count - 1, asItIs));
    expect(await whole.run()).toBe(null);
    const crawl = await newCrawl(
      taskOf(one),
      answerOf(one, count - 1, (page, nth) => (nth === 2 ? emptyPage(one) : page)),
    );
    expect(await crawl.run()).toBe(null);
    expect(await crawl.landed()).toMatchObject({ records: count - 1 });
    expect(crawl.asked.length).toBe(whole.asked.length + 1);
  });

  test.each(cases)('%s: is the end where a second look agrees, for one request more', async (_, one) => {
    const crawl = await newCrawl(taskOf(one), answerOf(one, count, asItIs));
    expect(await crawl.run()).toBe(null);
    expect(await crawl.landed()).toMatchObject({ records: count, last: { end: 'exhausted' } });
    expect(crawl.asked.length).toBe(hasFlag(one) ? 3 : 5);
    expect(crawl.asked.at(-1)).toEqual(crawl.asked.at(hasFlag(one) ? -1 : -2));
  });

  test('below a short one, it is the end', async () => {
    const [one] = lists as [ListCase];
    const crawl = await newCrawl(taskOf(one), answerOf(one, count - 1, asItIs));
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.length).toBe(4);
  });
});

describe('an empty first page', () => {
  test.each(cases)('%s: of a target that had records, is asked for again', async (_, one) => {
    const crawl = await newCrawl(
      taskOf(one),
      answerOf(one, 3, (page, nth) => (nth === 1 ? emptyPage(one) : page)),
    );
    expect(await crawl.run({ goal })).toBe(null);
    expect(await crawl.landed()).toMatchObject({ records: 3 });
  });

  test('is believed where a second look agrees; of a target that had none, at once', async () => {
    for (const [hadRecords, requests] of [[true, 2] as const, [undefined, 1] as const]) {
      const { hadRecords: _, ...other } = goal;
      const crawl = await newCrawl(taskOf(lists[0]!), () => ({ items: [] }));
      expect(await crawl.run({ goal: hadRecords ? goal : other })).toBe(null);
      expect(crawl.asked.length).toBe(requests);
      expect((await crawl.landed()).last).toMatchObject({ end: 'exhausted' });
    }
  });
});

describe('a full page that does not say where its list continues', () => {
  const byCursor = cases.filter(([, one]) => one.operation !== 'walletBalances');

  test.each(byCursor)('%s: is asked for again, and nothing is missed', async (_, one) => {
    const crawl = await newCrawl(
      taskOf(one),
      answerOf(one, count - 1, (page, nth) => (nth === 2 ? cutOff(page) : page)),
    );
    expect(await crawl.run()).toBe(null);
    expect(await crawl.landed()).toMatchObject({ records: count - 1 });
    expect(crawl.asked[2]).toEqual(crawl.asked[1]);
  });

  test.each(byCursor)('%s: fails the target where a second look agrees', async (_, one) => {
    const crawl = await newCrawl(
      taskOf(one),
      answerOf(one, count - 1, (page, nth) => (nth >= 2 ? cutOff(page) : page)),
    );
    expect(await crawl.run()).toBeInstanceOf(PagingLoop);
    expect(crawl.asked.length).toBe(3);
    expect(await crawl.landed()).toMatchObject({ records: pageSize });
  });

  test('nor says that there are more, although it holds none, fails likewise', async () => {
    const crawl = await newCrawl(newTask('walletHistory', { params: { wallet: 'W' } }), () => ({
      data: [],
      pagination: { hasMore: true, nextCursor: null },
    }));
    expect(await crawl.run()).toBeInstanceOf(PagingLoop);
    expect(crawl.asked.length).toBe(2);
  });

  test('a list in the order of its ids goes on after the last one', async () => {
    const ids = spreadIds(6);
    const sortBy = { sortBy: 'id', sortDirection: 'asc' };
    const byId = idList(ids);
    const crawl = await newCrawl(newTask('getAssetsByGroup', { params: { sortBy } }), (params, nth) => {
      if (params.cursor !== undefined) return cutOff(byId({ ...params, after: params.cursor }, nth) as never);
      const page = byId(params, nth) as { items: { id: string }[] };
      return nth === 1 ? { ...page, cursor: page.items.at(-1)!.id } : page;
    });
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.map(({ cursor, after }) => cursor ?? after)).toEqual([
      ...[undefined, ids[1], ids[1], ids[3], ids[5], ids[5]],
    ]);
    expect(await crawl.landed()).toMatchObject({ records: 6, last: { end: 'exhausted' } });
  });
});
