import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { daily } from '../../levels.ts';
import { type Installation, openInstallation } from '../../support/nights.ts';
import { compareTables } from '../../support/rows.ts';
import type { Call, Script } from '../../support/scripted-api.ts';
import { answerList } from '../../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const [red, blue, painter] = [key('Red'), key('Bue'), key('Painter')];
const listJob = (...collections: string[]) =>
  `describe: test\nmethod: getAssetsByGroup\nparams: {groupKey: collection}\nfor_each: {groupValue: {values: [${collections}]}}\n`;
const creatorJob = `describe: test\nmethod: getAssetsByCreator\nfor_each: {creatorAddress: {values: [${painter}]}}\n`;
const tokenJob = (...owners: string[]) =>
  `describe: test\nmethod: getTokenAccounts\nfor_each: {owner: {values: [${owners}]}}\n`;

/** The collection of each asset; those of `byPainter` have its creator, too. */
interface Ledger {
  slot: number;
  assets: Readonly<Record<string, string>>;
  byPainter?: readonly string[];
  /** Owner of each token account. */
  accounts?: Readonly<Record<string, string>>;
}

function ledger({ slot, assets, byPainter = [], accounts = {} }: Ledger): Script {
  const records = Object.entries(assets).map(([name, collection]) => ({
    ...{ id: key(name), interface: 'V1_NFT', burnt: false },
    ownership: { owner: key('Who'), ownership_model: 'single' },
    grouping: [{ group_key: 'collection', group_value: collection }],
    creators: byPainter.includes(name) ? [{ address: painter, share: 100, verified: true }] : [],
  }));
  const owned = Object.entries(accounts).map(([name, owner]) => ({
    ...{ address: key(name), mint: key('Mint'), owner, amount: 1 },
  }));
  return (call: Call) => {
    const { operation, params } = call;
    if (operation === 'getAssetBatch')
      return (params.ids as string[]).map((id) => records.find((record) => record.id === id) ?? null);
    const shown =
      operation === 'getTokenAccounts'
        ? owned.filter(({ owner }) => owner === params.owner)
        : records.filter(({ grouping, creators }) =>
            operation === 'getAssetsByGroup'
              ? grouping[0]?.group_value === params.groupValue
              : creators.some(({ address }) => address === params.creatorAddress),
          );
    return answerList(call, shown, { slot, pageSize: 50 });
  };
}

const followed = async (place: Installation, table = 'assets', key = 'id') =>
  Object.fromEntries(
    (
      await place.rows<{ name: string; followed: boolean }>(
        `select rtrim(${key}, '1') as name, followed from ${table} order by all`,
      )
    ).map(({ name, followed }) => [name, followed]),
  );

const jobFile = (place: Installation, name: string) => join(dirname(place.data), 'jobs', `${name}.yaml`);

test('a list that is dropped, or whose job is, leaves rows that are not followed; one that comes back follows them', async () => {
  const place = await openInstallation({
    'jobs/lists.yaml': listJob(red, blue),
    'jobs/creators.yaml': creatorJob,
  });
  const assets = { Ant: red, Bee: blue, Cat: blue };
  const at = (slot: number) => ledger({ slot, assets, byPainter: ['Cat'] });
  await place.night(at(1000));
  expect(await followed(place)).toEqual({ Ant: true, Bee: true, Cat: true });
  const hashes = 'select record_hash, (select count(*) from past.assets) as past from assets order by id';
  const before = await place.rows(hashes);

  await writeFile(jobFile(place, 'lists'), listJob(red));
  await place.night(at(2000));
  expect(await followed(place)).toEqual({ Ant: true, Bee: false, Cat: true });
  expect(await place.rows("select rtrim(id, '1') as id from current_assets order by all")).toEqual([
    { id: 'Ant' },
    { id: 'Cat' },
  ]);
  // It is neither a change of the row nor a version of it.
  expect(await place.rows(hashes)).toEqual(before);

  await rm(jobFile(place, 'creators'));
  await place.night(at(3000));
  expect(await followed(place)).toEqual({ Ant: true, Bee: false, Cat: false });
  const whole = async () => [
    ...(await Promise.all(
      ['current_assets', 'meta.jobs', 'meta.targets', 'meta.target_params'].map((name) =>
        place.rows(`from ${name} order by all`),
      ),
    )),
    await place.tables(),
  ];
  const third = await whole();
  expect(await place.rebuild()).toBe(0);
  expect(await whole()).toEqual(third);
  // Where both databases are gone, the run log and the archive are all there is.
  for (const file of ['build', 'warehouse']) await rm(join(place.data, `${file}.duckdb`));
  expect(await place.rebuild()).toBe(0);
  expect(await whole()).toEqual(third);

  await writeFile(jobFile(place, 'lists'), listJob(red, blue));
  await place.night(at(4000));
  expect(await followed(place)).toEqual({ Ant: true, Bee: true, Cat: true });
});

daily('a job that is not named in a run keeps following its rows', async () => {
  const place = await openInstallation({
    'jobs/lists.yaml': listJob(red),
    'jobs/creators.yaml': creatorJob,
  });
  const at = (slot: number) => ledger({ slot, assets: { Ant: red, Cat: blue }, byPainter: ['Cat'] });
  await place.night(at(1000));
  await place.night(at(2000), { jobs: ['lists'] });
  expect(await followed(place)).toEqual({ Ant: true, Cat: true });
});

daily(
  'what moves to a collection that nobody follows, and the account of a former owner, are not followed',
  async () => {
    const [ann, bob] = [key('Ann'), key('Bob')];
    const place = await openInstallation({
      'jobs/lists.yaml': listJob(red),
      'jobs/tokens.yaml': tokenJob(ann, bob),
    });
    const before = { assets: { Ant: red, Bee: red }, accounts: { Purse: ann, Chest: bob } };
    await place.night(ledger({ slot: 1000, ...before }));
    await writeFile(jobFile(place, 'tokens'), tokenJob(ann));
    await place.night(ledger({ slot: 2000, ...before, assets: { Ant: red, Bee: blue } }));
    expect(await followed(place)).toEqual({ Ant: true, Bee: false });
    expect(await followed(place, 'token_accounts', 'address')).toEqual({ Purse: true, Chest: false });
    expect(await place.rows("select rtrim(address, '1') as a from current_token_accounts")).toEqual([
      { a: 'Purse' },
    ]);
  },
);

daily(
  '_refresh, which nobody is asked about unless it is named, looks up the assets that are not followed',
  async () => {
    const place = await openInstallation({ 'jobs/lists.yaml': listJob(red, blue) });
    const assets = { Ant: red, Bee: blue };
    await place.night(ledger({ slot: 1000, assets }));
    await writeFile(jobFile(place, 'lists'), listJob(red));
    const { calls } = await place.night(ledger({ slot: 2000, assets }));
    expect(calls.map(({ operation }) => operation)).not.toContain('getAssetBatch');
    const seen = "select seen_at from assets where id like 'Bee%'";
    const before = await place.rows(seen);
    const night = await place.night(ledger({ slot: 3000, assets }), { jobs: ['_refresh'] });
    expect(night.code).toBe(0);
    expect(night.calls.map(({ operation, params }) => [operation, params.ids])).toEqual([
      ['getAssetBatch', [key('Bee')]],
    ]);
    expect(await place.rows(seen)).not.toEqual(before);
    expect(await followed(place)).toEqual({ Ant: true, Bee: false });
  },
);

daily(
  'forget closes what only that brought, a rebuild ends the same, and what is listed again comes back',
  async () => {
    const [ann, bob] = [key('Ann'), key('Bob')];
    const place = await openInstallation({
      'jobs/lists.yaml': listJob(red, blue),
      'jobs/creators.yaml': creatorJob,
      'jobs/tokens.yaml': tokenJob(ann, bob),
    });
    const assets = { Ant: red, Bee: blue, Cat: blue, Dog: blue };
    const accounts = { Purse: ann, Chest: bob };
    const at = (slot: number, moved = {}) =>
      ledger({ slot, assets: { ...assets, ...moved }, byPainter: ['Cat'], accounts });
    await place.night(at(1000));
    await place.night(at(1500));
    // It was listed once, and is nowhere now.
    await place.night(at(2000, { Dog: key('Green') }));
    await writeFile(jobFile(place, 'lists'), listJob(red));
    await rm(jobFile(place, 'tokens'));
    await place.night(at(3000, { Dog: key('Green') }));
    expect(await followed(place)).toEqual({ Ant: true, Bee: false, Cat: true, Dog: false });

    await expect(place.forget('lists/nowhere')).rejects.toThrow('nothing is known of rows that');
    expect(await place.forget(`lists/${blue}`)).toMatchObject({ assets: 2, token_accounts: 0 });
    expect(await place.forget('tokens')).toMatchObject({ assets: 0, token_accounts: 2 });
    expect(await followed(place)).toEqual({ Ant: true, Cat: true });
    const gone = `select rtrim(id, '1') as id from assets_history where gone_reason = 'forgotten' order by all`;
    expect(await place.rows(gone)).toEqual([{ id: 'Bee' }, { id: 'Dog' }]);

    // Both in the order in which they were said: what came later is there.
    await writeFile(jobFile(place, 'lists'), listJob(red, blue));
    await place.night(at(4000, { Dog: key('Green') }));
    expect(await followed(place)).toEqual({ Ant: true, Bee: true, Cat: true });
    const before = await place.tables();
    expect(await place.rebuild()).toBe(0);
    expect(compareTables(before, await place.tables())).toEqual([]);
  },
);

daily(
  'what is forgotten and still listed comes back with a later slot, not with the one that it had',
  async () => {
    const ann = key('Ann');
    const at = (slot: number) => ledger({ slot, assets: {}, accounts: { Purse: ann } });
    const place = await openInstallation({
      'jobs/tokens.yaml': tokenJob(ann),
    });
    await place.night(at(1000));
    expect(await place.forget('tokens')).toMatchObject({ token_accounts: 1 });
    const count = async () => (await place.rows('select count(*)::int as n from token_accounts'))[0];
    await place.night(at(1000));
    expect(await count()).toEqual({ n: 0 });
    await place.night(at(2000));
    expect(await count()).toEqual({ n: 1 });
  },
);
