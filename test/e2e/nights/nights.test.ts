import { expect, test } from 'vitest';
import { openInstallation } from '../../support/nights.ts';
import { compareTables } from '../../support/rows.ts';
import { type Call, RawReply, RpcError } from '../../support/scripted-api.ts';
import { answerList } from '../../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const jobs = {
  'jobs/tokens.yaml': `describe: test
method: getTokenAccounts
for_each: {owner: {values: [${key('Who')}]}}
`,
  'jobs/balances.yaml': `describe: test
method: walletBalances
for_each: {wallet: {values: [${key('Who')}]}}
`,
};

/** A ledger of two accounts and a balance. */
const ledger = (slot: number, amount: number) => (call: Call) => {
  if (call.operation === 'walletBalances')
    return answerList(call, [{ mint: key('Mint'), balance: amount, decimals: 0 }], { slot: null });
  const accounts = ['Ann', 'Bea'].map((name) => ({
    ...{ address: key(name), mint: key('Mint'), owner: key('Who'), amount },
  }));
  return answerList(call, accounts, { slot, pageSize: 1 });
};

test('installations that saw the same nights have equal tables, others have not; a night of errors changes none', async () => {
  const one = await openInstallation(jobs);
  expect((await one.night(ledger(100, 1))).report?.exitCode).toBe(0);
  const down = await one.night(({ operation }) =>
    operation === 'walletBalances' ? new RawReply('', 400, 'text/html') : new RpcError(-32602, 'no'),
  );
  expect(down.code).toBe(3);
  expect((await one.night(ledger(200, 2))).code).toBe(0);

  const other = await openInstallation(jobs);
  await other.night(ledger(100, 1));
  expect(compareTables(await one.tables(), await other.tables())).not.toEqual([]);
  await other.night(ledger(200, 2));
  expect(compareTables(await one.tables(), await other.tables())).toEqual([]);
  expect(await one.rows('select address, amount from token_accounts order by address')).toEqual([
    { address: key('Ann'), amount: '2' },
    { address: key('Bea'), amount: '2' },
  ]);
  const [first, second] = await one.rows<{ at: string }>(
    'select distinct valid_from::date::text as at from token_accounts_history order by 1',
  );
  expect(first?.at, 'nights are days apart').not.toBe(second?.at);

  expect(await one.rebuild()).toBe(0);
  expect(compareTables(await other.tables(), await one.tables())).toEqual([]);
});
