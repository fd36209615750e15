import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import type { WalletTransactionTruth } from '../../../src/sandbox/truth-wallets.ts';
import { historyTypes } from '../../../src/sandbox/wallet-events.ts';

let sandbox: Sandbox;
let owners: string[];
beforeAll(async () => {
  sandbox = await startSandbox({ assets: 800, owners: 80 });
  sandbox.tick(2);
  owners = [...sandbox.world.truth().owners()];
});
afterAll(() => sandbox.close());

const truth = () => sandbox.world.truth();
const nobody = 'So11111111111111111111111111111111111111112';

async function get(path: string, query: Record<string, string | number | boolean> = {}) {
  const search = new URLSearchParams(query as Record<string, string>);
  const answer = await fetch(`${sandbox.url}/v1/wallet/${path}?${search}`, {
    headers: { 'x-api-key': 'sandbox' },
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here, on purpose
  return { status: answer.status, body: (await answer.json()) as any };
}

/** Follows nextCursor, given as the query parameter `by`. */
async function walk(path: string, by: string, query: Record<string, string | number> = {}) {
  const rows: object[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { status, body } = await get(path, { ...query, ...(cursor === undefined ? {} : { [by]: cursor }) });
    expect(status).toBe(200);
    rows.push(...body.data);
    expect(body.pagination.hasMore).toBe(body.pagination.nextCursor !== null);
    cursor = body.pagination.nextCursor;
  }
  return rows;
}

const parsed = (texts: string[]) => texts.map((text) => JSON.parse(text));
const records = (some: WalletTransactionTruth[]) => parsed(some.map((one) => one.record));

describe('identity', () => {
  test('known ones as the truth has them, 404 for others', async () => {
    const [known, unknown] = [truth().outsiders()[4], owners[0]] as [string, string];
    expect(await get(`${known}/identity`)).toEqual({ status: 200, body: truth().walletIdentity(known) });
    expect(await get(`${unknown}/identity`)).toEqual({
      status: 404,
      body: { error: 'Identity not found', code: 'NOT_FOUND' },
    });
  });

  test('a batch is a bare array without the unknown', async () => {
    const addresses = [...owners, ...truth().outsiders()].slice(0, 100);
    const post = (body: object) =>
      fetch(`${sandbox.url}/v1/wallet/batch-identity?api-key=sandbox`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
    const known = addresses.flatMap((one) => truth().walletIdentity(one) ?? []);
    expect(known.length).toBeGreaterThan(15);
    expect(known.length).toBeLessThan(90);
    expect(await (await post({ addresses: [...addresses.slice(1), addresses[0]] })).json()).toEqual(
      expect.arrayContaining(known),
    );
    for (const body of [{ addresses: Array(101).fill(nobody) }, { addresses: 'a' }, { ids: [] }]) {
      expect((await post(body)).status).toBe(400);
    }
  });
});

describe('balances', () => {
  test('all pages give what the token accounts hold, dearest first', async () => {
    const wallet = owners[0] as string;
    const rows: { mint: string; usdValue?: number }[] = [];
    for (let page = 1, more = true; more; page += 1) {
      const { body } = await get(`${wallet}/balances`, { page, limit: 30 });
      rows.push(...body.balances);
      expect(body.pagination).toMatchObject({ page, limit: 30 });
      more = body.pagination.hasMore;
    }
    const held = truth().walletBalances(wallet);
    expect(rows).toEqual(parsed(held.filter((one) => one.raw > 0n).map((one) => one.record)));
    const values = rows.map((one) => one.usdValue ?? -1);
    expect(values).toEqual([...values].sort((a, b) => b - a));
    const sums = new Map<string, bigint>();
    for (const { owner, mint, amount } of truth().tokenAccounts()) {
      if (owner === wallet) sums.set(mint, (sums.get(mint) ?? 0n) + amount);
    }
    expect(new Map(held.filter((one) => one.mint !== nobody).map((one) => [one.mint, one.raw]))).toEqual(
      sums,
    );
  });

  test('the three switches', async () => {
    const wallet = owners[0] as string;
    const plain = (await get(`${wallet}/balances`)).body;
    expect(plain).not.toHaveProperty('nfts');
    const bare = (await get(`${wallet}/balances`, { showNative: false })).body;
    expect(bare.totalUsdValue).toBeLessThan(plain.totalUsdValue);
    const nfts = (await get(`${wallet}/balances`, { showNfts: true })).body.nfts;
    expect(nfts).toEqual(parsed(truth().walletNfts(wallet)).slice(0, 100));
    expect(nfts.length).toBeGreaterThan(5);
    const poor = owners.find((one) =>
      truth()
        .walletBalances(one)
        .some((held) => held.raw === 0n),
    ) as string;
    const count = async (showZeroBalance: boolean) =>
      (await get(`${poor}/balances`, { showZeroBalance })).body.balances.length;
    expect(await count(true)).toBeGreaterThan(await count(false));
    expect((await get(`${nobody}/balances`)).body).toMatchObject({ balances: [], totalUsdValue: 0 });
  });
});

describe('history and transfers', () => {
  test('everything moved adds up to what is held', () => {
    for (const wallet of owners) {
      const sums = new Map<string, bigint>();
      for (const { changes } of truth().walletTransactions(wallet)) {
        for (const { mint, raw } of changes) sums.set(mint, (sums.get(mint) ?? 0n) + raw);
      }
      const held = truth().walletBalances(wallet);
      for (const { mint, raw } of held) expect([mint, sums.get(mint) ?? 0n]).toEqual([mint, raw]);
    }
  });

  test('the modes show more and more, each newest first', async () => {
    const wallet = owners[1] as string;
    const all = truth().walletTransactions(wallet);
    const reaches = { none: ['direct'], balanceChanged: ['direct', 'balance'] };
    expect(await walk(`${wallet}/history`, 'before', { tokenAccounts: 'all' })).toEqual(records(all));
    for (const [tokenAccounts, shown] of Object.entries(reaches)) {
      const expected = records(all.filter((one) => shown.includes(one.reach)));
      expect(await walk(`${wallet}/history`, 'before', { tokenAccounts, limit: 7 })).toEqual(expected);
    }
    const counts = ['direct', 'balance', 'spam'].map(
      (reach) => all.filter((one) => one.reach === reach).length,
    );
    expect(Math.min(...counts)).toBeGreaterThan(0);
    const slots = all.map((one) => one.slot);
    expect(slots).toEqual([...slots].sort((a, b) => b - a));
  });

  test('after goes upward from a signature', async () => {
    const wallet = owners[1] as string;
    const all = truth()
      .walletTransactions(wallet)
      .filter((one) => one.reach !== 'spam');
    const oldest = all.at(-1)?.signature as string;
    const upward = await walk(`${wallet}/history`, 'after', { after: oldest, limit: 5 });
    expect(upward.reverse()).toEqual(records(all.slice(0, -1)));
  });

  test('all types occur, and can be asked for; errors and missing timestamps occur', async () => {
    const all = owners.flatMap((wallet) => truth().walletTransactions(wallet));
    expect(historyTypes).toHaveLength(31);
    expect(new Set(all.map((one) => one.type))).toEqual(new Set(historyTypes));
    const rows = records(all);
    expect(rows.filter((row) => row.timestamp === null).length).toBeGreaterThan(20);
    expect(rows.filter((row) => row.error !== null).length).toBeGreaterThan(20);
    const swap = all.find((one) => one.type === 'SWAP' && one.transfers.length === 2);
    const wallet = owners.find((one) =>
      truth()
        .walletTransactions(one)
        .some((event) => event.signature === swap?.signature),
    ) as string;
    const swaps = truth()
      .walletTransactions(wallet)
      .filter((one) => one.type === 'SWAP');
    expect(await walk(`${wallet}/history`, 'before', { type: 'SWAP' })).toEqual(records(swaps));
  });

  test('transfers: a row a move, also when a page cuts a signature', async () => {
    const wallet = owners[0] as string;
    const expected = parsed(
      truth()
        .walletTransactions(wallet)
        .flatMap((one) => one.transfers),
    );
    expect(new Set(expected.map((row) => row.signature)).size).toBeLessThan(expected.length);
    expect(await walk(`${wallet}/transfers`, 'cursor', { limit: 100 })).toEqual(expected);
    const poor = owners[2] as string;
    const few = truth()
      .walletTransactions(poor)
      .flatMap((one) => one.transfers);
    expect(await walk(`${poor}/transfers`, 'cursor', { limit: 1 })).toEqual(parsed(few));
  });

  test('a tick adds to the history of those whose accounts it moved', async () => {
    const before = sandbox.world.slot;
    sandbox.tick();
    const { body } = await get(`${owners[0]}/history`, { limit: 1 });
    expect(body.data[0].slot).toBeGreaterThan(before);
  });
});

test('funded-by: the oldest transfer; 404 where nobody knows', async () => {
  const [funded, unknown] = [owners[1], owners[2]] as [string, string];
  const { body } = await get(`${funded}/funded-by`);
  expect(body).toEqual(JSON.parse(truth().walletFunding(funded) as string));
  expect(body.signature).toBe(truth().walletTransactions(funded).at(-1)?.signature);
  expect(body.amountRaw).toMatch(/^\d{11,}$/);
  expect(await get(`${unknown}/funded-by`)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
});

test.each([
  ['short/history', {}, 400],
  [`${nobody}/history`, { limit: 0 }, 400],
  [`${nobody}/history`, { limit: 101 }, 400],
  [`${nobody}/history`, { type: 'swap' }, 400],
  [`${nobody}/history`, { before: 'nothing' }, 400],
  [`${nobody}/balances`, { page: 0 }, 400],
  [`${nobody}/balances`, { showNfts: 'yes' }, 400],
  [`${nobody}/transfers`, { cursor: '2' }, 400],
  [`${nobody}/transfers`, { offset: 2 }, 400],
  [`${nobody}/elsewhere`, {}, 404],
])('%s %j is refused', async (path, query, status) => {
  expect((await get(path, query as Record<string, string>)).status).toBe(status);
});

test('the key comes by query or header; refusals have a message and a status code', async () => {
  const ask = async (query: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${sandbox.url}/v1/wallet/${nobody}/transfers${query}`, { headers });
    return { status: answer.status, body: await answer.json() };
  };
  expect((await ask('?api-key=sandbox')).status).toBe(200);
  expect((await ask('', { 'X-Api-Key': 'sandbox' })).status).toBe(200);
  expect(await ask('?api-key=wrong')).toEqual({
    status: 401,
    body: { message: 'invalid api key', statusCode: 401 },
  });
  expect(sandbox.requests.at(-1)).toMatchObject({ method: 'walletTransfers', params: { wallet: nobody } });
});

test('faults strike this interface too, in its own words', async () => {
  const faulty = await startSandbox({ assets: 50, owners: 5, faultRate: 1 });
  const seen = new Set<string>();
  for (let n = 0; n < 30; n += 1) {
    const asked = fetch(`${faulty.url}/v1/wallet/${nobody}/balances?api-key=sandbox`);
    seen.add(
      await asked.then(
        async (answer) => `${answer.status} ${(await answer.text()).slice(0, 12)}`,
        () => 'reset',
      ),
    );
  }
  await faulty.close();
  expect([...seen].sort()).toEqual([
    '200 {"balances":',
    '500 {"message":"',
    '502 <html><body>',
    '503 Service Unav',
    'reset',
  ]);
});
