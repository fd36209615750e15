import { expect, test } from 'vitest';
import { openInstallation } from '../../support/nights.ts';
import { type Call, RpcError, type Script } from '../../support/scripted-api.ts';
import { answerList } from '../../support/scripted-list.ts';
import { answerWallets, type WalletLedger, walletKey } from '../../support/wallet-ledger.ts';

const [ann, bob] = [walletKey('Ann'), walletKey('Bob')];
const accounts = (owners: readonly string[], more = '') =>
  `describe: test\nmethod: getTokenAccounts\nfor_each: {owner: {values: [${owners}]}}\n${more}`;
const history = (wallet: string) =>
  `describe: test\nmethod: walletHistory\npage_size: 5\nfor_each: {wallet: {values: [${wallet}]}}\n`;
const held = (owner: string, amount: number) =>
  [1, 2, 3].map((n) => ({
    address: walletKey(`${owner.slice(0, 3)}Acc${n}`),
    mint: walletKey('Mint'),
    owner,
    amount,
  }));

const jobs = {
  'jobs/a.yaml': accounts([ann, bob]),
  // The owner of `b` is one of those of `a`; that of `other` is asked for in pages of another size.
  'jobs/b.yaml': accounts([bob]),
  'jobs/other.yaml': accounts([bob], 'page_size: 50\n'),
  'jobs/history.yaml': history(ann),
  'jobs/same.yaml': history(ann),
};

test('two jobs that ask the same are answered once, and each has its own checkpoints', async () => {
  const ledger: WalletLedger = {
    [ann]: Array.from({ length: 12 }, (_, n) => ({ name: `a${n}`, time: 1_600_000_000 - n * 7200 })),
  };
  const wallets = answerWallets(ledger, 5);
  const script =
    (amount: number, slot: number): Script =>
    (call: Call) =>
      call.operation === 'getTokenAccounts'
        ? answerList(call, held(call.params.owner, amount), { slot })
        : wallets(call);
  const place = await openInstallation(jobs);
  const first = await place.night(script(1, 100));
  expect(first.code).toBe(0);
  // Three lists of a page and an empty one, and a history of three pages.
  expect(first.calls.length).toBe(3 * 2 + 3);
  const complete = `select job, count(*)::int as n from meta.checkpoints where state = 'complete' group by job order by job`;
  expect(await place.rows(complete)).toMatchObject([
    { job: 'a' },
    { job: 'b' },
    { job: 'history' },
    { job: 'other' },
    { job: 'same' },
  ]);

  const second = await place.night(script(2, 200));
  expect(second.calls.length).toBe(3 * 2 + 1);
  expect(await place.rows('select distinct amount::int as amount from token_accounts')).toEqual([
    { amount: 2 },
  ]);

  const refused = await place.night((call) =>
    call.params.owner === bob ? new RpcError(-32602, 'no') : script(3, 300)(call),
  );
  expect(refused.code).toBe(3);
  expect(Object.entries(refused.report!.jobs).map(([job, { failed }]) => [job, failed])).toEqual(
    expect.arrayContaining([
      ['a', 1],
      ['b', 1],
      ['other', 1],
    ]),
  );
  // One of the two that asked the same was stopped by name: they go their own ways, and meet again.
  await place.night(script(4, 400), { jobs: ['b'] });
  expect((await place.night(script(5, 500))).code).toBe(0);
  expect(await place.rows('select distinct amount::int as amount from token_accounts')).toEqual([
    { amount: 5 },
  ]);
});

test('crawls that were stopped together go on together: what is left is asked for once', async () => {
  const place = await openInstallation({ 'jobs/a.yaml': accounts([ann]), 'jobs/b.yaml': accounts([ann]) });
  const script: Script = (call) => answerList(call, held(ann, 1), { slot: 100, pageSize: 1 });
  const first = await place.night(script, { maxRequests: 2 });
  expect(first.code).toBe(75);
  expect(first.calls.length).toBe(2);
  const second = await place.night(script, { hoursLater: 1 });
  expect(second.code).toBe(0);
  // The third page, and the empty one.
  expect(second.calls.length).toBe(2);
  expect(await place.rows('select count(*)::int as n from token_accounts')).toEqual([{ n: 3 }]);
  expect(
    await place.rows(
      `select job, pages::int as pages, records::int as records from meta.checkpoints where state = 'complete' order by job`,
    ),
  ).toEqual(['a', 'b'].map((job) => ({ job, pages: 4, records: 3 })));
});
