import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPageGroup } from '../../../src/crawl/record-keys.ts';
import type { PageGroup } from '../../../src/landing/page-line.ts';
import { newCrawl, newTask } from '../../support/crawl.ts';
import { newRecord, newRecords } from '../../support/pages.ts';

let made = 0;
/** A record of a signature, unlike all others. */
const record = (signature: unknown) => {
  made += 1;
  return newRecord(JSON.stringify({ signature, amount: made }));
};

test('cut anywhere, every record gets the position it has in the whole list', () => {
  const list = fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 8 });
  fc.assert(
    fc.property(
      list,
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 60, maxLength: 60 }),
      (sizes, cuts) => {
        const signatures = sizes.flatMap((size, group) => Array<string>(size).fill(`s${group}`));
        const expected = signatures.map((one, n) => n - signatures.indexOf(one));
        const positions: number[] = [];
        let before: PageGroup | null = null;
        for (let from = 0; from < signatures.length; ) {
          const page = signatures.slice(from, from + (cuts.shift() ?? 1));
          const group = readPageGroup('signature', page.map(record), before) as PageGroup;
          // As sql/shapes/wallet_transfer does: the row's number in its page, and for the first group what came before.
          positions.push(
            ...page.map((one, n) => n - page.indexOf(one) + (one === page[0] ? group.before : 0)),
          );
          before = group;
          from += page.length;
        }
        expect(positions).toEqual(expected);
      },
    ),
  );
});

test('records that name no group have none', () => {
  for (const value of [null, 5, undefined, {}])
    expect(readPageGroup('signature', [record(value)], null)).toBeNull();
  expect(readPageGroup('signature', [], null)).toBeNull();
  expect(readPageGroup('signature', newRecords('[1]'), null)).toBeNull();
});

test('a record that cannot be read has its place in its group; one without a group has none and ends none', () => {
  const refused = Object.assign(newRecord('{"signature":"b","symbol":"\\ud800"}'), {
    refusal: 'half a surrogate',
  });
  const before = readPageGroup('signature', [...['a', 'b'].map(record), refused, record('')], null);
  expect(before).toMatchObject({ before: 0, last: 'b', count: 2 });
  expect(readPageGroup('signature', [record(''), record(null)], before)).toEqual(before);
  const again = Object.assign(newRecord('{"signature":"b","symbol":"\\udc00"}'), {
    refusal: 'half a surrogate',
  });
  const after = [record(''), again, record('b'), record('')];
  expect(readPageGroup('signature', after, before)).toMatchObject({ before: 2, last: 'b', count: 4 });
});

test.each<[string, string[], string[], number]>([
  ['nothing arrived', ['a1', 'b1', 'b2'], ['b3', 'c1'], 2],
  ['one arrived', ['a1', 'b1', 'b2'], ['b2', 'b3', 'c1'], 1],
  ['two arrived', ['a1', 'b1', 'b2'], ['b1', 'b2', 'b3'], 0],
  ['one arrived, and the list has two that are equal', ['a1', 'b1', 'b2'], ['b2', 'b2', 'c1'], 1],
  ['two arrived, and both pages show two that are equal', ['a1', 'b1', 'b1'], ['b1', 'b1', 'b2'], 0],
])('a page that begins with rows of the one before it: %s', (_, first, second, before) => {
  const page = (names: string[]) =>
    newRecords(...names.map((name) => JSON.stringify({ signature: name[0], name })));
  const group = readPageGroup('signature', page(first), null);
  expect(readPageGroup('signature', page(second), group)).toMatchObject({ before });
});

test('an empty page between the rows of a group does not end it', () => {
  const before = readPageGroup('signature', ['a', 'b', 'b'].map(record), null);
  expect(readPageGroup('signature', [], before)).toMatchObject({ before: 0, last: 'b', count: 2 });
  const after = readPageGroup('signature', ['b', 'c'].map(record), readPageGroup('signature', [], before));
  expect(after).toMatchObject({ before: 2, last: 'c', count: 1 });
});

test('a crawl that goes on after a stop knows how far the group was', async () => {
  const data = (...signatures: string[]) => signatures.map((signature) => ({ signature, n: Math.random() }));
  const pages = [data('a', 'b', 'b'), data('b', 'b', 'b'), data('b', 'c')];
  let fail = true;
  const operation = { ...newTask('walletTransfers').operation, transport: 'rpc' as const };
  const { rest: _, ...rpc } = operation;
  const crawl = await newCrawl({ ...newTask('walletTransfers'), operation: rpc }, ({ cursor }) => {
    const at = Number(cursor ?? 0);
    if (at === 2 && fail) return new Error('not now');
    const hasMore = at < 2;
    return { data: pages[at], pagination: { hasMore, nextCursor: hasMore ? String(at + 1) : null } };
  });
  expect(await crawl.run()).not.toBeNull();
  expect((await crawl.landed()).last?.group).toMatchObject({ before: 2, last: 'b', count: 5 });
  fail = false;
  expect(await crawl.run()).toBeNull();
  const { last } = await crawl.landed();
  expect(last).toMatchObject({ page: 3, end: 'exhausted', group: { before: 5, last: 'c', count: 1 } });
});

test('more records without a cursor fail the target; an empty page with a cursor is no end', async () => {
  const { rest: _, ...rpc } = { ...newTask('walletHistory').operation, transport: 'rpc' as const };
  const task = { ...newTask('walletHistory'), operation: rpc };
  const stuck = await newCrawl(task, () => ({
    data: [{ n: 1 }],
    pagination: { hasMore: true, nextCursor: null },
  }));
  expect((await stuck.run())?.message).toContain('there are more records');
  const filtered = await newCrawl(task, ({ before }) => ({
    data: before === undefined ? [] : [{ n: 1 }],
    pagination:
      before === undefined ? { hasMore: true, nextCursor: 'x' } : { hasMore: false, nextCursor: 'y' },
  }));
  expect(await filtered.run()).toBeNull();
  expect(filtered.asked.map(({ before }) => before)).toEqual([undefined, 'x']);
  const circle = await newCrawl(task, () => ({ data: [], pagination: { hasMore: true, nextCursor: 'x' } }));
  expect((await circle.run())?.message).toContain('in a circle');
});
