import { expect, test } from 'vitest';
import { openInstallation } from '../support/nights.ts';
import type { Script } from '../support/scripted-api.ts';
import { answerList } from '../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const owners = ['Ann', 'Bea'].map(key);
const jobs = {
  'jobs/tokens.yaml': `describe: test
method: getTokenAccounts
for_each: {owner: {values: [${owners.join(', ')}]}}
`,
};

/** Ann has lost so many of 300 accounts, Bea none of ten. */
const ledger =
  (slot: number, lost: number): Script =>
  (call) => {
    const { owner } = call.params;
    const [from, to] = owner === owners[0] ? [lost, 300] : [0, 10];
    const accounts = Array.from({ length: to - from }, (_, n) => ({
      address: key(`${String(owner).slice(0, 3)}${String(from + n).replaceAll('0', 'z')}x`),
      ...{ mint: key('Mint'), owner, amount: 1 },
    }));
    return answerList(call, accounts, { slot, pageSize: 1000 });
  };

test('a refusal is accepted by its id: what it showed, found again on a later night too, and nothing else', async () => {
  const one = await openInstallation(jobs);
  const rows = async () => (await one.rows('from token_accounts')).length;
  const refuse = async (slot: number, lost: number) => {
    const { code, report } = await one.night(ledger(slot, lost));
    expect([code, report?.published.refused]).toMatchObject([4, [{ target: owners[0], rows: lost }]]);
    return report?.published.refused[0]?.id as string;
  };
  await one.night(ledger(100, 0));
  const sixty = await refuse(200, 60);
  expect(sixty).toMatch(/^r[0-9a-f]{8}$/);
  const all = await refuse(300, 300);

  const late = await one.night(ledger(400, 300), { accept: [sixty] });
  expect([late.code, late.calls.length]).toEqual([2, 0]);
  expect(late.error?.message).toMatch(/a later crawl took the place .*60 of 300 rows/);
  expect(late.error?.hint).toMatch(new RegExp(`What waits now: --accept ${all} \\(.*300 of 300 rows`));
  await expect(one.publish('r00000000')).rejects.toMatchObject({
    exitCode: 2,
    hint: expect.stringContaining(all),
  });
  expect(await rows()).toBe(310);

  expect(await refuse(500, 60), 'the same finding').toBe(sixty);
  const accepted = await one.night(ledger(600, 60), { accept: [sixty] });
  expect([accepted.code, accepted.calls.length, await rows()]).toEqual([0, 2, 250]);
  expect(await one.check()).toEqual([]);
  await one.night(ledger(700, 0));
  const again = await one.night(ledger(800, 60), { accept: [sixty] });
  expect([again.code, await rows()], 'left in cron').toEqual([4, 310]);
  expect(again.report?.published.refused).toMatchObject([{ rows: 60, id: expect.not.stringMatching(sixty) }]);
});
