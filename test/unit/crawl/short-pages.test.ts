import { expect, test } from 'vitest';
import { createShortPages } from '../../../src/crawl/paging.ts';
import { findOperation } from '../../../src/operations/catalogue.ts';
import { newCrawl, newTask } from '../../support/crawl.ts';

const accounts = findOperation('getTokenAccounts')!;
const assets = findOperation('getAssetsByGroup')!;

test.each([0, 0.5, 0.99])('the first short page and one in 20 are asked past (%d)', (random) => {
  const pages = createShortPages(
    new Set([accounts.name]),
    () => random,
    async () => undefined,
  );
  const ends = Array.from({ length: 400 }, () => pages.isEnd(accounts));
  expect(ends[0]).toBe(false);
  expect(ends.filter((isEnd) => !isEnd).length).toBe(random === 0 ? 20 : 21);
  expect(pages.isEnd(assets)).toBe(false);
});

test('the first that was not the end turns it off, and is told once', async () => {
  const told: string[] = [];
  const pages = createShortPages(
    new Set([accounts.name]),
    () => 0,
    async (...what) => {
      told.push(what.join(' '));
    },
  );
  for (let n = 0; n < 2; n++) await pages.refute(accounts, 'job', 'target');
  await pages.refute(assets, 'job', 'target');
  expect(told).toEqual(['getTokenAccounts job target']);
  expect(Array.from({ length: 20 }, () => pages.isEnd(accounts))).not.toContain(true);
});

test('a crawl that was stopped after a short page finds out that it was not the last as it goes on', async () => {
  const refuted: string[] = [];
  const shortPages = {
    isEnd: () => false,
    refute: async (_: unknown, job: string) => {
      refuted.push(job);
    },
  };
  const ids = ['a', 'b', 'c'];
  let stops = true;
  const crawl = await newCrawl(newTask('getTokenAccounts', { pageSize: 10 }), ({ cursor }) => {
    if (cursor === '1' && stops) {
      stops = false;
      return new Error('no');
    }
    const at = Number(cursor ?? 0);
    const items = ids.slice(at, at + 1).map((address) => ({ address }));
    return {
      token_accounts: items,
      ...(items.length > 0 ? { cursor: `${at + 1}` } : {}),
      last_indexed_slot: 100,
    };
  });
  expect(await crawl.run({}, { shortPages })).not.toBe(null);
  expect(refuted).toEqual([]);
  expect(await crawl.run({}, { shortPages })).toBe(null);
  expect(refuted.length).toBe(2);
});
