import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import type { QuarantineEntry } from '../../../src/status/quarantine.ts';
import type { Script } from '../../support/scripted-api.ts';
import { answerList } from '../../support/scripted-list.ts';
import { openScriptable, type ScriptedWorkplace } from '../../support/workplace.ts';

const key = (name: string, n = 0) => `${name}${'123456789ABCDEFGHJKLMNPQRSTUVWXYZ'[n]}`.padEnd(43, '1');
const [ann, bea] = [key('Ann'), key('Bea')];
const tokens = (owners: readonly string[]) => `describe: Accounts
method: getTokenAccounts
for_each: {owner: {values: [${owners}]}}
`;

/** 20 accounts of an owner, of which the first has this amount. */
const accounts =
  (slot: number, amountOf: (owner: string) => unknown): Script =>
  (call) => {
    const { owner } = call.params;
    const records = Array.from({ length: 20 }, (_, n) => ({
      address: key(owner.slice(0, 4), n),
      ...{ mint: key('Mint'), owner, amount: n === 0 ? amountOf(owner) : n },
    }));
    return answerList(call, records, { slot });
  };

async function entries(place: ScriptedWorkplace, ...args: string[]): Promise<QuarantineEntry[]> {
  const { code, stdout, stderr } = await place.cli('quarantine', 'list', ...args, '--each', '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout).entries;
}

test('entries are listed, shown with their text and request, and asked for again, their targets alone', async () => {
  const place = await openScriptable({ 'jobs/tokens.yaml': tokens([ann, bea]) });
  place.answer(accounts(1000, (owner) => (owner === ann ? '1.5e3x' : 1)));
  expect((await place.nextDay('run')).code).toBe(0);

  const [entry, ...others] = await entries(place);
  expect(others).toEqual([]);
  const address = key(ann.slice(0, 4));
  expect(entry).toMatchObject({ table: 'token_accounts', job: 'tokens', target: ann, key: address });
  expect(entry).toMatchObject({ column: 'amount', raw: '1.5e3x', page: 1 });
  expect(await entries(place, 'other')).toEqual([]);
  expect(await entries(place, '--table', 'assets')).toEqual([]);
  expect(await entries(place, '--reason', 'FIT its')).toHaveLength(1);
  const groups = await place.cli('quarantine', 'list');
  expect(groups.stdout).toContain('1 entry');

  for (const named of [entry!.id, entry!.id.slice(0, 5), address]) {
    const { stdout } = await place.cli('quarantine', 'show', named);
    expect(stdout).toContain('1.5e3x');
    expect(stdout).toContain(`getTokenAccounts {"owner":"${ann}"`);
  }
  expect(await place.cli('quarantine', 'show', 'nothing')).toMatchObject({ code: 2 });
  const explained = await place.cli('explain', 'token_accounts', address);
  expect(explained.stdout).toContain('amount is NULL because its text did not fit');

  // Read again, it still does not fit.
  expect(await place.cli('quarantine', 'retry')).toMatchObject({
    code: 3,
    stdout: expect.stringContaining('1 entry read again from 1 segments: 0 fit now, 1 do not'),
  });
  expect(await place.cli('quarantine', 'retry', 'tokens', '--table', 'assets')).toMatchObject({ code: 0 });

  place.answer(accounts(2000, () => '18446744073709551615'));
  const asked = await place.nextDay('quarantine', 'retry', '--ask');
  expect(asked, asked.stderr).toMatchObject({ code: 0 });
  expect(new Set(place.calls().map(({ params }) => params.owner))).toEqual(new Set([ann]));
  expect(await entries(place)).toEqual([]);
  expect(await place.rows(`select amount from token_accounts where address = '${address}'`)).toEqual([
    { amount: '18446744073709551615' },
  ]);
  // It was no round of the job: the next run crawls all its targets.
  place.answer(accounts(3000, () => 5));
  expect((await place.nextDay('run')).code).toBe(0);
  expect(new Set(place.calls().map(({ params }) => params.owner))).toEqual(new Set([ann, bea]));
});

test('a retry reads the kept text with the mapping of today, and asks the API nothing', async () => {
  const place = await openScriptable({ 'jobs/tokens.yaml': tokens([ann]) });
  place.answer(accounts(1000, () => '9007199254740993'));
  await place.nextDay('run');
  const address = key(ann.slice(0, 4));
  // As a mapping that did not know such amounts would have left it.
  const instance = await DuckDBInstance.create(join(place.data, 'build.duckdb'));
  const connection = await instance.connect();
  await connection.run(
    `update token_accounts set amount = null, record_hash = 1 where address = '${address}'`,
  );
  await connection.run(`insert into meta.quarantine
    select 'token_accounts', task, crawl, 1, 1000, '${address}', 'amount', 'does not fit its type', '9007199254740993'
    from meta.checkpoints`);
  connection.closeSync();
  instance.closeSync();
  await place.cli('publish');
  expect(await entries(place)).toHaveLength(1);
  place.answer(() => {
    throw new Error('the API was asked');
  });
  const retried = await place.cli('quarantine', 'retry', '--json');
  expect(retried, retried.stderr).toMatchObject({ code: 0 });
  expect(JSON.parse(retried.stdout)).toMatchObject({ tried: 1, left: 0, gone: 0 });
  expect(place.calls()).toEqual([]);
  expect(await entries(place)).toEqual([]);
  expect(await place.rows(`select amount from token_accounts where address = '${address}'`)).toEqual([
    { amount: '9007199254740993' },
  ]);
});
