import { expect, test } from 'vitest';
import { openScripted, type Workplace } from '../support/workplace.ts';

const id = 'Asset11111111111111111111111111111111111111';
const other = 'Asset22222222222222222222222222222222222222';
const collection = 'Group11111111111111111111111111111111111111';

const jobs = {
  'jobs/list.yaml': `describe: test
method: getAssetsByGroup
params: {groupKey: collection}
for_each: {groupValue: {values: [${collection}]}}
`,
};

interface Said {
  owner: string;
  price?: number;
  content?: string;
}

/** An API with two assets: one as told, one that never changes. */
function createLedger() {
  let now: { slot: number; asset: Said } = { slot: 0, asset: { owner: '' } };
  const record = (key: string, { owner, price, content }: Said) =>
    JSON.stringify({
      id: key,
      interface: 'FungibleToken',
      ...(content === undefined ? {} : { content: { metadata: { name: content } } }),
      ownership: { owner, ownership_model: 'single' },
      token_info: { supply: 5, ...(price === undefined ? {} : { price_info: { price_per_token: price } }) },
      grouping: [{ group_key: 'collection', group_value: collection }],
    });
  return {
    says(slot: number, owner: string, more: Omit<Said, 'owner'> = {}) {
      now = { slot, asset: { owner, ...more } };
    },
    answer(_method: string, { cursor }: { cursor?: string }): string {
      const items = cursor === undefined ? [record(other, { owner: 'still' }), record(id, now.asset)] : [];
      const next = cursor === undefined ? ',"cursor":"1"' : '';
      return `{"last_indexed_slot":${now.slot},"limit":1000,"items":[${items}]${next}}`;
    },
  };
}

const versions = (place: Workplace) =>
  place.rows(
    `select owner, name, valid_from_slot as "from", valid_to_slot as "to", slot, valid_to is null as current, gone_reason
    from assets_history where id = '${id}' order by valid_from`,
  );

const version = (
  owner: string,
  from: number,
  to: number | null,
  slot: number,
  name: string | null = null,
) => ({
  ...{ owner, name, from: `${from}`, to: to === null ? null : `${to}`, slot: `${slot}` },
  ...{ current: to === null, gone_reason: null },
});

test('every change makes a version; confirmations, prices, left out content and answers from behind make none', async () => {
  const ledger = createLedger();
  const place = await openScripted(ledger.answer, jobs);
  const night = async (slot: number, owner: string, more: Omit<Said, 'owner'> = {}) => {
    ledger.says(slot, owner, more);
    return (await place.mustRun()).published.tables.assets;
  };
  await night(100, 'ann', { content: 'Tide', price: 1 });
  expect(await night(110, 'ann', { content: 'Tide', price: 2 })).toMatchObject({ changed: 0, amended: 1 });
  expect(await night(120, 'bob')).toMatchObject({ changed: 1 });
  expect(await night(115, 'old')).toMatchObject({ changed: 0, stale: 2 });
  expect(await night(130, 'bob')).toMatchObject({ changed: 0, confirmed: 2 });
  expect(await night(140, 'ann', { content: 'Ebb' })).toMatchObject({ changed: 1 });
  expect(await versions(place)).toEqual([
    version('ann', 100, 120, 110, 'Tide'),
    version('bob', 120, 140, 130, 'Tide'),
    version('ann', 140, null, 140, 'Ebb'),
  ]);
  const [{ n }] = (await place.rows(
    `select count(*)::int as n from assets_history where id = '${other}'`,
  )) as [{ n: number }];
  expect(n).toBe(1);

  // Who owned it: one line.
  const ownerAt = async (macro: string) =>
    (await place.rows<{ owner: string }>(`select owner from ${macro} where id = '${id}'`)).map(
      ({ owner }) => owner,
    );
  expect(await ownerAt('assets_at_slot(99)')).toEqual([]);
  expect(await ownerAt('assets_at_slot(100)')).toEqual(['ann']);
  expect(await ownerAt('assets_at_slot(119)')).toEqual(['ann']);
  expect(await ownerAt('assets_at_slot(120)')).toEqual(['bob']);
  expect(await ownerAt('assets_at_slot(9999)')).toEqual(['ann']);
  const [bob] = await place.rows<{ valid_from: string }>(
    `select valid_from from assets_history where owner = 'bob'`,
  );
  expect(await ownerAt(`assets_at_time('${bob!.valid_from}')`)).toEqual(['bob']);
  expect(await ownerAt(`assets_at_time('${bob!.valid_from}'::timestamptz - interval 1 microsecond)`)).toEqual(
    ['ann'],
  );
  expect(await ownerAt('assets_at_time(now())')).toEqual(['ann']);

  // After each night, whole.
  const runs = await place.rows<{ run_id: string }>('select run_id from meta.runs order by run_id');
  const nights = runs.map(({ run_id }) =>
    place.rows(`select string_agg(owner, ' ' order by owner) as owners from assets_as_of_run('${run_id}')`),
  );
  expect((await Promise.all(nights)).flat()).toEqual(
    ['ann', 'ann', 'bob', 'bob', 'bob', 'ann'].map((owner) => ({ owners: `${owner} still` })),
  );
  await expect(place.rows(`select id from assets_as_of_run('another')`)).rejects.toThrow(
    'no run of meta.runs is called another',
  );
});

test('at the slot of the last change the version is amended', async () => {
  const ledger = createLedger();
  const place = await openScripted(ledger.answer, { ...jobs, 'jobs/again.yaml': jobs['jobs/list.yaml'] });
  ledger.says(100, 'ann');
  await place.mustRun('list');
  // Another job, so that an equal slot does not end the crawl after its first page.
  ledger.says(100, 'bob');
  expect((await place.mustRun('again')).published.tables.assets).toMatchObject({ changed: 0, amended: 1 });
  expect(await versions(place)).toEqual([version('bob', 100, null, 100)]);
});

test('nights published together make the history of nights published one by one', async () => {
  const ledger = createLedger();
  const place = await openScripted(ledger.answer, jobs);
  for (const [slot, owner] of [
    [100, 'ann'],
    [110, 'bob'],
    [120, 'bob'],
    [130, 'ann'],
  ] as const) {
    ledger.says(slot, owner);
    expect(await place.cli('crawl')).toMatchObject({ code: 0 });
  }
  expect(await place.cli('load')).toMatchObject({ code: 0 });
  expect(await place.cli('publish')).toMatchObject({ code: 0 });
  expect(await versions(place)).toEqual([
    version('ann', 100, 110, 100),
    version('bob', 110, 130, 120),
    version('ann', 130, null, 130),
  ]);
  expect(await place.cli('publish')).toMatchObject({ code: 0 });
  expect(await versions(place)).toHaveLength(3);
});

test('a rebuild from nothing makes the versions between the waves of one night', async () => {
  const [group, id] = ['Group', 'Asset'].map((name) => name.padEnd(40, '1'));
  const record = (owner: string, more: string) =>
    `{"id":"${id}","interface":"V1_NFT",${more},"ownership":{"owner":"${owner.padEnd(40, '1')}"},"grouping":[{"group_key":"collection","group_value":"${group}"}],"burnt":false}`;
  const place = await openScripted(
    (method, { cursor }) =>
      method === 'getAssetBatch'
        ? `[${record('Bea', '"last_indexed_slot":1010,"content":{"metadata":{"name":"n"}}')}]`
        : `{"last_indexed_slot":1000,"limit":1000,"items":[${cursor ? '' : record('Ann', '"content":{}')}]${cursor ? '' : ',"cursor":"1"'}}`,
    {
      'ledgerlake.yaml': 'lake: {tables: [webhooks]}\n',
      'jobs/list.yaml': `describe: test
method: getAssetsByGroup
params: {groupKey: collection}
for_each: {groupValue: {values: [${group}]}}
`,
      'jobs/content.yaml': `describe: test
method: getAssetBatch
after: [list]
for_each: {ids: {sql: select id from assets}}
`,
    },
  );
  await place.mustRun();
  const versions = () =>
    place.rows('select owner[:3] as owner, valid_from_slot, valid_to_slot from assets_history order by 2');
  const both = [
    { owner: 'Ann', valid_from_slot: '1000', valid_to_slot: '1010' },
    { owner: 'Bea', valid_from_slot: '1010', valid_to_slot: null },
  ];
  expect(await versions()).toEqual(both);
  expect((await place.cli('rebuild', '--from-archive')).code).toBe(0);
  expect(await versions()).toEqual(both);
});
