import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openInstallation } from '../../support/nights.ts';
import { compareTables } from '../../support/rows.ts';
import type { Call } from '../../support/scripted-api.ts';
import { answerList } from '../../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const jobs = {
  'jobs/balances.yaml': `describe: test\nmethod: walletBalances\nfor_each: {wallet: {values: [${key('Who')}]}}\n`,
  'jobs/assets.yaml': `describe: test\nmethod: getAssetsByGroup\nparams: {groupKey: collection}\nfor_each: {groupValue: {values: [${key('Cob')}]}}\n`,
};

const ledger = (slot: number, amount: number) => (call: Call) =>
  call.operation === 'walletBalances'
    ? answerList(call, [{ mint: key('Mint'), balance: amount, decimals: 0 }], { slot: null })
    : answerList(
        call,
        [{ id: key('Asset'), interface: 'Custom', ownership: { owner: key(`Own${amount}`) } }],
        { slot },
      );

const balance = 'select balance, seen_at::date::text as day from wallet_balances';

test("a night on which our clock is 30 days ahead: times are the answers', and the nights after are believed", async () => {
  const place = await openInstallation(jobs);
  const other = await openInstallation(jobs);
  for (const [night, clockAheadDays] of [
    [1, 0],
    [2, 30],
    [3, 0],
  ] as const) {
    const played = await place.night(ledger(night * 1000, night), { clockAheadDays });
    const wanted = await other.night(ledger(night * 1000, night));
    expect([played.code, wanted.code]).toEqual([0, 0]);
    const rows = await place.rows(balance);
    expect(rows).toEqual(await other.rows(balance));
    expect(rows).toMatchObject([{ balance: night }]);
    const finished =
      "select max(finished_at)::date::text as day from meta.checkpoints where state = 'complete'";
    expect(await place.rows(finished)).toEqual(await other.rows(finished));
  }
  expect(compareTables(await place.tables(), await other.tables())).toEqual([]);
});

test('nights whose answers, or whose clock, are dated 400 days ahead or back: no raw record of the week is removed', async () => {
  const place = await openInstallation(jobs);
  const archived = async () =>
    (await readdir(join(place.data, 'archive'))).filter((name) => name.endsWith('.pages.parquet')).length;
  const wrong = [{}, { datesAheadDays: 400 }, { datesAheadDays: -400 }, { clockAheadDays: 400 }];
  for (const [night, options] of wrong.entries()) {
    await place.night(ledger((night + 1) * 1000, night + 1), options);
    expect(await archived()).toBe(2 * (night + 1));
  }
});
