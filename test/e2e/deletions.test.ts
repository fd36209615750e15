import { expect, test } from 'vitest';
import { daily } from '../levels.ts';
import { openScripted, type Workplace } from '../support/workplace.ts';

const key = (name: string) => `${name}${'1'.repeat(43 - name.length)}`;
const collection = key('Group');
const owner = key('Hoard');

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

type Answers = Record<string, (params: Record<string, unknown>) => unknown>;

/** An API whose answers the test sets before each night; lists are one full page and an empty one. */
function createScript() {
  const asked: string[] = [];
  let answers: Answers = {};
  return {
    asked,
    set(next: Answers) {
      answers = next;
      asked.length = 0;
    },
    answer(method: string, params: Record<string, unknown>): string {
      asked.push(method);
      return JSON.stringify(answers[method]!(params));
    },
  };
}

const asset = (name: string, more: Record<string, unknown> = {}) => ({
  id: key(name),
  interface: 'V1_NFT',
  ownership: { owner, ownership_model: 'single' },
  grouping: [{ group_key: 'collection', group_value: collection }],
  burnt: false,
  ...more,
});
const account = (name: string, amount = 5) => ({ address: key(name), mint: key('Mint'), owner, amount });

const page = (field: string, slot: number, items: unknown[]) => (params: Record<string, unknown>) =>
  params.cursor === undefined
    ? { last_indexed_slot: slot, limit: 1000, [field]: items, ...(items.length > 0 ? { cursor: 'end' } : {}) }
    : { last_indexed_slot: slot, limit: 1000, [field]: [] };
const assets = (slot: number, ...items: unknown[]): Answers => ({
  getAssetsByGroup: page('items', slot, items),
});
const tokens = (slot: number, ...items: unknown[]): Answers => ({
  getTokenAccounts: page('token_accounts', slot, items),
});
/** Looks up by id; what it is not told of is null. */
const lookUp = (...records: { id: string }[]): Answers => ({
  getAssetBatch: ({ ids }) =>
    (ids as string[]).map((id) => records.find((record) => record.id === id) ?? null),
});

/** A place whose runs are a night apart. */
async function openNightly(...[answer, files]: Parameters<typeof openScripted>): Promise<Workplace> {
  const place = await openScripted(answer, files);
  return {
    ...place,
    run(...jobs) {
      place.pass(24);
      return place.run(...jobs);
    },
    mustRun(...jobs) {
      place.pass(24);
      return place.mustRun(...jobs);
    },
  };
}

const ids = async (place: Workplace, sql: string) =>
  (await place.rows<{ name: string }>(sql)).map(({ name }) => name.replace(/1+$/, ''));
const current = (place: Workplace, table = 'assets', column = 'id') =>
  ids(place, `select ${column} as name from ${table} order by 1`);
const gone = (place: Workplace, table = 'assets', column = 'id') =>
  place.rows(
    `select rtrim(${column}, '1') as name, valid_from_slot as "from", valid_to_slot as "to", gone_reason as reason
    from ${table}_history where valid_to is not null order by valid_to, 1`,
  );

test('an asset that left its list is looked up: burnt and moved ones stay, one unknown in two runs is gone', async () => {
  const script = createScript();
  const place = await openNightly(script.answer, assetJob);
  script.set(assets(100, asset('Kept'), asset('Burnt'), asset('Moved'), asset('Lost'), asset('Back')));
  await place.mustRun();
  expect(script.asked).not.toContain('getAssetBatch');

  const moved = { grouping: [{ group_key: 'collection', group_value: key('Else') }] };
  script.set({
    ...assets(110, asset('Kept')),
    ...lookUp(asset('Burnt', { burnt: true }), asset('Moved', moved), asset('Back')),
  });
  await place.mustRun();
  expect(script.asked.filter((method) => method === 'getAssetBatch')).toHaveLength(1);
  expect(await current(place)).toEqual(['Back', 'Burnt', 'Kept', 'Lost', 'Moved']);
  expect(await ids(place, 'select id as name from assets where burnt')).toEqual(['Burnt']);
  expect(await ids(place, 'select key as name from meta.absent')).toEqual(['Lost']);
  expect((await place.cli('status')).stdout).toContain('1 row missing from the lists once');

  // Burnt and moved ones are no members any more; the lost one is asked about again, and is back in the list or not.
  script.set({ ...assets(120, asset('Kept'), asset('Back')), ...lookUp() });
  const { published } = await place.mustRun();
  expect(published.tables.assets).toMatchObject({ gone: 1, changed: 0 });
  expect(script.asked.filter((method) => method === 'getAssetBatch')).toHaveLength(1);
  expect(await current(place)).toEqual(['Back', 'Burnt', 'Kept', 'Moved']);
  expect(await gone(place)).toContainEqual({ name: 'Lost', from: '100', to: '110', reason: 'unknown' });
  expect(await ids(place, 'select key as name from meta.absent')).toEqual([]);

  // What comes late from behind does not bring it back; what is newer does.
  script.set({ ...assets(105, asset('Kept'), asset('Back'), asset('Lost')), ...lookUp() });
  await place.mustRun();
  expect(await current(place)).toEqual(['Back', 'Burnt', 'Kept', 'Moved']);
  script.set({ ...assets(130, asset('Kept'), asset('Back'), asset('Lost')), ...lookUp() });
  await place.mustRun();
  expect(await current(place)).toEqual(['Back', 'Burnt', 'Kept', 'Lost', 'Moved']);
  expect(await place.rows(`select owner from assets_at_slot(115) where id = '${key('Lost')}'`)).toEqual([]);
});

daily(
  'a row that was true at the lowest slot of the crawl that missed it ended after that slot',
  async () => {
    const script = createScript();
    const place = await openNightly(script.answer, assetJob);
    script.set(assets(100, asset('Kept'), asset('Lost')));
    await place.mustRun();
    for (const slot of [110, 120]) {
      // The replica that ends the list is still where the row was seen.
      const getAssetsByGroup: Answers[string] = ({ cursor }) =>
        cursor === undefined
          ? { last_indexed_slot: slot, items: [asset('Kept')], cursor: 'end' }
          : { last_indexed_slot: 100, items: [] };
      script.set({ getAssetsByGroup, ...lookUp() });
      await place.mustRun();
    }
    expect(await gone(place)).toEqual([{ name: 'Lost', from: '100', to: '101', reason: 'unknown' }]);
  },
);

daily('a look-up asks with the display options of the list that missed the row', async () => {
  const script = createScript();
  const list = assetJob['jobs/list.yaml'].replace(
    'collection}',
    'collection, options: {showUnverifiedCollections: true}}',
  );
  const place = await openNightly(script.answer, { 'jobs/list.yaml': list });
  script.set(assets(100, asset('Kept'), asset('Missed')));
  await place.mustRun();
  const asked: unknown[] = [];
  script.set({
    ...assets(110, asset('Kept')),
    getAssetBatch: ({ ids, options }) => {
      asked.push(options);
      const isShown = (options as Record<string, unknown> | undefined)?.showUnverifiedCollections === true;
      return (ids as string[]).map(() => asset('Missed', isShown ? {} : { grouping: [] }));
    },
  });
  await place.mustRun();
  expect(asked).toEqual([{ showUnverifiedCollections: true }]);
  expect(await ids(place, 'select collection as name from assets')).toEqual(['Group', 'Group']);
  expect(await gone(place)).toEqual([]);
});

daily('a null that follows an answer is a first null again', async () => {
  const script = createScript();
  const place = await openNightly(script.answer, assetJob);
  script.set(assets(100, asset('Kept'), asset('Winks')));
  await place.mustRun();
  script.set({ ...assets(110, asset('Kept')), ...lookUp() });
  await place.mustRun();
  script.set({ ...assets(120, asset('Kept')), ...lookUp(asset('Winks')) });
  await place.mustRun();
  script.set({ ...assets(130, asset('Kept')), ...lookUp() });
  await place.mustRun();
  expect(await current(place)).toEqual(['Kept', 'Winks']);
});

daily('records that were quarantined, and errors in the place of records, were seen', async () => {
  const script = createScript();
  const place = await openNightly(script.answer, assetJob);
  script.set(assets(100, asset('Kept'), asset('Weird'), asset('Broken'), asset('Lost')));
  await place.mustRun();
  const odd = `"id":"${key('Weird')}"`;
  script.set({
    getAssetsByGroup: (params) => {
      const answer = page('items', 110, [asset('Kept'), { junk: odd, id: 7, was: { id: key('Weird') } }])(
        params,
      );
      return params.cursor === undefined
        ? { ...answer, errors: [{ id: key('Broken'), error: 'no' }] }
        : answer;
    },
    ...lookUp(),
  });
  await place.mustRun();
  expect(await ids(place, 'select key as name from meta.absent')).toEqual(['Lost']);

  // A record without any id may be any row: the look-up judges.
  script.set({ ...assets(120, asset('Kept'), { interface: 'V1_NFT' }), ...lookUp() });
  await place.mustRun();
  expect(await ids(place, `select key as name from meta.absent order by 1`)).toEqual(['Broken', 'Weird']);
  expect(await current(place)).toEqual(['Broken', 'Kept', 'Weird']);
});

daily(
  'page numbers miss rows, so what one list of several such pages does not show is not looked up',
  async () => {
    const script = createScript();
    const place = await openNightly(script.answer, {
      'jobs/list.yaml': `${assetJob['jobs/list.yaml']}page_size: 2\n`,
    });
    const numbered = (slot: number, pages: unknown[][]): Answers => ({
      getAssetsByGroup: ({ page = 1 }) => ({
        ...{ last_indexed_slot: slot, limit: 2, page, items: pages[(page as number) - 1] ?? [] },
      }),
      ...lookUp(),
    });
    script.set(
      numbered(100, [
        [asset('A'), asset('B')],
        [asset('C'), asset('D')],
      ]),
    );
    await place.mustRun();
    script.set(numbered(110, [[asset('A'), asset('B')], [asset('C')]]));
    await place.mustRun();
    expect(script.asked).not.toContain('getAssetBatch');
    // One answer that holds the whole list does.
    script.set(numbered(120, [[asset('A'), asset('B')]]));
    await place.mustRun();
    expect(await ids(place, 'select key as name from meta.absent order by 1')).toEqual(['C', 'D']);
  },
);

test('token accounts that left close at once; too many of them stop the target until that is accepted', async () => {
  const script = createScript();
  const place = await openNightly(script.answer, tokenJob);
  const letters = 'ABCDEFGHJK';
  const names = [...letters].flatMap((a) => [...letters].map((b) => `T${a}${b}`));
  script.set(tokens(100, ...names.map((name) => account(name))));
  await place.mustRun();

  script.set(tokens(110, ...names.slice(50).map((name) => account(name))));
  expect((await place.mustRun()).published.tables.token_accounts).toMatchObject({ gone: 50, confirmed: 50 });
  expect(await current(place, 'token_accounts', 'address')).toHaveLength(50);
  expect((await gone(place, 'token_accounts', 'address')).at(0)).toMatchObject({
    to: '110',
    reason: 'zero_or_closed',
  });

  script.set(tokens(120, ...names.map((name) => account(name, 9))));
  await place.mustRun();
  script.set(tokens(130, ...names.slice(51).map((name) => account(name, 10))));
  const refused = await place.run();
  expect(refused.code).toBe(4);
  expect(refused.report.published.refused).toMatchObject([
    { job: 'tokens', target: owner, guard: 'vanished', rows: 51, total: 100 },
  ]);
  expect(await place.rows('select distinct amount from token_accounts')).toEqual([{ amount: '9' }]);

  expect(await place.cli('run', '--accept', 'nothing')).toMatchObject({ code: 2 });
  const { id } = refused.report.published.refused[0]!;
  expect(await place.cli('run', '--accept', id)).toMatchObject({ code: 0 });
  const accepted = await current(place, 'token_accounts', 'address');
  expect(accepted).toHaveLength(49);

  // What was accepted is accepted again.
  const rebuilt = await place.cli('rebuild', '--from-archive');
  expect(rebuilt.code).toBe(0);
  expect(await current(place, 'token_accounts', 'address')).toEqual(accepted);
});

daily(
  'a look-up that a replica from behind answers confirms nothing; a transaction that closed an account does',
  async () => {
    const script = createScript();
    const place = await openNightly(script.answer, {
      'jobs/compressed.yaml': `describe: test
method: getCompressedTokenAccountsByOwner
for_each: {owner: {values: [${owner}]}}
`,
      'jobs/transactions.yaml': `describe: test
method: getTransactionWithCompressionInfo
for_each: {signature: {values: [${key('Sig')}${key('Nature')}]}}
`,
    });
    const compressed = (name: string) => ({
      hash: key(name),
      address: null,
      data: null,
      owner: key('Program'),
      lamports: 0,
      tree: key('Tree'),
      leafIndex: 1,
      seq: 1,
      slotCreated: 50,
    });
    const held = (name: string) => ({
      account: compressed(name),
      tokenData: { mint: key('Mint'), owner, amount: 7, delegate: null, state: 'initialized', tlv: null },
    });
    const list = (slot: number, ...names: string[]): Answers => ({
      getCompressedTokenAccountsByOwner: () => ({
        context: { slot },
        value: { items: names.map(held), cursor: null },
      }),
    });
    const found = (slot: number): Answers => ({
      getMultipleCompressedAccounts: ({ hashes }) => ({
        context: { slot },
        value: { items: (hashes as string[]).map(() => null) },
      }),
    });
    script.set(list(100, 'Kept', 'Lost', 'Spent'));
    await place.mustRun('compressed');
    // Null, but from slot 90: it did not know the account yet.
    script.set({ ...list(110, 'Kept'), ...found(90) });
    await place.mustRun('compressed');
    script.set({ ...list(120, 'Kept'), ...found(130) });
    await place.mustRun('compressed');
    expect(await current(place, 'compressed_token_accounts', 'hash')).toEqual(['Kept', 'Lost', 'Spent']);

    script.set({
      getTransactionWithCompressionInfo: () => ({
        compressionInfo: {
          closedAccounts: [{ account: compressed('Spent'), optionalTokenData: null }],
          openedAccounts: [],
        },
        transaction: 'AQ==',
      }),
      ...found(140),
    });
    await place.mustRun('transactions');
    expect(await current(place, 'compressed_accounts', 'hash')).toEqual(['Kept']);
    for (const table of ['compressed_accounts', 'compressed_token_accounts'])
      expect(
        await place.rows(
          `select rtrim(hash, '1') as name, gone_reason from ${table}_history where gone_reason is not null order by 1`,
        ),
      ).toEqual([
        { name: 'Lost', gone_reason: 'unknown' },
        { name: 'Spent', gone_reason: 'spent' },
      ]);
  },
);
