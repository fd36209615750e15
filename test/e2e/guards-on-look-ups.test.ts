import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { daily } from '../levels.ts';
import { openInstallation } from '../support/nights.ts';
import { runProgram } from '../support/program.ts';
import { type Call, RawReply, type Script } from '../support/scripted-api.ts';
import { answerList } from '../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const collection = key('Group');
const jobs = {
  'jobs/list.yaml': `describe: test
method: getAssetsByGroup
params: {groupKey: collection}
for_each: {groupValue: {values: [${collection}]}}
`,
};

interface Night {
  /** How many of a hundred assets the list shows. */
  listed: number;
  /** How many the look-up knows. */
  known?: number;
  change?: (asset: Record<string, unknown>, n: number) => Record<string, unknown>;
}

const all = (change: Night['change'] = (asset) => asset) =>
  Array.from({ length: 100 }, (_, n) =>
    change(
      {
        id: key(`A${String(n).replaceAll('0', 'z')}x`),
        interface: 'V1_NFT',
        content: { metadata: { name: `Number ${n}` }, json_uri: `https://x/${n}` },
        ownership: { owner: key('Who'), ownership_model: 'single', delegate: n < 60 ? key('Del') : null },
        grouping: [{ group_key: 'collection', group_value: collection }],
        burnt: false,
      },
      n,
    ),
  );

const ledger =
  (slot: number, { listed, known = 100, change }: Night): Script =>
  (call: Call) => {
    const assets = all(change);
    if (call.operation === 'getAssetBatch') {
      const at = new Map(assets.slice(0, known).map((asset) => [asset.id, asset]));
      return (call.params.ids as string[]).map((id) => at.get(id) ?? null);
    }
    return answerList(call, assets.slice(0, listed), { slot, pageSize: 1000 });
  };

const count = 'select count(*)::text as n from assets';

test('all lists empty and every look-up null, night after night: nothing is closed until that is accepted', async () => {
  const one = await openInstallation(jobs);
  expect((await one.night(ledger(100, { listed: 100 }))).code).toBe(0);
  const first = await one.night(ledger(200, { listed: 3, known: 3 }));
  const waiting = { job: 'list', table: 'assets', rows: 97, total: 100 };
  expect([first.code, first.report?.published]).toMatchObject([4, { refused: [], waiting: [waiting] }]);
  expect(await one.check()).toMatchObject([
    {
      kind: 'waiting',
      job: 'list',
      message: expect.stringMatching(/^97 of 100 rows of assets .* kept until/),
    },
  ]);
  const second = await one.night(ledger(300, { listed: 0, known: 0 }));
  expect(second.code).toBe(4);
  expect(second.report?.published.refused).toMatchObject([
    { job: '_confirm', guard: 'vanished', rows: 100, total: 100 },
  ]);
  const check = await runProgram(['check', '--json', '--max-age', '9000d'], { cwd: dirname(one.data) });
  expect([check.code, JSON.parse(check.stdout).findings]).toEqual([
    5,
    [
      {
        ...{ kind: 'refused', job: 'list', target: '' },
        message: expect.stringMatching(
          /100 of 100 rows .* if it is right: ledgerlake publish .*--accept r[0-9a-f]{8}$/,
        ),
      },
    ],
  ]);
  expect(await one.rows(count)).toEqual([{ n: '100' }]);
  expect((await one.acceptAll()).refused).toEqual([]);
  // Three were not found for the first time.
  expect(await one.rows(count)).toEqual([{ n: '3' }]);
  expect(await one.rebuild()).toBe(0);
  expect(await one.rows(count)).toEqual([{ n: '3' }]);
});

daily('the same, and then a right night: everything is as it was', async () => {
  const one = await openInstallation(jobs);
  for (const [slot, night] of [
    [100, { listed: 100 }],
    [200, { listed: 0, known: 0 }],
    [300, { listed: 0, known: 0 }],
  ] as const)
    await one.night(ledger(slot, night));
  expect((await one.night(ledger(400, { listed: 100 }))).code).toBe(0);
  expect(await one.rows(count)).toEqual([{ n: '100' }]);
  expect(await one.rows('from meta.absent')).toEqual([]);
  expect(await one.rows('from meta.held')).toEqual([]);
});

test('nights that a ledger has pass: few assets gone, burnt ones without an owner, delegates that went, a new member', async () => {
  const one = await openInstallation(jobs);
  await one.night(ledger(100, { listed: 100 }));
  const changes: Night[] = [
    { listed: 98, known: 98 },
    { listed: 98, known: 98 },
    {
      listed: 98,
      change: (asset, n) => (n < 60 ? { ...asset, burnt: true, ownership: { owner: '' } } : asset),
    },
    { listed: 98, change: (asset) => ({ ...asset, fresh: { member: 1 } }) },
    {
      listed: 98,
      change: (asset, n) =>
        n < 20 ? { ...asset, ownership: { owner: key('Who'), ownership_model: 'single' } } : asset,
    },
    {
      listed: 98,
      change: (asset, n) => ({
        ...asset,
        mutable: false,
        creators: [{ address: key('New'), share: 100, verified: true }],
        ownership: { ...(asset.ownership as object), owner: key(n < 48 ? 'Vault' : 'Who') },
      }),
    },
  ];
  // That so many were burnt at once is what somebody knows; that they lose their owners speaks for itself.
  for (const [n, night] of changes.entries()) {
    expect((await one.night(ledger(200 + n, night))).code, `${n}`).toBe(n === 2 ? 4 : 0);
    if (n === 2) expect((await one.acceptAll()).refused).toEqual([]);
  }
  expect(await one.rows('select guard, accepted_by is null as waits from meta.refusals')).toEqual([
    { guard: 'vanished', waits: false },
  ]);
});

test('names and addresses that are gone from all answers, or one in all, are refused, by column', async () => {
  const one = await openInstallation(jobs);
  await one.night(ledger(100, { listed: 100 }));
  const renamed = ({ content, ...asset }: Record<string, unknown>) => ({
    ...asset,
    content: { metadata: { title: 'x' }, json_uri: (content as { json_uri: string }).json_uri },
  });
  const night = await one.night(ledger(200, { listed: 100, change: renamed }));
  expect(night.code).toBe(4);
  expect(night.report?.published.refused).toMatchObject([
    { guard: 'blank', column: 'name', rows: 100, total: 100 },
  ]);
  const unknown = ({ content, ownership, ...asset }: Record<string, unknown>) => ({
    ...asset,
    content: { ...(content as object), metadata: { name: 'Unknown' } },
    ownership: { ...(ownership as object), owner: '1'.repeat(32) },
  });
  const collapsed = await one.night(ledger(300, { listed: 100, change: unknown }));
  expect(collapsed.report?.published.refused).toMatchObject([
    { guard: 'collapse', column: 'name', rows: 100, total: 100 },
    { guard: 'collapse', column: 'owner', rows: 100, total: 100 },
  ]);
});

daily('a first crawl whose records all lack a required member is refused', async () => {
  const one = await openInstallation(jobs);
  const night = await one.night(
    ledger(100, { listed: 100, change: ({ interface: kind, ...rest }) => ({ ...rest, kind }) }),
  );
  expect(night.code).toBe(4);
  expect(night.report?.published.refused).toMatchObject([
    { guard: 'blank', column: 'interface', rows: 100, total: 100 },
  ]);
  expect(await one.rows(count)).toEqual([{ n: '0' }]);
});

const wallets = Array.from({ length: 20 }, (_, n) => key(`W${String(n).replaceAll('0', 'z')}x`));
const identity = ({ params }: Call) => ({
  ...{ address: params.wallet, type: 'exchange', name: 'Name', category: 'Category', tags: [] },
});
const account = ({ params }: Call) => ({
  ...{ hash: params.hash, address: null, data: null, owner: key('Prog'), lamports: 1, tree: key('Tree') },
  ...{ leafIndex: 1, seq: 1, slotCreated: 10 },
});

daily.each<[string, string, string, (slot: number) => Script, (slot: number) => Script]>([
  [
    'walletIdentity',
    'wallet',
    'wallet_identities',
    () => identity,
    () => () => new RawReply('{"error":"Not found"}', 404),
  ],
  [
    'getCompressedAccount',
    'hash',
    'compressed_accounts',
    (slot) => (call) => ({ context: { slot }, value: account(call) }),
    (slot) => () => ({ context: { slot }, value: null }),
  ],
])(
  '%s that knows no target any more, two nights long: nothing is closed',
  async (method, param, table, right, wrong) => {
    const one = await openInstallation({
      'jobs/one.yaml': `describe: test\nmethod: ${method}\nfor_each: {${param}: {values: [${wallets}]}}\n`,
    });
    const rows = async () => (await one.rows(`from ${table}`)).length;
    expect((await one.night(right(1000))).code).toBe(0);
    expect((await one.night(wrong(2000))).code).toBe(4);
    const third = await one.night(wrong(3000));
    expect([third.code, await rows()]).toEqual([4, 20]);
    expect(third.report?.published.refused).toMatchObject([
      { job: 'one', guard: 'vanished', rows: 20, total: 20, targets: 20 },
    ]);
    expect((await one.night(right(4000))).code).toBe(0);
    expect(await one.rows('from meta.held')).toEqual([]);
    await one.night(wrong(5000));
    await one.night(wrong(6000));
    expect((await one.acceptAll()).refused).toEqual([]);
    expect(await rows()).toBe(0);
    expect(await one.rebuild()).toBe(0);
    expect(await rows()).toBe(0);
  },
);

const burn: Night['change'] = (asset) => ({ ...asset, burnt: true });

test('every asset burnt at once, in the list or in the look-ups, is refused; some are not', async () => {
  const one = await openInstallation(jobs);
  await one.night(ledger(100, { listed: 100 }));
  const refused = { guard: 'vanished', rows: 100, total: 100 };
  const listed = await one.night(ledger(200, { listed: 100, change: burn }));
  expect([listed.code, listed.report?.published.refused]).toMatchObject([4, [{ job: 'list', ...refused }]]);
  const lookedUp = await one.night(ledger(300, { listed: 0, change: burn }));
  expect([lookedUp.code, lookedUp.report?.published.refused]).toMatchObject([
    4,
    [{ job: '_confirm', ...refused }],
  ]);
  const living = 'select count(*)::text as n from assets where burnt is not true';
  expect(await one.rows(living)).toEqual([{ n: '100' }]);
  const some: Night['change'] = (asset, n) => ({ ...asset, burnt: n >= 70 });
  expect((await one.night(ledger(400, { listed: 70, change: some }))).code).toBe(0);
  expect(await one.rows(living)).toEqual([{ n: '70' }]);
});

daily('members that every record has, dropped from twenty assets, are refused', async () => {
  const one = await openInstallation(jobs);
  const few = (slot: number, change?: Night['change']): Script =>
    ledger(slot, { listed: 20, known: 20, ...(change && { change }) });
  await one.night(
    few(100, (asset) => ({
      ...asset,
      ownership: { ...(asset.ownership as object), frozen: false, delegated: false },
    })),
  );
  const { report } = await one.night(few(200, ({ burnt: _, ...asset }) => asset));
  expect(report?.published.refused.map(({ column }) => column)).toEqual(['burnt', 'delegated', 'frozen']);
});
