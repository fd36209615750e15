import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/api/api-errors.ts';
import { saysCursorRefused } from '../../../src/api/classify.ts';
import { isEnded } from '../../../src/landing/reader.ts';
import { type Answer, newCrawl, newTask, type Params } from '../../support/crawl.ts';
import { idList, spreadIds } from './id-list.ts';

const ids = spreadIds(9);
const down = [...ids].reverse();
const list = (params: Params = {}) => newTask('getAssetsByGroup', { params });
const refused = 'Cursor Validation Err: it is invalid';

/** Where each request stood. */
const places = (asked: readonly Params[]) =>
  asked.map(({ cursor, before, after }) => {
    const place = [cursor, before, after].find((value) => value !== undefined);
    const style =
      cursor !== undefined
        ? 'cursor'
        : before !== undefined
          ? 'before'
          : after !== undefined
            ? 'after'
            : 'start';
    return place === undefined
      ? style
      : `${style} ${ids.includes(`${place}`) ? ids.indexOf(`${place}`) : place}`;
  });

describe('a list whose cursor is refused', () => {
  test('goes on before its last id, from then on by id, to the empty page', async () => {
    const crawl = await newCrawl(
      list(),
      idList(ids, { refuses: ({ cursor }) => (cursor === down[3] ? refused : null) }),
    );
    expect(await crawl.run()).toBe(null);
    expect(places(crawl.asked)).toEqual([
      ...['start', 'cursor 7', 'cursor 5', 'before 5', 'before 3', 'before 1', 'before 0'],
    ]);
    const landed = await crawl.landed();
    expect(landed).toMatchObject({ records: 9 });
    expect(landed.last).toMatchObject({ end: 'exhausted', position: { limit: 2, before: ids[0] } });
  });

  test('in ascending order goes on after its last id', async () => {
    const sortBy = { sortBy: 'id', sortDirection: 'asc' };
    const crawl = await newCrawl(
      list({ sortBy }),
      idList(ids, { refuses: ({ cursor }) => (cursor === ids[1] ? refused : null) }),
    );
    expect(await crawl.run()).toBe(null);
    expect(places(crawl.asked)).toEqual([
      'start',
      'cursor 1',
      'after 1',
      'after 3',
      'after 5',
      'after 7',
      'after 8',
    ]);
    expect(await crawl.landed()).toMatchObject({ records: 9 });
  });

  test.each(['next second', 'next night'])('that was stopped behaves the same: %s', async (when) => {
    let isStopped = true;
    const crawl = await newCrawl(
      list(),
      idList(ids, {
        refuses: ({ cursor, before }, nth) => {
          if (isStopped && nth === 3) return 'the group is broken';
          if (when === 'next second' && isStopped && before !== undefined) return 'the group is broken';
          return cursor === down[3] ? refused : null;
        },
      }),
    );
    expect(await crawl.run()).toBeInstanceOf(ApiError);
    isStopped = false;
    expect(await crawl.run()).toBe(null);
    expect(places(crawl.asked)).toEqual([
      ...['start', 'cursor 7', 'cursor 5', 'cursor 5', 'before 5', 'before 3', 'before 1', 'before 0'],
    ]);
    expect(await crawl.landed()).toMatchObject({ records: 9 });
  });

  test('whose bounds are refused too begins again, and its cursors hold this time', async () => {
    const crawl = await newCrawl(
      list(),
      idList(ids, {
        refuses: ({ cursor, before }, nth) => {
          if (before !== undefined) return 'Pagination Error: `before` is invalid';
          return nth === 3 && cursor === down[3] ? refused : null;
        },
      }),
    );
    expect(await crawl.run()).toBe(null);
    expect(places(crawl.asked).slice(0, 6)).toEqual([
      ...['start', 'cursor 7', 'cursor 5', 'before 5', 'start', 'cursor 7'],
    ]);
    expect((await crawl.landed()).last).toMatchObject({ end: 'exhausted' });
  });

  test('whose bounds are ignored begins again: the same page is no circle then', async () => {
    const crawl = await newCrawl(
      list(),
      idList(ids, { ignores: ['before'], refuses: (_, nth) => (nth === 3 ? refused : null) }),
    );
    expect(await crawl.run()).toBe(null);
    expect(places(crawl.asked).slice(0, 6)).toEqual([
      ...['start', 'cursor 7', 'cursor 5', 'before 5', 'start', 'cursor 7'],
    ]);
  });

  test('of token accounts goes on before its last address', async () => {
    const accounts = idList(ids, { refuses: ({ cursor }) => (cursor === down[1] ? refused : null) });
    const crawl = await newCrawl(newTask('getTokenAccounts', { params: { owner: 'o' } }), (params, nth) => {
      const answer = accounts(params, nth);
      if (answer instanceof Error) return answer;
      const { items, ...rest } = answer as { items: { id: string }[] };
      return { ...rest, token_accounts: items.map(({ id }) => ({ address: id })) };
    });
    expect(await crawl.run()).toBe(null);
    expect(places(crawl.asked).slice(0, 3)).toEqual(['start', 'cursor 7', 'before 7']);
    expect(await crawl.landed()).toMatchObject({ records: 9 });
  });

  test('that is not in the order of its ids begins again at the start', async () => {
    const shuffled = [ids[4]!, ids[1]!, ids[7]!, ids[2]!, ids[8]!];
    let isRefused = true;
    const answer: Answer = ({ cursor, limit }) => {
      if (cursor === '4' && isRefused) {
        isRefused = false;
        return new Error(refused);
      }
      const from = Number(cursor ?? 0);
      const items = shuffled.slice(from, from + Number(limit)).map((id) => ({ id }));
      return { items, ...(items.length > 0 ? { cursor: `${from + items.length}` } : {}) };
    };
    const crawl = await newCrawl(list(), answer);
    expect(await crawl.run()).toBe(null);
    expect(places(crawl.asked)).toEqual([
      ...['start', 'cursor 2', 'cursor 4', 'start', 'cursor 2', 'cursor 4', 'cursor 5'],
    ]);
    expect((await crawl.landed()).last).toMatchObject({ restart: { count: 0, depth: 4, deepest: 4 } });
  });
});

describe('a walk by cursor only', () => {
  const task = () => newTask('getCompressedTokenAccountsByOwner', { params: { owner: 'o' } });
  /** Cursors from `from` on are refused as long as `isRefused` says so. */
  const tokens =
    (isRefused: (at: number, nth: number) => boolean): Answer =>
    ({ cursor, limit }, nth) => {
      const at = Number(cursor ?? 0);
      if (cursor !== undefined && isRefused(at, nth)) return new Error('Invalid cursor');
      const items = ids.slice(at, at + Number(limit)).map((hash) => ({ hash }));
      return { context: { slot: 5 }, value: { items, cursor: items.length < 2 ? null : `${at + 2}` } };
    };

  test('begins again at the start', async () => {
    const crawl = await newCrawl(
      task(),
      tokens((at, nth) => at === 4 && nth === 3),
    );
    expect(await crawl.run()).toBe(null);
    expect(crawl.asked.map(({ cursor }) => cursor)).toEqual([
      ...[undefined, '2', '4', undefined, '2', '4', '6', '8'],
    ]);
    expect(isEnded(await crawl.landed())).toBe(true);
  });

  test('begins again at most twice without coming further, then fails in the words of the API', async () => {
    const crawl = await newCrawl(
      task(),
      tokens((at) => at === 4),
    );
    expect((await crawl.run())?.message).toMatch(/Invalid cursor/);
    expect(crawl.asked.map(({ cursor }) => cursor)).toEqual([
      ...[undefined, '2', '4', undefined, '2', '4', undefined, '2', '4'],
    ]);
  });

  test('counts the same over runs that are stopped in between', async () => {
    const stops = new Set([4, 9]);
    const crawl = await newCrawl(task(), (params, nth) =>
      stops.has(nth) ? new Error('broken') : tokens((at) => at === 4)(params, nth),
    );
    const failures: string[] = [];
    for (let run = 0; run < 3; run += 1) failures.push((await crawl.run())?.message ?? 'none');
    expect(failures.map((said) => /: ([^:]*)$/.exec(said)?.[1])).toEqual([
      'broken',
      'broken',
      'Invalid cursor',
    ]);
  });

  test('that comes further each time may begin again as often as it takes', async () => {
    let lives = 0;
    const answer = tokens(() => false);
    const crawl = await newCrawl(task(), (params, nth) => {
      if (params.cursor === undefined) lives += 1;
      return Number(params.cursor ?? 0) > lives * 2 ? new Error('cursor expired') : answer(params, nth);
    });
    expect(await crawl.run()).toBe(null);
    expect(lives).toBe(4);
  });

  test('another refusal fails at once', async () => {
    const crawl = await newCrawl(task(), (params, nth) =>
      nth === 2 ? new Error('Invalid owner') : tokens(() => false)(params, nth),
    );
    expect(await crawl.run()).toBeInstanceOf(ApiError);
    expect(crawl.asked.length).toBe(2);
  });
});

test('transfers that begin again count the rows of a signature from the first', async () => {
  const rows = ['a', 'b', 'b', 'b', 'c'].map((signature, n) => ({ signature, n }));
  let refusals = 1;
  const { rest: _, ...rpc } = { ...newTask('walletTransfers').operation, transport: 'rpc' as const };
  const crawl = await newCrawl({ ...newTask('walletTransfers'), operation: rpc }, ({ cursor }) => {
    if (cursor === '4' && refusals-- > 0) return new Error('unknown cursor');
    const at = Number(cursor ?? 0);
    const hasMore = at + 2 < rows.length;
    return {
      data: rows.slice(at, at + 2),
      pagination: { hasMore, nextCursor: hasMore ? `${at + 2}` : null },
    };
  });
  expect(await crawl.run()).toBe(null);
  expect((await crawl.landed()).last).toMatchObject({ page: 5, group: { before: 0, last: 'c', count: 1 } });
});

test.each([
  ['Cursor Validation Err: abc is invalid', true],
  ['Invalid params: cursor expired', true],
  ['`cursor` is not a cursor of this list', true],
  ['unknown cursor', true],
  ['Cursor not found', true],
  ['pagination token is no longer valid', true],
  ['Invalid group value', false],
  ['missing parameter `groupKey`', false],
  ['Invalid before: not a public key', true],
  ['try again after 5 s', false],
])('%s', (said, expected) => expect(saysCursorRefused(said, ['before', 'after'])).toBe(expected));
