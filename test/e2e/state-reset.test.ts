import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { daily } from '../levels.ts';
import { openInstallation } from '../support/nights.ts';
import { runProgram } from '../support/program.ts';
import type { Call } from '../support/scripted-api.ts';
import { answerList } from '../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const owners = [key('Ann'), key('Bea')];
const files = {
  'jobs/tokens.yaml': `describe: test
method: getTokenAccounts
for_each: {owner: {values: [${owners.join(', ')}]}}
`,
  'jobs/signatures.yaml': `describe: test
method: getCompressionSignaturesForTokenOwner
for_each: {owner: {values: [${key('Ann')}]}}
since: all
`,
};

/** Two accounts an owner and two signatures, on a page each. */
const ledger = (slot: number) => (call: Call) =>
  call.operation === 'getTokenAccounts'
    ? answerList(
        call,
        ['Fst', 'Next'].map((name) => ({
          ...{ address: key(`${name}${call.params.owner.slice(0, 3)}`), mint: key('Mint') },
          ...{ owner: call.params.owner, amount: 1 },
        })),
        { slot, pageSize: 1 },
      )
    : answerList(
        call,
        [90, 80].map((at) => ({
          signature: `${at}`.replace(/0/, '9').padEnd(88, '1'),
          slot: at,
          blockTime: at,
        })),
        { slot, pageSize: 1 },
      );

test('state reset begins a job, or one target, anew, and leaves its rows', async () => {
  const place = await openInstallation(files);
  const reset = (...args: string[]) => runProgram(['state', 'reset', ...args], { cwd: dirname(place.data) });
  const pages = async (...hours: number[]) => {
    const { code, calls } = await place.night(ledger(100), { hoursLater: hours[0] ?? 24 });
    expect(code).toBe(0);
    const of = (owner: string, operation: string) =>
      calls.filter((call) => call.operation === operation && call.params.owner === owner).length;
    return [
      ...owners.map((owner) => of(owner, 'getTokenAccounts')),
      of(key('Ann'), 'getCompressionSignaturesForTokenOwner'),
    ];
  };
  const whole = await pages();
  const rows = 'select address from token_accounts order by 1';
  const before = await place.rows(rows);
  expect(before).toHaveLength(4);
  const quiet = await pages();
  expect(quiet.slice(0, 2), 'nothing can have changed').toEqual([1, 1]);

  expect(await reset('tokens')).toMatchObject({ code: 2, stderr: expect.stringContaining('Add --yes') });
  expect(await reset('nothing', '--yes')).toMatchObject({ code: 2 });
  expect(await pages(), 'neither forgot anything').toEqual(quiet);

  const one = await reset(`tokens/${owners[0]}`, '--yes');
  expect([one.code, one.stdout]).toEqual([0, expect.stringContaining('1 target;')]);
  expect(await pages()).toEqual([whole[0], 1, quiet[2]]);

  expect((await reset('tokens', '--yes')).code).toBe(0);
  expect((await reset('signatures', '--yes')).code).toBe(0);
  expect(await pages()).toEqual(whole);
  expect(await pages(), 'once').toEqual(quiet);
  expect(await place.rows(rows)).toEqual(before);
});

test('state reset ends open crawls: their targets begin with the first page', async () => {
  const place = await openInstallation(files);
  expect((await place.night(ledger(100), { jobs: ['tokens'], maxRequests: 3 })).code).toBe(75);
  const reset = await runProgram(['state', 'reset', 'tokens', '--yes', '--json'], {
    cwd: dirname(place.data),
  });
  expect(JSON.parse(reset.stdout)).toMatchObject({ reset: 'tokens', open: expect.any(Number) });
  const next = await place.night(ledger(100), { jobs: ['tokens'] });
  expect(next.code).toBe(0);
  for (const owner of owners)
    expect(
      next.calls.filter(({ params }) => params.owner === owner && params.cursor === undefined),
    ).toHaveLength(1);
  expect(await place.rows('select address from token_accounts')).toHaveLength(4);
});

daily(
  'a full refresh that was stopped goes on, when the same command is run again; the next one begins anew',
  async () => {
    const place = await openInstallation(files);
    const refresh = async (slot: number, maxRequests?: number) => {
      const limit = maxRequests === undefined ? {} : { maxRequests };
      const night = await place.night(ledger(slot), { jobs: ['tokens'], fullRefresh: true, ...limit });
      return { code: night.code, asked: night.calls.map(({ params }) => [params.owner, params.cursor]) };
    };
    const whole = await refresh(100);
    expect(whole.code).toBe(0);
    const first = await refresh(200, 2);
    const second = await refresh(200, 2);
    expect([first.code, first.asked.length, second.code]).toEqual([75, 2, 75]);
    const third = await refresh(200);
    expect(third.code).toBe(0);
    const asked = [first, second, third].flatMap((run) => run.asked.map((call) => JSON.stringify(call)));
    expect(asked.sort()).toEqual(whole.asked.map((call) => JSON.stringify(call)).sort());
    expect((await refresh(200)).asked).toHaveLength(whole.asked.length);
  },
);
