import { describe, expect, test } from 'vitest';
import { nextStep, type PageFacts, type PagingGoal } from '../../../src/crawl/paging.ts';
import { firstPosition } from '../../../src/crawl/position.ts';
import type { Position } from '../../../src/landing/page-line.ts';
import { findOperation } from '../../../src/operations/catalogue.ts';

const keyset = findOperation('getAssetsByGroup')!;
const feed = findOperation('getLatestCompressionSignatures')!;
const single = { ...keyset, paging: 'none' as const };
const cursorOnly = { ...keyset, paging: 'cursor' as const };

const page = (facts: Partial<PageFacts> = {}): PageFacts => ({
  ...{ records: 10, nulls: 0, cursor: null, more: null, slot: 100, lastSlot: null, lastTime: null },
  ...{ lastKey: null, group: null, page: 1, depth: facts.page ?? 1, content: () => 'same' },
  ...{ descends: true, freshSlot: null, firstTime: null },
  ...facts,
});
const now = Date.UTC(2026, 0, 10);
const goal = (facts: Partial<PagingGoal> = {}): PagingGoal => ({
  ...{
    lastCompleteSlot: null,
    firstContent: null,
    seenSlot: null,
    coveredSlot: null,
    since: null,
    ascending: false,
    now,
  },
  ...facts,
});

describe('firstPosition', () => {
  test.each<[string, object, Position]>([
    ['neither page nor sortBy', {}, { limit: 10 }],
    ['the id sort keeps the cursor', { sortBy: { sortBy: 'id', sortDirection: 'asc' } }, { limit: 10 }],
    ['another sort pages by number', { sortBy: { sortBy: 'updated' } }, { limit: 10, page: 1 }],
  ])('%s', (_, params, position) =>
    expect(firstPosition(keyset, { ...params } as Record<string, unknown>, 10, null)).toEqual(position),
  );

  test('only keyset lists have page numbers', () =>
    expect(firstPosition(feed, { sortBy: { sortBy: 'updated' } }, 10, null)).toEqual({ limit: 10 }));
});

describe('nextStep of a keyset list', () => {
  const first = { limit: 10 };
  const inCursor = { limit: 10, cursor: 'c1' };
  const inPages = { limit: 10, page: 3 };
  test.each<[string, Position, Partial<PageFacts>, Position | 'exhausted']>([
    ['a cursor in the first answer: cursor mode', first, { cursor: 'c1' }, { limit: 10, cursor: 'c1' }],
    ['no cursor in the first answer: page mode', first, {}, { limit: 10, page: 2 }],
    ['an empty first page ends it', first, { records: 0 }, 'exhausted'],
    ['an empty first page with a cursor ends it too', first, { records: 0, cursor: 'c1' }, 'exhausted'],
    ['the cursor moves on', inCursor, { cursor: 'c2', page: 2 }, { limit: 10, cursor: 'c2' }],
    ['a short page goes on', inCursor, { cursor: 'c2', records: 1, page: 2 }, { limit: 10, cursor: 'c2' }],
    ['no cursor ends a cursor walk', inCursor, { records: 9, page: 2 }, 'exhausted'],
    ['but not below a full page', inCursor, { lastKey: 'k', page: 2 }, { limit: 10, before: 'k' }],
    ['an empty page ends a cursor walk', inCursor, { records: 0, cursor: 'c2', page: 2 }, 'exhausted'],
    ['page numbers go on after a short page', inPages, { records: 1, page: 3 }, { limit: 10, page: 4 }],
    ['page numbers ignore a cursor', inPages, { cursor: 'c9', page: 3 }, { limit: 10, page: 4 }],
    ['an empty page ends page numbers', inPages, { records: 0, page: 3 }, 'exhausted'],
  ])('%s', (_, position, facts, expected) => {
    const step = nextStep(keyset, position, page(facts), goal());
    expect(step).toEqual(
      expected === 'exhausted' ? { next: null, end: 'exhausted' } : { next: expected, end: null },
    );
  });

  test.each<[string, Partial<PageFacts>, number | null, string | null]>([
    ['no newer than the last complete crawl', { slot: 100 }, 100, 'unchanged'],
    ['no newer, but another first page: its slot is stuck', { slot: 100, content: () => 'new' }, 100, null],
    ['older (a replica behind) proves nothing', { slot: 99 }, 100, null],
    ['newer', { slot: 101 }, 100, null],
    ['never crawled', { slot: 100 }, null, null],
    ['an answer without a slot proves nothing', { slot: null }, 100, null],
    ['only the first page counts', { slot: 100, page: 2 }, 100, null],
  ])('unchanged: %s', (_, facts, lastCompleteSlot, end) =>
    expect(
      nextStep(
        keyset,
        first,
        page({ cursor: 'c', ...facts }),
        goal({ lastCompleteSlot, seenSlot: lastCompleteSlot, firstContent: 'same' }),
      ).end,
    ).toBe(end),
  );
});

test('an operation of one answer ends with it', () =>
  expect(nextStep(single, { limit: 1 }, page({ cursor: 'c' }), goal())).toEqual({
    next: null,
    end: 'exhausted',
  }));

test('an operation with cursors only ends without one, on the first page too', () => {
  expect(nextStep(cursorOnly, { limit: 10 }, page({ records: 9 }), goal()).end).toBe('exhausted');
  expect(nextStep(cursorOnly, { limit: 10 }, page(), goal())).toEqual({ next: null, end: null });
  expect(nextStep(cursorOnly, { limit: 10 }, page({ cursor: 'c' }), goal()).next).toEqual({
    limit: 10,
    cursor: 'c',
  });
});

describe('nextStep of a feed', () => {
  test('a head from below what is covered has nothing new, and goes no further down', () => {
    const below = page({ cursor: 'c', slot: 95, lastSlot: 95 });
    const aim = goal({ coveredSlot: 100, seenSlot: 100 });
    expect(nextStep(feed, { limit: 10 }, below, aim)).toEqual({ next: null, end: 'unchanged' });
    expect(nextStep(feed, { limit: 10, cursor: 'b' }, below, aim).end).toBe('covered');
  });

  const dayAgo = now / 1000 - 86_400;
  test.each<[string, Partial<PageFacts>, Partial<PagingGoal>, string | null]>([
    ['goes on', { lastSlot: 50 }, {}, null],
    ['above what is covered', { lastSlot: 50 }, { coveredSlot: 40 }, null],
    ['within the covered slot: signatures share slots', { lastSlot: 40 }, { coveredSlot: 40 }, null],
    ['no slot to go by', { lastSlot: null }, { coveredSlot: 40 }, null],
    ['since all', { lastSlot: 1 }, { since: { kind: 'all' } }, null],
    ['since a slot, in it', { lastSlot: 30 }, { since: { kind: 'slot', slot: 30 } }, null],
    ['since a slot, below it', { lastSlot: 29 }, { since: { kind: 'slot', slot: 30 } }, 'since'],
    ['since pages, before', { page: 1 }, { since: { kind: 'pages', pages: 2 } }, null],
    ['since pages, there', { page: 2 }, { since: { kind: 'pages', pages: 2 } }, 'since'],
    ['since an age, younger', { lastTime: dayAgo }, { since: { kind: 'age', ms: 86_400_000 } }, null],
    ['since an age, older', { lastTime: dayAgo - 1 }, { since: { kind: 'age', ms: 86_400_000 } }, 'since'],
    ['since an age, no time to go by', { lastTime: null }, { since: { kind: 'age', ms: 1 } }, null],
    [
      'both: what is covered says so',
      { lastSlot: 1, page: 2 },
      { coveredSlot: 5, since: { kind: 'pages', pages: 2 } },
      'covered',
    ],
  ])('%s', (_, facts, aim, end) =>
    expect(nextStep(feed, { limit: 10 }, page({ cursor: 'c', ...facts }), goal(aim))).toEqual({
      next: end === null ? { limit: 10, cursor: 'c' } : null,
      end,
    }),
  );

  const after = { limit: 10, cursor: 'c' };
  test.each<[string, Partial<PageFacts>, PagingGoal['since'], Position | null]>([
    ['all: what it relies on may fail', {}, null, after],
    ['a slot below', {}, { kind: 'slot', slot: 30 }, after],
    ['a slot above', {}, { kind: 'slot', slot: 40 }, null],
    ['an age that is reached', { lastTime: dayAgo - 1 }, { kind: 'age', ms: 86_400_000 }, null],
    ['pages', {}, { kind: 'pages', pages: 9 }, null],
  ])(
    'below what is covered it ends, and keeps its cursor where `since` reaches further: %s',
    (_, facts, since, next) =>
      expect(
        nextStep(
          feed,
          { limit: 10 },
          page({ cursor: 'c', lastSlot: 39, ...facts }),
          goal({ coveredSlot: 40, since }),
        ),
      ).toEqual({ next, end: 'covered' }),
  );

  test.each<[string, Partial<PageFacts>, string | null]>([
    ['ends it below a short page', { records: 9 }, 'exhausted'],
    ['leads nowhere below a full one', {}, null],
    ['is not needed where the page reaches what is covered', { lastSlot: 4 }, 'covered'],
  ])('a missing cursor %s', (_, facts, end) =>
    expect(nextStep(feed, { limit: 10 }, page({ lastSlot: 9, ...facts }), goal({ coveredSlot: 5 }))).toEqual({
      next: null,
      end,
    }),
  );
});
