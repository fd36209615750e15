import { describe, expect, test } from 'vitest';
import { daily, firstOf } from '../../levels.ts';
import { type Installation, openInstallation } from '../../support/nights.ts';
import { compareTables } from '../../support/rows.ts';
import type { Call, Script } from '../../support/scripted-api.ts';
import { answerList } from '../../support/scripted-list.ts';

const jobs = (more = '') => ({
  'jobs/feed.yaml': `describe: test\nmethod: getLatestCompressionSignatures\npage_size: 50\nsince: { slot: 1000 }\n${more}`,
});

interface Item {
  signature: string;
  slot?: unknown;
  blockTime: number;
}

interface FeedResult {
  context: { slot: number };
  value: { items: Item[]; cursor: string | null };
}

/** Between two signatures: more than an hour, so that a night reads one of the former again. */
const slotsApart = 10_000;
const slotOf = (n: number) => 1_000_000 + n * slotsApart;
const timeOf = (slot: number) => 1_767_225_600 + slot * 0.4;
const item = (slot: number, name = `${slot}`): Item => ({
  ...{ signature: `Sig${name.replaceAll('0', 'z')}`.padEnd(88, '1') },
  ...{ slot, blockTime: timeOf(slot) },
});

/** The feed of the first `count` signatures, newest first. */
const feedOf = (count: number) => Array.from({ length: count }, (_, n) => item(slotOf(count - 1 - n)));

/** Answers a feed in pages, its newest signature of the moment when the first page is asked for, as time goes on. */
const dated = (feed: () => readonly Item[], pageSize = 50): Script => {
  let ageMs: number | null = null;
  return (call: Call) => {
    const items = feed();
    ageMs ??= Date.now() - items[0]!.blockTime * 1000;
    const later = Math.floor(ageMs / 1000);
    const now = items.map((one) => ({ ...one, blockTime: one.blockTime + later }));
    return answerList(call, now, { slot: (items[0]!.slot as number) + 10, pageSize });
  };
};

/** Answers a feed in pages, as of its newest slot. @param spoil what to make of the items of a page, by its first item */
const answer =
  (items: readonly Item[], spoil: (page: Item[], from: number) => Item[] = (page) => page): Script =>
  (call: Call) => {
    const result = answerList(call, items, { slot: slotOf(items.length), pageSize: 50 }) as {
      value: { items: Item[] };
    };
    result.value.items = spoil(result.value.items, Number(call.params.cursor ?? 0));
    return result;
  };

const signatures = async (place: Installation) =>
  (await place.rows<{ n: string }>('select count(*) as n from compression_signatures'))[0]?.n;
const coverage = (place: Installation) =>
  place.rows('select low_slot, high_slot, state from meta.coverage order by low_slot');

describe('the last record of a feed page', () => {
  test.each<[string, (last: Item) => Partial<Item>]>([
    ['has slot 0', () => ({ slot: 0 })],
    ['has no slot', () => ({ slot: undefined })],
    ['has a slot from long ago', () => ({ slot: 7 })],
    ['has its slot as text', ({ slot }) => ({ slot: `${slot}` })],
  ])('%s: nothing below it is left out, and the next night costs one request', async (_, change) => {
    const place = await openInstallation(jobs());
    const wrong = answer(feedOf(300), (page) =>
      page.map((one, n) => (n === 49 ? { ...one, ...change(one) } : one)),
    );
    const night = await place.night(wrong);
    expect(night.report?.exitCode).toBe(0);
    // The empty page below the last full one is asked for twice.
    expect(night.calls.length).toBe(7 + 1);
    expect(await signatures(place)).toBe('300');
    const quiet = await place.night(answer(feedOf(300)));
    expect(quiet.calls.length).toBe(1);
    expect(await coverage(place)).toEqual([{ low_slot: '0', high_slot: `${slotOf(300)}`, state: 'covered' }]);
  });
});

test('a page that is in no order is asked three times, covers nothing, and is filled the next night', async () => {
  const place = await openInstallation(jobs());
  const wrong = answer(feedOf(300), (page, from) => (from === 100 ? page.toReversed() : page));
  const night = await place.night(wrong);
  expect(night.report?.exitCode).toBe(0);
  expect(night.calls.filter(({ params }) => params.cursor === '100').length).toBe(3);
  const gaps = "select low_slot, high_slot, cursor from meta.coverage where state = 'gap'";
  // Of the pages above and below, which it puts in doubt, too.
  expect(await place.rows(gaps)).toEqual([
    { low_slot: `${slotOf(100) + 1}`, high_slot: `${slotOf(250)}`, cursor: '50' },
  ]);
  const repaired = await place.night(answer(feedOf(300)));
  expect(repaired.calls.map(({ params }) => params.cursor)).toEqual([undefined, '50', '100', '150', '200']);
  expect(await place.rows(gaps)).toEqual([]);
  const other = await openInstallation(jobs());
  await other.night(answer(feedOf(300)));
  expect(compareTables(await place.tables(), await other.tables())).toEqual([]);
});

test('an empty page below a full one is asked for again: a first crawl misses nothing', async () => {
  const place = await openInstallation(jobs());
  let empty = 1;
  const items = feedOf(280);
  const flaky = answer(items, (page, from) => {
    if (from !== 100 || empty === 0) return page;
    empty -= 1;
    return [];
  });
  const night = await place.night((call) => {
    const result = flaky(call) as FeedResult;
    // The end as lists have it: no record, and no cursor.
    return result.value.items.length > 0 ? result : { ...result, value: { items: [], cursor: null } };
  });
  expect(night.code).toBe(0);
  expect(night.calls.length).toBe(7 + 1);
  expect(await signatures(place)).toBe('280');
  expect(await coverage(place)).toEqual([{ low_slot: '0', high_slot: `${slotOf(280)}`, state: 'covered' }]);
});

test('a feed in the wrong order fails after two pages: it covers nothing, and is not bought every night', async () => {
  const place = await openInstallation(jobs());
  await place.night(answer(feedOf(200)));
  const wrong = await place.night(answer(feedOf(300).toReversed()));
  expect(wrong.code).toBe(3);
  expect(wrong.calls.length).toBe(6);
  const [failed] = await place.rows<{ reason: string }>(
    "select reason from meta.checkpoints where state = 'failed'",
  );
  expect(failed?.reason).toContain('do not go down');
  const right = await place.night(answer(feedOf(300)));
  expect(right.report?.exitCode).toBe(0);
  expect(right.calls.length).toBe(3);
  const other = await openInstallation(jobs());
  await other.night(answer(feedOf(200)));
  await other.night(answer(feedOf(300)));
  expect(await signatures(place)).toBe('300');
  expect(await coverage(place)).toEqual(await coverage(other));
  const rebuilt = await place.tables();
  expect(await place.rebuild()).toBe(0);
  expect(compareTables(await place.tables(), rebuilt)).toEqual([]);
});

test('small budgets fill a feed without a repeat; the last hour is read once more, then a quiet night is one request', async () => {
  const pages = 60;
  const feed = {
    'jobs/feed.yaml': `describe: test\nmethod: getLatestCompressionSignatures\npage_size: 2\nsince: all\n`,
  };
  const place = await openInstallation(feed);
  // All of half an hour.
  const items = Array.from({ length: pages * 2 }, (_, n) => item(slotOf(300) - n * 35));
  const script = dated(() => items, 2);
  const asked: unknown[] = [];
  let runs = 0;
  for (let code = 75; code === 75; runs += 1) {
    const night = await place.night(script, { maxRequests: 10, hoursLater: 0.01 });
    asked.push(...night.calls.map(({ params }) => params.cursor));
    code = night.code;
  }
  expect(runs).toBe(7);
  // The end, an empty page below a full one, is asked for twice; the second run asks for the head again.
  expect(asked.length).toBe(pages + 2 + 1);
  expect(await signatures(place)).toBe(`${pages * 2}`);
  // A full refresh that is stopped goes on to the end.
  const refresh = { fullRefresh: true, jobs: ['feed'], hoursLater: 0.01 };
  expect((await place.night(script, { ...refresh, maxRequests: 10 })).code).toBe(75);
  const rest = await place.night(script, refresh);
  expect([rest.code, rest.calls.length]).toEqual([0, pages - 10 + 2 + 1]);
  const again = [];
  for (const _ of [1, 2, 3]) again.push((await place.night(script)).calls.length);
  expect(again).toEqual([pages + 2, 1, 1]);
});

describe('a signature that is indexed late, below what is covered', () => {
  const hour = 9000;
  const late = (slots: number) => item(slotOf(299) - slots, 'Late');
  const withLate = (slots: number) =>
    [...feedOf(300), late(slots)].sort((a, b) => Number(b.slot) - Number(a.slot));

  test('comes within the overlap, and is counted', async () => {
    const place = await openInstallation(jobs());
    await place.night(answer(feedOf(300)));
    const night = await place.night(answer(withLate(hour - 10)));
    expect(night.calls.length).toBe(1);
    expect(night.report?.published.tables.compression_signatures).toMatchObject({ inserted: 1, late: 1 });
  });

  daily.each([
    ['1h', '', 2],
    ['3h', 'overlap: 3h', 6],
    ['0s', 'overlap: 0s', 1],
  ])('not below an overlap of %s, which is all that is read again, once', async (_, overlap, calls) => {
    const place = await openInstallation(jobs(overlap));
    const dense = Array.from({ length: 600 }, (_, n) => item(slotOf(300) - n * 100));
    let items = dense;
    const script = dated(() => items);
    await place.night(script);
    items = [...dense, item(slotOf(300) - 4 * hour + 50, 'Late')];
    items.sort((a, b) => Number(b.slot) - Number(a.slot));
    expect((await place.night(script)).calls.length).toBe(calls);
    expect(await signatures(place)).toBe('600');
    expect((await place.night(script)).calls.length).toBe(1);
  });
});

describe('a feed that ends too early for a night', () => {
  const ending: Record<string, (result: FeedResult, cursor: unknown) => FeedResult> = {
    'on its first page': ({ value }) => ({
      context: { slot: slotOf(300) },
      value: { ...value, cursor: null },
    }),
    'with an empty second page': (result, cursor) => (cursor === undefined ? result : emptyFeed),
    'with nothing': () => emptyFeed,
  };
  const emptyFeed: FeedResult = { context: { slot: slotOf(300) }, value: { items: [], cursor: null } };

  test.each(firstOf(1, Object.keys(ending)))(
    '%s: it is asked again, leaves a gap, and the next nights fill it',
    async (how) => {
      const place = await openInstallation(jobs());
      await place.night(answer(feedOf(100)));
      const wrong: Script = (call) =>
        ending[how]!(answer(feedOf(300))(call) as unknown as FeedResult, call.params.cursor);
      const night = await place.night(wrong);
      // A full page without a cursor fails the target.
      expect(night.report?.exitCode).toBe(how === 'on its first page' ? 3 : 0);
      expect(night.calls.length).toBe(how === 'with an empty second page' ? 3 : 2);
      expect(await coverage(place)).not.toContainEqual(
        expect.objectContaining({ low_slot: '0', high_slot: `${slotOf(300)}` }),
      );
      await place.night(answer(feedOf(300)));
      await place.night(answer(feedOf(300)));
      expect(await signatures(place)).toBe('300');
      const tables = await place.tables();
      expect(await place.rebuild()).toBe(0);
      expect(compareTables(await place.tables(), tables)).toEqual([]);
      expect(await coverage(place)).toEqual([
        { low_slot: '0', high_slot: `${slotOf(300)}`, state: 'covered' },
      ]);
    },
  );

  daily('a first crawl that a budget stopped is not ended by an empty night', async () => {
    const place = await openInstallation(jobs());
    await place.night(answer(feedOf(300)), { maxRequests: 2 });
    await place.night(() => emptyFeed);
    await place.night(answer(feedOf(300)));
    expect(await signatures(place)).toBe('300');
  });
});
