import { expect, test } from 'vitest';
import { openInstallation } from '../support/nights.ts';
import type { Call, Script } from '../support/scripted-api.ts';
import { answerList, put } from '../support/scripted-list.ts';

const key = (name: string, n = 0) => `${name}${String(n).replaceAll('0', 'z')}x`.padEnd(43, '1');
const collection = key('Group');
const owner = key('Ann');

const jobs = {
  'jobs/assets.yaml': `describe: test
method: getAssetsByGroup
params: {groupKey: collection}
for_each: {groupValue: {values: [${collection}]}}
`,
  'jobs/tokens.yaml': `describe: test
method: getTokenAccounts
for_each: {owner: {values: [${owner}]}}
`,
};

type Asset = Record<string, unknown>;
type Change = (asset: Asset, n: number) => Asset;

interface Night {
  /** Assets, as `change` makes them; those that `fails` picks are `errors` entries. */
  assets?: number;
  change?: Change;
  fails?: (n: number) => boolean;
  amount?: (n: number) => unknown;
}

/** A collection of a thousand assets, and sixty token accounts of one owner. */
const ledger =
  (
    slot: number,
    { assets = 1000, change = (asset) => asset, fails = () => false, amount }: Night = {},
  ): Script =>
  (call: Call) => {
    if (call.operation === 'getTokenAccounts') {
      const accounts = Array.from({ length: 60 }, (_, n) => ({
        ...{ address: key('Acc', n), mint: key('Mint'), owner, amount: amount?.(n) ?? n + slot },
      }));
      return answerList(call, accounts, { slot, pageSize: 1000 });
    }
    const all = Array.from({ length: assets }, (_, n) =>
      change(
        {
          ...{ id: key('A', n), interface: 'V1_NFT', burnt: false },
          content: { metadata: { name: `Number ${n} of ${slot}`, attributes: [] } },
          ownership: { owner: key('Who', n), ownership_model: 'single' },
          grouping: [{ group_key: 'collection', group_value: collection }],
        },
        n,
      ),
    );
    if (call.operation === 'getAssetBatch')
      return (call.params.ids as string[]).map((id) => all.find((asset) => asset.id === id) ?? null);
    const answer = answerList(
      call,
      all.filter((_, n) => !fails(n)),
      { slot, pageSize: 1000 },
    ) as Record<string, unknown>;
    if (Number(call.params.cursor ?? 0) === 0 && Number(call.params.page ?? 1) === 1)
      put(
        answer,
        ['errors'],
        all.flatMap(({ id }, n) => (fails(n) ? { id, error: 'not indexed' } : [])),
      );
    return answer;
  };

const withAttributes =
  (isOdd: (n: number) => boolean): Change =>
  (asset, n) =>
    isOdd(n)
      ? { ...asset, content: { metadata: { name: `Number ${n}`, attributes: n % 2 === 0 ? 7 : 'none' } } }
      : asset;

test.each<[string, Night]>([
  ['7.5 % of the attributes are no list', { change: withAttributes((n) => n % 40 < 3) }],
  ['15 % are `errors` entries', { fails: (n) => n % 20 < 3 }],
])('%s, on every night: nothing is refused, and the first night says so', async (_, night) => {
  const one = await openInstallation(jobs);
  for (const slot of [1000, 2000, 3000]) {
    const { code, report } = await one.night(ledger(slot, night));
    expect([slot, code, report?.published.refused]).toEqual([slot, 0, []]);
    expect(report?.published.quarantined).toMatchObject([
      { job: 'assets', records: slot > 0 ? expect.any(Number) : 0 },
    ]);
  }
});

test('what does not fit counts against the night before: a step is refused, once, and holds no other job', async () => {
  const one = await openInstallation(jobs);
  const odd = (share: number): Night => ({ change: withAttributes((n) => n % 100 < share) });
  await one.night(ledger(1000, odd(5)));
  // 99 of 1000, 49 of them new.
  expect(
    (await one.night(ledger(2000, { change: withAttributes((n) => n % 10 === 0 && n !== 0) }))).code,
  ).toBe(0);
  const step = await one.night(ledger(3000, odd(30)));
  expect(step.code).toBe(4);
  expect(step.report?.published.refused).toMatchObject([
    { job: 'assets', guard: 'quarantined', column: 'attributes', rows: 300, total: 1000 },
  ]);
  const amounts = 'select min(amount)::text as least from token_accounts';
  expect(await one.rows(amounts)).toEqual([{ least: '3000' }]);
  expect((await one.acceptAll()).refused).toEqual([]);
  expect((await one.night(ledger(4000, odd(30)))).code).toBe(0);
});

test('on a first night a steady column that does not fit is refused, and so is a job of refused records only', async () => {
  const steady = await openInstallation(jobs);
  const first = await steady.night(ledger(1000, { amount: (n) => (n < 51 ? { value: n } : n) }));
  expect(first.report?.published.refused).toMatchObject([
    { job: 'tokens', guard: 'quarantined', column: 'amount', rows: 51, total: 60 },
  ]);
  expect(await steady.rows('select count(*) as n from assets')).toEqual([{ n: '1000' }]);
  const few = await openInstallation(jobs);
  const all = await few.night(ledger(1000, { assets: 12, fails: () => true }));
  expect(all.report?.published.refused).toMatchObject([
    { job: 'assets', guard: 'quarantined', column: null, rows: 12, total: 12 },
  ]);
});

/** Jobs by owner: how many compressed token accounts it has, and how many of them are spent every night. */
const spenders: Record<string, [count: number, spent: number]> = {
  few: [60, 4],
  many: [1000, 20],
  active: [1000, 70],
};
const compressed = Object.fromEntries(
  Object.keys(spenders).map((name) => [
    `jobs/${name}.yaml`,
    `describe: test
method: getCompressedTokenAccountsByOwner
for_each: {owner: {values: [${key(name[0]!.toUpperCase())}]}}
`,
  ]),
);

/** The owners' accounts on a night: for each that was spent, a new one has come. */
const spending =
  (slot: number, night: number): Script =>
  (call: Call) => {
    const accountsOf = (name: string) => {
      const [count, spent] = spenders[name]!;
      return Array.from({ length: count }, (_, n) => ({
        ...{ hash: key(name[0]!.toUpperCase(), n + spent * night), address: null, data: null },
        ...{ owner: key('Program'), lamports: 0, tree: key('Tree'), leafIndex: n, seq: n, slotCreated: 10 },
      }));
    };
    if (call.operation === 'getMultipleCompressedAccounts') {
      const living = new Map(
        Object.keys(spenders)
          .flatMap(accountsOf)
          .map((one) => [one.hash, one]),
      );
      const items = (call.params.hashes as string[]).map((hash) => living.get(hash) ?? null);
      return { context: { slot }, value: { items } };
    }
    const { owner } = call.params;
    const name = Object.keys(spenders).find((one) => key(one[0]!.toUpperCase()) === owner)!;
    const tokenData = {
      mint: key('Mint'),
      owner,
      amount: 1,
      delegate: null,
      state: 'initialized',
      tlv: null,
    };
    const listed = accountsOf(name).map((account) => ({ account, tokenData }));
    return answerList(call, listed, { slot, pageSize: 1000 });
  };

test('compressed token accounts of which 2 to 7 % are spent every night: nothing is refused', async () => {
  const one = await openInstallation(compressed);
  for (const night of [0, 1, 2, 3, 4, 5]) {
    const { code, report } = await one.night(spending(1000 * (night + 1), night));
    expect([night, code, report?.published.refused]).toEqual([night, 0, []]);
  }
  // Those of the last night wait for a second look.
  const rows = await one.rows(
    'select owner, count(*)::integer as n from compressed_token_accounts group by all',
  );
  const expected = Object.entries(spenders).map(([name, [count, spent]]) => ({
    owner: key(name[0]!.toUpperCase()),
    n: count + spent,
  }));
  expect(new Set(rows)).toEqual(new Set(expected));
  const waiting = "select distinct job from meta.absent where job not in ('few', 'many', 'active')";
  expect(await one.rows(waiting)).toEqual([]);
});
