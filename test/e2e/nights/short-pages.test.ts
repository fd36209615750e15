import { expect, test } from 'vitest';
import { daily } from '../../levels.ts';
import { openInstallation } from '../../support/nights.ts';
import type { Call, Script } from '../../support/scripted-api.ts';
import { answerList } from '../../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const mint = key('Mint');
const accountsOf = (owner: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    ...{ address: key(`${owner.slice(0, 3)}Acc${n + 1}Q`), mint, owner, amount: 5 },
  }));
const filesOf = (owners: readonly string[], pageSize: number, trusts: boolean) => ({
  'jobs/accounts.yaml': `describe: test\nmethod: getTokenAccounts\npage_size: ${pageSize}\nfor_each: {owner: {values: [${owners}]}}\n`,
  ...(trusts ? { 'ledgerlake.yaml': 'api: {short_page_ends: {getTokenAccounts: true}}\n' } : {}),
});
const ownersOf = (count: number) =>
  Array.from({ length: count }, (_, n) => key(`W${'ABCDEFGHJK'[n % 10]}${1 + Math.floor(n / 10)}`));

/** Pages of at most so many, whatever is asked for. */
const answer =
  (ledger: Record<string, object[]>, slot: number, pageSize?: number): Script =>
  (call: Call) =>
    answerList(call, ledger[call.params.owner]!, { slot, ...(pageSize === undefined ? {} : { pageSize }) });

const rows = 'select count(*)::int as n from token_accounts';

test('a short page ends a list where the config says so, but for some; a crawl that ended so closes no rows', async () => {
  const owners = ownersOf(40);
  const ledger = Object.fromEntries(owners.map((owner) => [owner, accountsOf(owner, 2)]));
  const exact = await openInstallation(filesOf(owners, 10, false));
  expect((await exact.night(answer(ledger, 100))).calls.length).toBe(80);

  const place = await openInstallation(filesOf(owners, 10, true));
  const first = await place.night(answer(ledger, 100));
  expect(first.code).toBe(0);
  // The first, and two of the 40, of which the first may be one.
  expect([42, 43]).toContain(first.calls.length);
  expect(await place.rows(rows)).toEqual([{ n: 80 }]);

  const fewer = Object.fromEntries(owners.map((owner) => [owner, accountsOf(owner, 1)]));
  const night = await place.night(answer(fewer, 200));
  expect(night.code).toBe(0);
  const pages = new Map<string, number>();
  for (const { params } of night.calls) pages.set(params.owner, (pages.get(params.owner) ?? 0) + 1);
  const asked = [...pages.values()].filter((count) => count === 2).length;
  expect([2, 3]).toContain(asked);
  expect(await place.rows(rows)).toEqual([{ n: 80 - asked }]);
});

test('a short page that was not the last turns it off for the source, and what relied on it is asked for again', async () => {
  const owners = ownersOf(8);
  const ledger = Object.fromEntries(owners.map((owner) => [owner, accountsOf(owner, 5)]));
  const place = await openInstallation(filesOf(owners, 10, true));
  const night = await place.night(answer(ledger, 100, 2));
  expect(night.code).toBe(0);
  expect(await place.rows(rows)).toEqual([{ n: 40 }]);
  // At first all but one ended with their first page; none of them does as they are asked for again.
  const ends = `select distinct reason from (
    select arg_max(reason, crawl) as reason from meta.checkpoints where state = 'complete' group by task
  )`;
  expect(await place.rows(ends)).toEqual([{ reason: 'exhausted' }]);
  const later = await place.night(answer(ledger, 200, 2));
  expect(later.calls.length).toBe(8 * 4);
});

daily(
  'asking some targets again asks no other, although a short page of theirs was not the last',
  async () => {
    const owners = ownersOf(6);
    const ledger = Object.fromEntries(owners.map((owner) => [owner, accountsOf(owner, 5)]));
    const place = await openInstallation(filesOf(owners, 10, true));
    expect((await place.night(answer(ledger, 100))).code).toBe(0);
    const [chosen] = owners;
    const retried = await place.night(answer(ledger, 200, 2), { only: [`accounts/${chosen}`] });
    expect(retried.code).toBe(0);
    expect([...new Set(retried.calls.map(({ params }) => params.owner))]).toEqual([chosen]);
    // The next night asks the others past their short pages.
    expect((await place.night(answer(ledger, 300, 2))).calls.length).toBe(6 * 4);
  },
);
