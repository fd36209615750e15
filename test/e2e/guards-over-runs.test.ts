import { expect, test } from 'vitest';
import { daily } from '../levels.ts';
import { openInstallation } from '../support/nights.ts';
import type { Call, Script } from '../support/scripted-api.ts';
import { answerList } from '../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const names = ['Ann', 'Bea', 'Cat', 'Dan'];
const owners = names.map(key);

const jobOf = (targets: readonly string[]) => `describe: test
method: getTokenAccounts
for_each: {owner: {values: [${targets.join(', ')}]}}
`;
/** A job an owner. */
const jobs = Object.fromEntries(owners.map((owner, n) => [`jobs/job-${n}.yaml`, jobOf([owner])]));
const jobNames = names.map((_, n) => `job-${n}`);

type Account = Record<string, unknown>;

/** Every owner's accounts at a slot, as `change` makes them. */
const ledger =
  (slot: number, each: number, change: (account: Account) => Account = (account) => account): Script =>
  (call: Call) => {
    const { owner } = call.params;
    const accounts = Array.from({ length: each }, (_, n) =>
      change({
        address: key(`${String(owner).slice(0, 3)}${String(n).replaceAll('0', 'z')}x`),
        mint: key('Mint'),
        owner,
        amount: n + slot,
      }),
    );
    return answerList(call, accounts, { slot, pageSize: 1000 });
  };

/** One more job, of three targets: that one of them is wrong, as other jobs are, is no reason to hold it. */
const neighbour = { 'jobs/neighbour.yaml': jobOf(['Eve', 'Fay', 'Gus'].map(key)) };

interface WrongNight {
  what: string;
  each: number;
  wrong: Script;
  refused: object;
}

const wrongNights: WrongNight[] = [
  {
    what: 'all lists empty',
    each: 40,
    wrong: ledger(60_000, 0),
    refused: { guard: 'vanished', rows: 160, total: 280 },
  },
  {
    what: 'amount renamed',
    each: 3,
    wrong: ledger(60_000, 3, ({ amount, ...rest }) => ({ ...rest, tokenAmount: amount })),
    refused: { guard: 'blank', column: 'amount', rows: 12, total: 21 },
  },
  {
    what: 'the source went back',
    each: 3,
    wrong: ledger(49_000, 3),
    refused: { guard: 'stale', rows: 12, total: 21 },
  },
];

test.for(wrongNights)('jobs of one target each, $what: counted over the run', async (night) => {
  const one = await openInstallation({ ...jobs, ...neighbour });
  expect((await one.night(ledger(50_000, night.each))).code).toBe(0);
  const rows = () =>
    one.rows(`from token_accounts where left(owner, 3) in ('${names.join("', '")}') order by address`);
  const before = await rows();
  const right = ledger(60_000, night.each);
  const { code, report } = await one.night((call) =>
    /^Eve|^Fay/.test(String(call.params.owner)) ? right(call) : night.wrong(call),
  );
  expect(code).toBe(4);
  expect(report?.published.refused).toMatchObject(jobNames.map((job) => ({ job, ...night.refused })));
  expect(await rows()).toEqual(before);
  const notTaken = `from token_accounts where left(owner, 3) in ('Eve', 'Fay') and slot <> 60000`;
  expect(await one.rows(notTaken)).toEqual([]);
  expect((await one.acceptAll()).refused).toEqual([]);
  expect(await one.rows('from meta.held')).toEqual([]);
});

test('a first run of such jobs: a member that no record has', async () => {
  const one = await openInstallation(jobs);
  const { report } = await one.night(ledger(50_000, 3, ({ mint: _, ...rest }) => rest));
  expect(report?.published.refused).toMatchObject(
    jobNames.map((job) => ({ job, guard: 'blank', column: 'mint', rows: 12 })),
  );
});

daily('what is accepted of one job, or refused by itself, speaks against no other', async () => {
  const one = await openInstallation(jobs);
  await one.night(ledger(50_000, 60));
  // One has 60 rows fewer, all others one.
  const night: Script = (call) => ledger(60_000, String(call.params.owner).startsWith('Ann') ? 0 : 59)(call);
  const { report } = await one.night(night);
  expect(report?.published.refused).toMatchObject([{ job: 'job-0', rows: 60, total: 60 }]);
  expect((await one.acceptAll()).refused).toEqual([]);
});

daily('all lists empty, in nights that a budget cuts to a target each: refused with the second', async () => {
  const one = await openInstallation({ 'jobs/tokens.yaml': jobOf(owners) });
  await one.night(ledger(50_000, 40));
  const codes: number[] = [];
  for (let n = 0; n < 3; n += 1)
    codes.push((await one.night(ledger(60_000 + n, 0), { maxRequests: 1, hoursLater: 3 })).code);
  expect(codes).toEqual([75, 4, 4]);
  const rows = 'select count(*)::text as n from token_accounts';
  expect(await one.rows(rows)).toEqual([{ n: '120' }]);
  expect(await one.rebuild()).toBe(4);
  expect(await one.rows(rows)).toEqual([{ n: '120' }]);
});

test('what look-ups close is counted over three days', async () => {
  const collection = key('Group');
  const list = `describe: test
method: getAssetsByGroup
params: {groupKey: collection}
for_each: {groupValue: {values: [${collection}]}}
`;
  const one = await openInstallation({ 'jobs/list.yaml': list });
  /** Each night the first assets of the list are gone, 22 more than the night before. */
  const night =
    (slot: number, from: number): Script =>
    (call) => {
      const assets = Array.from({ length: 300 - from }, (_, n) => ({
        id: key(`A${String(from + n).replaceAll('0', 'z')}x`),
        interface: 'V1_NFT',
        grouping: [{ group_key: 'collection', group_value: collection }],
      }));
      if (call.operation !== 'getAssetBatch') return answerList(call, assets, { slot, pageSize: 1000 });
      const at = new Map(assets.map((asset) => [asset.id, asset]));
      return (call.params.ids as string[]).map((id) => at.get(id) ?? null);
    };
  const codes: number[] = [];
  for (const [n, from] of [0, 22, 44, 66].entries())
    codes.push((await one.night(night(1000 * (n + 1), from))).code);
  // The look-ups of the third night close 22, those of the fourth would close 22 more, and are told of 22 for the first time.
  expect(codes).toEqual([0, 0, 0, 4]);
  expect(await one.rows('select count(*)::text as n from assets')).toEqual([{ n: '278' }]);
});
