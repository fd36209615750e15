import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { daily } from '../levels.ts';
import { type Installation, openInstallation } from '../support/nights.ts';
import { runProgram } from '../support/program.ts';
import { compareTables } from '../support/rows.ts';
import { type Call, RawReply, RpcError } from '../support/scripted-api.ts';
import { answerList } from '../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const bare = (text: string) => text.replace(/1+$/, '');
const collection = key('Group');
const owner = key('Who');

const assetJob = {
  'jobs/list.yaml': `describe: test
method: getAssetsByGroup
params: {groupKey: collection}
for_each: {groupValue: {values: [${collection}]}}
`,
};
const tokenJob = {
  'jobs/tokens.yaml': `describe: test
method: getTokenAccounts
for_each: {owner: {values: [${owner}]}}
`,
};
const job = (method: string, forEach: string, params = '{}') => `describe: test
method: ${method}
params: ${params}
for_each: ${forEach}
`;

const asset = (name: string, more: Record<string, unknown> = {}) => ({
  id: key(name),
  interface: 'V1_NFT',
  ownership: { owner, ownership_model: 'single' },
  grouping: [{ group_key: 'collection', group_value: collection }],
  burnt: false,
  ...more,
});
const account = (name: string) => ({ address: key(name), mint: key('Mint'), owner, amount: 5 });

/** Lists these records at a slot, and looks up those that are there. */
const ledger =
  (slot: number, listed: readonly unknown[], found: readonly { id: string }[] = []) =>
  (call: Call) =>
    call.operation === 'getAssetBatch'
      ? (call.params.ids as string[]).map((id) => found.find((record) => record.id === id) ?? null)
      : answerList(call, listed, { slot });

const names = async (place: Installation, sql: string) =>
  (await place.rows<{ name: string }>(sql)).map(({ name }) => bare(name));
const assets = (place: Installation) => names(place, 'select id as name from assets order by 1');
const countLookUps = (calls: readonly Call[]) =>
  calls.filter(({ operation }) => operation === 'getAssetBatch').length;

/** @throws unless a rebuild from the archive makes the tables that the nights made */
async function expectRebuilt(place: Installation): Promise<void> {
  const before = await place.tables();
  expect(await place.rebuild()).toBe(0);
  expect(compareTables(before, await place.tables())).toEqual([]);
}

test('an outage in which every list is empty and every look-up null closes nothing, and is not paid for twice', async () => {
  const place = await openInstallation(assetJob);
  const letters = [...'ABCDEFGHJKMNPQRSTUVW'];
  const all = letters.flatMap((a) => letters.slice(0, 15).map((b) => asset(`${a}${b}`)));
  await place.night(ledger(100, all));
  const first = await place.night(ledger(110, []));
  expect(first.code).toBe(4);
  expect(countLookUps(first.calls)).toBeGreaterThan(0);
  const second = await place.night(ledger(120, []), { hoursLater: 0.1 });
  expect([second.code, countLookUps(second.calls)]).toEqual([4, 0]);
  expect(await assets(place)).toHaveLength(300);

  // Hours later the source is back.
  await place.night(ledger(130, all, all), { hoursLater: 3 });
  expect(await place.rows('from meta.absent')).toEqual([]);
  expect(await assets(place)).toHaveLength(300);
});

test('two nulls close a row when hours and slots lie between them', async () => {
  const place = await openInstallation(assetJob);
  await place.night(ledger(100, [asset('Kept'), asset('Lost')]));
  await place.night(ledger(110, [asset('Kept')]));
  expect(await place.rows('select null_slot from meta.absent')).toEqual([{ null_slot: '110' }]);
  // A night later the source still stands where it stood.
  const stuck = await place.night(ledger(110, [asset('Kept')]));
  expect(countLookUps(stuck.calls)).toBe(1);
  expect(await assets(place)).toEqual(['Kept', 'Lost']);
  await place.night(ledger(120, [asset('Kept')]));
  expect(await assets(place)).toEqual(['Kept']);
  expect(
    await place.rows('select valid_to_slot, gone_reason from assets_history where gone_reason is not null'),
  ).toEqual([{ valid_to_slot: '110', gone_reason: 'unknown' }]);
});

daily(
  'ids that a job asks for by itself leave after two nulls hours apart, whatever table they are in',
  async () => {
    const [ann, bob] = [key('Ann'), key('Bob')];
    const place = await openInstallation({
      'jobs/batch.yaml': job('getAssetBatch', `{ids: {values: [${key('Kept')}, ${key('Lost')}]}}`),
      'jobs/single.yaml': job('getAsset', `{id: {values: [${key('Mono')}]}}`),
      'jobs/proofs.yaml': job('getAssetProofBatch', `{ids: {values: [${key('Kept')}, ${key('Lost')}]}}`),
      'jobs/hashes.yaml': job('getMultipleCompressedAccounts', `{hashes: {values: [${key('Hash')}]}}`),
      'jobs/identity.yaml': job('walletIdentity', `{wallet: {values: [${ann}]}}`),
      'jobs/identities.yaml': job('walletBatchIdentity', `{addresses: {values: [${ann}, ${bob}]}}`),
      'jobs/funding.yaml': job('walletFundedBy', `{wallet: {values: [${bob}]}}`),
    });
    const identity = (address: string) => ({ address, type: 'exchange', name: 'Some' });
    const proof = { root: key('Root'), proof: [], node_index: 1, leaf: key('Leaf'), tree_id: key('Tree') };
    const script =
      (slot: number, isThere: boolean) =>
      ({ operation, params }: Call): unknown => {
        const or = <T>(there: T) => (isThere ? there : null);
        const noData = new RawReply('{"error":"Not found"}', 404);
        switch (operation) {
          case 'getAssetBatch':
            return [asset('Kept'), or(asset('Lost'))];
          case 'getAsset':
            return or(asset('Mono')) ?? new RpcError(-32000, 'Asset Not Found');
          case 'getAssetProofBatch':
            return { [key('Kept')]: proof, [key('Lost')]: or(proof) };
          case 'getMultipleCompressedAccounts':
            return { context: { slot }, value: { items: [or(compressed('Hash', slot))] } };
          case 'walletIdentity':
            return or(identity(params.wallet)) ?? noData;
          case 'walletBatchIdentity':
            return isThere ? [identity(ann), identity(bob)] : [identity(ann)];
          default:
            return or({ funder: ann, signature: key('Sig'), amountRaw: '1' }) ?? noData;
        }
      };
    const keys = async () => ({
      assets: await assets(place),
      proofs: await names(place, 'select id as name from asset_proofs order by 1'),
      accounts: await names(place, 'select hash as name from compressed_accounts'),
      identities: await names(place, 'select wallet as name from wallet_identities order by 1'),
      funding: await names(place, 'select wallet as name from wallet_funding'),
    });
    const everything = {
      assets: ['Kept', 'Lost', 'Mono'],
      proofs: ['Kept', 'Lost'],
      accounts: ['Hash'],
      identities: ['Ann', 'Bob'],
      funding: ['Bob'],
    };
    expect((await place.night(script(100, true))).code).toBe(0);
    expect(await keys()).toEqual(everything);
    expect((await place.night(script(110, false))).code).toBe(0);
    await place.night(script(120, false), { hoursLater: 0.1 });
    expect(await keys()).toEqual(everything);
    const last = await place.night(script(130, false));
    expect(
      last.calls.filter(({ operation }) => operation === 'getAssetBatch'),
      'nothing asks twice',
    ).toHaveLength(1);
    expect(await keys()).toEqual({
      // One job found her, another did not.
      ...{ assets: ['Kept'], proofs: ['Kept'], accounts: [], identities: ['Ann'], funding: [] },
    });
    expect(
      await place.rows('select distinct gone_reason from assets_history where gone_reason is not null'),
    ).toEqual([{ gone_reason: 'unknown' }]);
    await expectRebuilt(place);

    await place.night(script(140, true));
    expect(await keys()).toEqual(everything);
  },
);

const compressed = (hash: string, slotCreated: number, address: string | null = null) => ({
  ...{ hash: key(hash), address, data: null, owner: key('Program'), lamports: 0 },
  ...{ tree: key('Tree'), leafIndex: 1, seq: slotCreated, slotCreated },
});

daily('a compressed account asked for by its address has one row: what it was before is spent', async () => {
  const place = await openInstallation({
    'jobs/account.yaml': job('getCompressedAccount', `{address: {values: [${key('Home')}]}}`),
  });
  const answer = (slot: number, value: unknown) => () => ({ context: { slot }, value });
  const rows = () => names(place, 'select hash as name from compressed_accounts');
  await place.night(answer(100, compressed('Before', 50, key('Home'))));
  await place.night(answer(110, compressed('After', 105, key('Home'))));
  expect(await rows()).toEqual(['After']);
  // A replica that has not seen the change yet.
  await place.night(answer(104, compressed('Before', 50, key('Home'))));
  expect(await rows()).toEqual(['After']);
  await place.night(answer(120, null));
  expect(await rows()).toEqual(['After']);
  await place.night(answer(130, null));
  expect(await rows()).toEqual([]);
  expect(
    await place.rows(
      `select rtrim(hash, '1') as hash, gone_reason as reason from compressed_accounts_history order by 1`,
    ),
  ).toEqual([
    { hash: 'After', reason: 'unknown' },
    { hash: 'Before', reason: 'spent' },
  ]);
  await expectRebuilt(place);
});

daily(
  'a look-up whose records have slots of their own, older than the rows, tells who lives and who is burnt',
  async () => {
    const place = await openInstallation(assetJob);
    await place.night(ledger(100, [asset('Kept'), asset('Lives'), asset('Burnt')]));
    const old = { last_indexed_slot: 90 };
    await place.night(ledger(110, [asset('Kept')], [asset('Burnt', { burnt: true, ...old })]));
    expect(await place.rows(`select rtrim(id, '1') as id, slot, burnt from assets where burnt`)).toEqual([
      { id: 'Burnt', slot: '110', burnt: true },
    ]);
    // A null, an answer, a null: the second null is a first one again.
    await place.night(ledger(120, [asset('Kept')], [asset('Lives', old)]));
    await place.night(ledger(130, [asset('Kept')]));
    expect(await assets(place)).toEqual(['Burnt', 'Kept', 'Lives']);
    await place.night(ledger(140, [asset('Kept')]));
    expect(await assets(place)).toEqual(['Burnt', 'Kept']);
    await expectRebuilt(place);
  },
);

daily.each([
  ['a record without a key', { interface: 'V1_NFT' }],
  ['a null', null],
])('%s in the list every night does not stop closing: assets are looked up', async (_, odd) => {
  const place = await openInstallation(assetJob);
  await place.night(ledger(100, [asset('Kept'), asset('Lost'), asset('Burnt'), odd]));
  await place.night(ledger(110, [asset('Kept'), odd], [asset('Burnt', { burnt: true })]));
  expect(await names(place, 'select id as name from assets where burnt')).toEqual(['Burnt']);
  expect(await assets(place)).toEqual(['Burnt', 'Kept', 'Lost']);
  await place.night(ledger(120, [asset('Kept'), odd]));
  expect(await assets(place)).toEqual(['Burnt', 'Kept']);
  await expectRebuilt(place);
});

daily('… and token accounts close when two such crawls, hours apart, missed them', async () => {
  const place = await openInstallation(tokenJob);
  const odd = { mint: key('Mint'), amount: 1 };
  const accounts = () => names(place, 'select address as name from token_accounts order by 1');
  await place.night(ledger(100, [account('Kept'), account('Gone'), account('Winks'), odd]));
  await place.night(ledger(110, [account('Kept'), odd]));
  await place.night(ledger(120, [account('Kept'), odd]), { hoursLater: 0.1 });
  expect(await accounts()).toEqual(['Gone', 'Kept', 'Winks']);
  const status = await runProgram(['status'], { cwd: dirname(place.data) });
  expect(status.stdout).toContain('records without a key in 1 target,');
  expect(status.stdout).toContain('2 rows missing from the lists once');
  await place.night(ledger(130, [account('Kept'), account('Winks'), odd]));
  expect(await accounts()).toEqual(['Kept', 'Winks']);
  expect(
    await place.rows(
      'select valid_to_slot, gone_reason from token_accounts_history where gone_reason is not null',
    ),
  ).toEqual([{ valid_to_slot: '110', gone_reason: 'zero_or_closed' }]);
  // Missed, seen, missed: once.
  await place.night(ledger(140, [account('Kept'), odd]));
  expect(await accounts()).toEqual(['Kept', 'Winks']);
  await expectRebuilt(place);
});

test('what a list by page number does not show in two crawls, hours apart, leaves; missed once, it stays', async () => {
  const place = await openInstallation({
    'jobs/balances.yaml': job('walletBalances', `{wallet: {values: [${owner}]}}`),
  });
  const balances =
    (...letters: string[]) =>
    (call: Call) =>
      answerList(
        call,
        letters.map((letter) => ({ mint: key(`Coin${letter}`), balance: 5, decimals: 0 })),
        { slot: null, pageSize: 3 },
      );
  const held = async (letters: string, hoursLater = 24) => {
    await place.night(balances(...letters), { hoursLater });
    const rows = await names(place, 'select mint as name from wallet_balances order by 1');
    return rows.map((name) => name.slice(-1)).join('');
  };
  expect(await held('ABCDEFGH')).toBe('ABCDEFGH');
  expect(await held('ABCDEF')).toBe('ABCDEFGH');
  expect(await held('ABCDEFG', 0.1)).toBe('ABCDEFGH');
  expect(await held('ABCDEFG')).toBe('ABCDEFG');
  expect(
    await place.rows('select gone_reason from wallet_balances_history where valid_to is not null'),
  ).toEqual([{ gone_reason: 'zero_or_closed' }]);
});
