import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect } from 'vitest';
import { daily } from '../../levels.ts';
import { type Installation, openInstallation } from '../../support/nights.ts';
import type { Call, Script } from '../../support/scripted-api.ts';
import { answerList } from '../../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const [mint, owner] = [key('Mint'), key('Who')];
const account = (n: number, amount: number) => ({ address: key(`Acc${n}Q`), mint, owner, amount });

/** As if a former mapping had read other amounts: all rows and versions are to be rebuilt. */
async function makeFormer({ data }: Installation): Promise<void> {
  const build = await DuckDBInstance.create(join(data, 'build.duckdb'));
  const connection = await build.connect();
  for (const table of ['token_accounts', 'past.token_accounts'])
    await connection.run(`update ${table} set amount = amount + 1000, record_hash = hash(record_hash)`);
  await connection.run(`update meta.mappings set digest = 'former' where shape = 'token_account'`);
  connection.closeSync();
  build.closeSync();
}

const former = 'select count(*)::int as n from token_accounts_history where amount > 1000';

const jobs = {
  'jobs/accounts.yaml': `describe: test\nmethod: getTokenAccounts\npage_size: 2\nparams: {owner: ${owner}}\n`,
};
const accounts = [1, 2, 3, 4, 5, 6].map((n) => account(n, 5));
const answer =
  (slotOf: (call: Call) => number): Script =>
  (call) =>
    answerList(call, accounts, { slot: slotOf(call), pageSize: 2 });

daily(
  'a reload where the last night has the texts of all others: rows are rebuilt from its own',
  async () => {
    const place = await openInstallation(jobs);
    for (const slot of [200, 300, 400]) expect((await place.night(answer(() => slot))).code).toBe(0);
    await makeFormer(place);
    await place.publish();
    expect(await place.rows(former)).toEqual([{ n: 0 }]);
  },
);

daily(
  'a reload makes rows again whose text a later crawl has, too, from a replica that was behind',
  async () => {
    const place = await openInstallation(jobs);
    expect((await place.night(answer(() => 200))).code).toBe(0);
    expect((await place.night(answer(({ params }) => (params.cursor === '2' ? 150 : 300)))).code).toBe(0);
    await makeFormer(place);
    await place.publish();
    expect(await place.rows(former)).toEqual([{ n: 0 }]);
  },
);

daily('a reload makes a version again that another job ended before its text came once more', async () => {
  const place = await openInstallation({
    'jobs/owners.yaml': `describe: test\nmethod: getTokenAccounts\nparams: {owner: ${owner}}\n`,
    'jobs/mints.yaml': `describe: test\nmethod: getTokenAccounts\nparams: {mint: ${mint}}\n`,
  });
  const night = (job: string, amount: number, slot: number) =>
    place.night((call) => answerList(call, [account(1, amount), account(2, 7)], { slot }), { jobs: [job] });
  expect((await night('owners', 5, 200)).code).toBe(0);
  expect((await night('mints', 6, 300)).code).toBe(0);
  expect((await night('owners', 5, 400)).code).toBe(0);
  await makeFormer(place);
  await place.publish();
  expect(await place.rows(former)).toEqual([{ n: 0 }]);
});
