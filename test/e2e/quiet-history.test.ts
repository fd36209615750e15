import { expect, test } from 'vitest';
import { daily } from '../levels.ts';
import { openInstallation } from '../support/nights.ts';
import type { Call } from '../support/scripted-api.ts';
import { answerList } from '../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const collection = key('Group');
const creator = key('Maker');

const groupJob = {
  'jobs/group.yaml': `describe: test
method: getAssetsByGroup
params: {groupKey: collection}
for_each: {groupValue: {values: [${collection}]}}
`,
};
const creatorJob = {
  'jobs/creator.yaml': `describe: test
method: getAssetsByCreator
for_each: {creatorAddress: {values: [${creator}]}}
`,
};

// biome-ignore lint/suspicious/noExplicitAny: records are as odd as the API's
type Members = any;

const asset: Members = {
  id: key('Asset'),
  interface: 'V1_NFT',
  content: {
    json_uri: 'https://a.example/1',
    metadata: { name: 'One', symbol: 'S', attributes: { Mood: 'calm', Level: 7 } },
    links: { image: 'https://a.example/1.png' },
  },
  authorities: [{ address: key('Boss'), scopes: ['full', 'metadata'] }],
  grouping: [{ group_key: 'collection', group_value: collection }],
  creators: [{ address: creator, share: 100, verified: true }],
  royalty: { royalty_model: 'creators', percent: 0.05, basis_points: 500 },
  ownership: { owner: key('Ann'), ownership_model: 'single', frozen: false, delegated: false },
  supply: { print_max_supply: 10, print_current_supply: 1, edition_nonce: 254 },
  token_info: { supply: 1, decimals: 0, price_info: { price_per_token: 1, currency: 'USD', total_price: 1 } },
  plugins: { a: 1, b: 2 },
};

const changed = (change: (record: Members) => void): Members => {
  const record = structuredClone(asset);
  change(record);
  return record;
};

const { plugins, ...unplugged } = asset;

/** By what makes no version: what an asset was before, and what it is then. */
const quiet: [string, Members, Members][] = [
  ['an unknown member that comes', unplugged, asset],
  ['an unknown member that goes', asset, unplugged],
  ['unknown members in another order', asset, { ...unplugged, plugins: { b: 2, a: 1 } }],
  [
    'an unknown member of a known one',
    asset,
    changed((record) => (record.ownership.non_transferable = true)),
  ],
  [
    'an unknown member of the content',
    asset,
    changed((record) => (record.content.metadata.background = '#fff')),
  ],
  ['an unknown member of a list element', asset, changed((record) => (record.creators[0].role = 'x'))],
  [
    'prices',
    asset,
    changed((r) => (r.token_info.price_info = { price_per_token: 2, total_price: 2, currency: 'EUR' })),
  ],
  ['prices that go', asset, changed((record) => (record.token_info.price_info = undefined))],
  [
    '"" in the place of none',
    changed((record) => (record.content.metadata.symbol = undefined)),
    changed((record) => (record.content.metadata.symbol = '')),
  ],
  [
    'none in the place of an empty list',
    changed((record) => (record.creators = [])),
    changed((record) => (record.creators = null)),
  ],
  [
    'map attributes in another order',
    asset,
    changed((record) => (record.content.metadata.attributes = { Level: 7, Mood: 'calm' })),
  ],
  ['scopes in another order', asset, changed((record) => record.authorities[0].scopes.reverse())],
  ['`supply` that is left out', asset, changed((record) => (record.supply = undefined))],
];

test('what is no change makes no version, coming or going', async () => {
  const place = await openInstallation(groupJob);
  const idOf = (n: number) => key(`Case${'abcdefghijkmnopqrstuvwx'[n]}`);
  for (const state of [0, 1, 2]) {
    const records = quiet.map(([, ...states], n) => ({ ...states[state % 2], id: idOf(n) }));
    const { code } = await place.night((call) => answerList(call, records, { slot: 100 + state * 10 }));
    expect(code).toBe(0);
  }
  const versions = await place.rows<{ id: string }>(
    'select id, valid_from_slot, valid_to_slot, slot, print_max_supply from assets_history',
  );
  const found = quiet.map(([what], n) => [what, versions.filter(({ id }) => id === idOf(n))]);
  const one = { valid_from_slot: '100', valid_to_slot: null, slot: '120', print_max_supply: '10' };
  expect(found).toEqual(quiet.map(([what], n) => [what, [{ id: idOf(n), ...one }]]));
});

daily('what has no column is as the newest answer has it', async () => {
  const place = await openInstallation(groupJob);
  await place.night((call) => answerList(call, [asset], { slot: 100 }));
  const next = changed((record) => {
    record.plugins = { b: 3 };
    record.supply.kind = 'open';
    record.token_info.price_info.total_price = 9;
  });
  await place.night((call) => answerList(call, [next], { slot: 110 }));
  const [row] = await place.rows<{ extra: string }>('select extra, changed_slot from assets');
  expect({ ...row, extra: JSON.parse(row?.extra ?? '') }).toEqual({
    extra: {
      plugins: { b: 3 },
      supply: { kind: 'open' },
      token_info: { price_info: { total_price: 9 } },
    },
    changed_slot: '100',
  });
});

test('changes still make versions: scopes, attributes, prints, and `supply: null`', async () => {
  const place = await openInstallation(groupJob);
  const states = [
    asset,
    changed((record) => record.authorities[0].scopes.pop()),
    changed((record) => (record.content.metadata.attributes = { Mood: 'wild', Level: 7 })),
    changed((record) => (record.supply.print_current_supply = 2)),
    changed((record) => (record.supply = null)),
  ];
  for (const [n, record] of states.entries())
    await place.night((call) => answerList(call, [record], { slot: 100 + n * 10 }));
  expect(
    await place.rows(
      'select valid_from_slot as slot, print_current_supply as prints from assets_history order by valid_from_slot',
    ),
  ).toEqual([
    { slot: '100', prints: '1' },
    { slot: '110', prints: '1' },
    { slot: '120', prints: '1' },
    { slot: '130', prints: '2' },
    { slot: '140', prints: null },
  ]);
});

daily(
  'of two lists, the one that leaves `supply` out takes it from no row, whichever comes first',
  async () => {
    const bare = changed((record) => (record.supply = undefined));
    const names = Array.from({ length: 22 }, (_, n) => key(`Asset${'abcdefghijkmnopqrstuvwx'[n]}`));
    const list = (record: Members) => names.map((id) => ({ ...record, id }));
    for (const bareList of ['getAssetsByGroup', 'getAssetsByCreator']) {
      const place = await openInstallation({ ...groupJob, ...creatorJob });
      for (const slot of [100, 110, 120]) {
        const script = (call: Call) =>
          answerList(call, list(call.operation === bareList ? bare : asset), { slot });
        expect((await place.night(script)).code).toBe(0);
      }
      expect(
        await place.rows('select print_max_supply as prints, count(*) as n from assets_history group by 1'),
      ).toEqual([{ prints: '10', n: '22' }]);
    }
  },
);

test('no version of a wallet balance is made by unknown members, prices and ""', async () => {
  const place = await openInstallation({
    'jobs/balances.yaml': `describe: test\nmethod: walletBalances\nfor_each: {wallet: {values: [${key('Purse')}]}}\n`,
  });
  const balance = { mint: key('Mint'), balance: 5, decimals: 2, symbol: '' };
  const states = [
    balance,
    { ...balance, symbol: null, usdValue: 3, rank: 7 },
    { ...balance, rank: 8, hue: 1 },
  ];
  for (const record of states) await place.night((call) => answerList(call, [record], { slot: null }));
  expect(await place.rows('select extra, usd_value from wallet_balances_history')).toEqual([
    { extra: '{"rank":8,"hue":1}', usd_value: null },
  ]);
});

daily(
  'balances of one mint are summed within an answer, in any order; on two pages they are one that moved',
  async () => {
    const place = await openInstallation({
      'jobs/balances.yaml': `describe: test\nmethod: walletBalances\nfor_each: {wallet: {values: [${key('Purse')}]}}\n`,
    });
    const held = (name: string, balance: number) => ({ mint: key(name), balance, decimals: 2 });
    const both = [held('Mint', 0.1), held('Mint', 0.7), held('Mint', 0.2), held('Coin', 3)];
    for (const balances of [both, both.toReversed()])
      await place.night((call) => answerList(call, balances, { slot: null }));
    const drifted = [held('Coin', 3), held('Mint', 1), held('Mint', 1)];
    await place.night((call) => answerList(call, drifted, { slot: null, pageSize: 2 }));
    expect(
      await place.rows(
        `select rtrim(mint, '1') as mint, balance, json_array_length(extra -> 'summed') as summed
      from wallet_balances_history order by all`,
      ),
    ).toEqual([
      { mint: 'Coin', balance: 3, summed: null },
      { mint: 'Mint', balance: 1, summed: null },
    ]);
  },
);
