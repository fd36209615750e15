import { expect, test } from 'vitest';
import { daily } from '../levels.ts';
import { openInstallation } from '../support/nights.ts';
import { compareTables } from '../support/rows.ts';
import type { Call, Script } from '../support/scripted-api.ts';
import { answerList } from '../support/scripted-list.ts';
import * as threeOwners from '../support/three-owners.ts';

const key = (name: string) => name.padEnd(43, '1');
const jobs = {
  'jobs/tokens.yaml': `describe: test
method: getTokenAccounts
for_each: {owner: {values: [${key('Ann')}]}}
`,
  'jobs/feed.yaml': `describe: test
method: getLatestCompressionSignatures
since: all
`,
};

/** Twenty accounts, `gone` of which the source lost, and a feed of a signature a hundred slots. */
const ledger =
  (slot: number, amount: number, gone = 0): Script =>
  (call: Call) => {
    if (call.operation === 'getLatestCompressionSignatures') {
      const signatures = Array.from({ length: Math.floor(slot / 1000) }, (_, n) => (n + 1) * 1000)
        .reverse()
        .map((at) => ({
          signature: `s${at}a${amount}`.replaceAll('0', 'z').padEnd(87, '1'),
          slot: at,
          blockTime: at,
        }));
      return answerList(call, signatures, { slot, pageSize: 100 });
    }
    const accounts = Array.from({ length: 20 - gone }, (_, n) => ({
      ...{
        address: key(`Ann${String(n).replaceAll('0', 'z')}x`),
        mint: key('Mint'),
        owner: key('Ann'),
        amount,
      },
    }));
    return answerList(call, accounts, { slot, pageSize: 1000 });
  };

const accounts = `select count(*)::text as n, min(amount)::text as amount, max(slot)::text as slot from token_accounts`;
const covered = `select high_slot::text as high from meta.coverage where state = 'covered'`;

test('a source that went back for good is refused, and goes on from its own slots once that is accepted', async () => {
  const one = await openInstallation(jobs);
  expect((await one.night(ledger(50_000, 1))).code).toBe(0);
  const before = await one.tables();
  const back = await one.night(ledger(40_000, 2, 1));
  expect(back.code).toBe(4);
  expect(back.report?.published.refused).toMatchObject([
    { job: 'feed', guard: 'stale', rows: 10_000, total: 50_000 },
    { job: 'tokens', guard: 'stale', rows: 19, total: 19 },
  ]);
  expect(compareTables(before, await one.tables())).toEqual([]);

  expect((await one.acceptAll()).refused).toEqual([]);
  expect(await one.rows(accounts)).toEqual([{ n: '19', amount: '2', slot: '40000' }]);
  expect(await one.rows(covered)).toEqual([{ high: '40000' }]);
  // What `status` says all data is in up to.
  const upTo = `select max(last_indexed_slot)::text as slot from meta.checkpoints where job = 'tokens'`;
  expect(await one.rows(upTo)).toEqual([{ slot: '40000' }]);

  // What comes at slots that the source had reached before is not taken for known.
  const next = await one.night(ledger(45_000, 3));
  expect(next.code).toBe(0);
  expect(await one.rows(accounts)).toEqual([{ n: '20', amount: '3', slot: '45000' }]);
  expect(await one.rows(covered)).toEqual([{ high: '45000' }]);
  const reissued = `select count(*)::text as n from compression_signatures where signature like '%a3%' and tx_slot > 40000`;
  expect(await one.rows(reissued)).toEqual([{ n: '5' }]);

  const tables = await one.tables();
  expect(await one.rebuild()).toBe(0);
  expect(compareTables(tables, await one.tables())).toEqual([]);
  expect(await one.rows(covered)).toEqual([{ high: '45000' }]);
});

daily('the night after, a source that caught up takes the place of the one that was refused', async () => {
  const one = await openInstallation(jobs);
  await one.night(ledger(50_000, 1));
  expect((await one.night(ledger(40_000, 2))).code).toBe(4);
  expect((await one.night(ledger(60_000, 1))).code).toBe(0);
  const other = await openInstallation(jobs);
  await other.night(ledger(50_000, 1));
  await other.night(ledger(60_000, 1));
  expect(compareTables(await other.tables(), await one.tables())).toEqual([]);
  expect(await one.rows(covered)).toEqual(await other.rows(covered));
});

const few = {
  'jobs/tokens.yaml': `describe: test
method: getTokenAccounts
for_each: {owner: {values: [${key('Ann')}]}}
`,
};

test('few records are refused when all of them are older by more than a replica lags', async () => {
  const one = await openInstallation(few);
  await one.night(ledger(50_000, 1, 16));
  expect((await one.night(ledger(49_000, 2, 16))).code, 'a lag').toBe(0);
  const back = await one.night(ledger(40_000, 3, 16));
  expect([back.code, back.report?.published.refused]).toMatchObject([
    4,
    [{ job: 'tokens', guard: 'stale', rows: 4, total: 4 }],
  ]);
  expect((await one.acceptAll()).refused).toEqual([]);
  expect(await one.rows(accounts)).toEqual([{ n: '4', amount: '3', slot: '40000' }]);
});

test('a target whose records stay as they are: it is not "all data up to", and check says so', async () => {
  const one = await openInstallation(threeOwners.jobs);
  await one.night(threeOwners.ledger(50_000));
  const [behind] = threeOwners.owners;
  const night: Script = (call) => threeOwners.ledger(call.params.owner === behind ? 40_000 : 50_100)(call);
  expect((await one.night(night)).code).toBe(0);
  expect(await one.target('tokens')).toMatchObject({ target: behind, complete_as_of: null, stale: 4n });
  expect(await one.check()).toMatchObject([
    { kind: 'stale', target: behind, message: '4 records are older than what the tables have, which stays' },
  ]);
});

daily('a rollback of an incremental crawl takes back what its full crawl said is in, too', async () => {
  const collection = key('Group');
  const one = await openInstallation({
    'jobs/list.yaml': `describe: test
method: getAssetsByGroup
params: {groupKey: collection}
for_each: {groupValue: {values: [${collection}]}}
mode: incremental
`,
  });
  const assets =
    (slot: number): Script =>
    (call) => {
      const items = Array.from({ length: 20 }, (_, n) => ({
        id: key(`A${String(n).replaceAll('0', 'z')}x`),
        interface: 'V1_NFT',
        content: { metadata: { name: `${n} of ${slot}` } },
        grouping: [{ group_key: 'collection', group_value: collection }],
      }));
      return answerList(call, Number(call.params.page ?? 1) === 1 ? items : [], { slot, pageSize: 1000 });
    };
  await one.night(assets(50_000));
  await one.night(assets(51_000));
  expect((await one.target('list')).complete_as_of).toBe(50_000n);
  expect((await one.night(assets(40_000))).report?.published.refused).toMatchObject([{ guard: 'stale' }]);
  expect((await one.acceptAll()).refused).toEqual([]);
  expect((await one.target('list')).complete_as_of).toBe(40_000n);
});
