import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Explanation } from '../../../src/status/explanation.ts';
import { JsonText, type Script } from '../../support/scripted-api.ts';
import { answerList } from '../../support/scripted-list.ts';
import { openScriptable, type ScriptedWorkplace } from '../../support/workplace.ts';

const key = (name: string) => name.padEnd(43, '1');
const [ann, bea, cat, owner, mint] = ['Ann', 'Bea', 'Cat', 'Who', 'Mint'].map(key) as [
  string,
  ...string[],
] as [string, string, string, string, string];

const tokens = `describe: Accounts
method: getTokenAccounts
for_each: {owner: {values: [${owner}]}}
`;
const balances = `describe: Balances
method: walletBalances
for_each: {wallet: {values: [${owner}]}}
`;

const account = (address: string, amount: string) =>
  `{"address":"${address}","mint":"${mint}","owner":"${owner}","amount":${amount}}`;

/** One page of token accounts in their own text. */
const accounts =
  (slot: number, ...records: string[]): Script =>
  (call) =>
    call.operation === 'walletBalances'
      ? answerList(call, [{ mint, balance: 7, decimals: 0 }], { slot: null })
      : new JsonText(
          `{"last_indexed_slot":${slot},"total":${records.length},"limit":1000,"token_accounts":[${call.params.cursor === undefined ? records : ''}]${call.params.cursor === undefined ? ',"cursor":"c1"' : ''}}`,
        );

async function explain(place: ScriptedWorkplace, ...args: string[]): Promise<Explanation> {
  const { code, stdout, stderr } = await place.cli('explain', ...args, '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Explanation;
}

const most = '18446744073709551615';

test('a row is led back to the answers that made it, with their own text, and to its former versions', async () => {
  const place = await openScriptable({ 'jobs/tokens.yaml': tokens, 'jobs/balances.yaml': balances });
  const nights = [
    [account(ann, '1'), account(bea, '5')],
    [account(ann, most), account(bea, '5')],
    [account(ann, most), account(bea, '5'), account(cat, '2')],
  ];
  for (const [n, records] of nights.entries()) {
    place.answer(accounts((n + 1) * 1000, ...records));
    expect(await place.nextDay('run')).toMatchObject({ code: 0 });
  }
  const runs = await place.rows<{ run_id: string }>('select run_id from meta.runs order by 1');
  const [, second, third] = runs.map(({ run_id }) => run_id);

  const current = await explain(place, 'token_accounts', ann);
  expect(current).toMatchObject({ state: 'current', key: { address: ann }, quarantine: [], absent: null });
  expect(current.answers.map(({ of, page }) => [of, page?.run, page?.slot, page?.text])).toEqual([
    [['last seen'], third, 3000, account(ann, most)],
    [['last change'], second, 2000, account(ann, most)],
  ]);
  expect(current.answers[1]?.page).toMatchObject({
    ...{ job: 'tokens', target: owner, operation: 'getTokenAccounts', page: 1, record: 0, kept: 'archive' },
    request: { owner, limit: 1000 },
  });
  expect(current.versions.map(({ values, valid_from_slot }) => [values.amount, valid_from_slot])).toEqual([
    [most, '2000'],
    ['1', '1000'],
  ]);
  expect(JSON.stringify(current)).not.toContain('sandbox');

  const all = await explain(place, 'token_accounts', ann, '--all');
  expect(all.answers.map(({ page }) => page?.text)).toEqual([
    account(ann, most),
    account(ann, most),
    account(ann, '1'),
  ]);
  const { stdout } = await place.cli('explain', 'token_accounts', ann);
  expect(stdout).toContain(`amount 1 → ${most}`);
  expect(stdout).toContain(account(ann, most));

  // A key of two columns: the first is enough where one row has it.
  const balance = await explain(place, 'wallet_balances', owner);
  expect(balance.key).toEqual({ wallet: owner, mint });
  expect(balance.answers[0]?.page).toMatchObject({ job: 'balances', operation: 'walletBalances' });

  // Two nights without it.
  place.answer(accounts(4000, account(ann, most), account(bea, '5')));
  await place.nextDay('run');
  place.answer(accounts(5000, account(ann, most), account(bea, '5')));
  await place.nextDay('run');
  const gone = await explain(place, 'token_accounts', cat);
  expect(gone).toMatchObject({ state: 'gone', versions: [{ gone_reason: 'zero_or_closed' }] });
  expect(gone.reasons.join(' ')).toContain('hides zero balances');
  expect(gone.answers.at(-1)?.page?.text).toBe(account(cat, '2'));

  // What is not kept any more is said to be gone.
  for (const name of await readdir(join(place.data, 'archive'))) await rm(join(place.data, 'archive', name));
  const lost = await explain(place, 'token_accounts', ann);
  expect(lost.answers.map(({ page }) => page)).toEqual([null, null]);
  expect(lost.reasons.join(' ')).toContain('keep_raw_days');
});

test('mistakes are reported: an unknown table or key, part of a key that several rows have', async () => {
  const place = await openScriptable({ 'jobs/tokens.yaml': tokens, 'jobs/balances.yaml': balances });
  place.answer((call) =>
    call.operation === 'walletBalances'
      ? answerList(
          call,
          [mint, key('Coin')].map((one) => ({ mint: one, balance: 7, decimals: 0 })),
          { slot: null },
        )
      : accounts(1000, account(ann, '1'))(call),
  );
  await place.nextDay('run');
  const stderrOf = async (...args: string[]) => {
    const { code, stderr } = await place.cli('explain', ...args);
    expect(code).toBe(2);
    return stderr;
  };
  expect(await stderrOf('nothing', ann)).toContain('no table "nothing"');
  expect(await stderrOf('token_accounts', bea)).toContain(`token_accounts has no row ${bea}`);
  expect(await stderrOf('token_accounts', ann, bea)).toContain('1 values, not 2');
  expect(await stderrOf('wallet_balances', owner)).toContain(
    `ledgerlake explain wallet_balances ${owner} ${mint}`,
  );
});
