import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import type { CompressedAccountTruth } from '../../../src/sandbox/truth-compression.ts';
import { call, callText, walk } from './sandbox-client.ts';

let sandbox: Sandbox;
let all: CompressedAccountTruth[];
let open: CompressedAccountTruth[];
beforeAll(async () => {
  sandbox = await startSandbox({ assets: 500, owners: 60 });
  sandbox.tick();
  all = [...sandbox.world.truth().compressedAccounts()];
  open = all.filter((one) => one.spentBy === null);
});
afterAll(() => sandbox.close());

const nobody = 'So11111111111111111111111111111111111111112';

test('the world has what occurs: big numbers, nulls, frozen ones, spent ones', () => {
  const count = (holds: (one: CompressedAccountTruth) => boolean) => all.filter(holds).length;
  const tokens = all.flatMap((one) => one.token ?? []);
  expect(open.length).toBeGreaterThan(4000);
  expect(all.length - open.length).toBeGreaterThan(500);
  expect(count((one) => one.data?.discriminator === 216172782113783808n)).toBeGreaterThan(4000);
  expect(count((one) => (one.data?.discriminator ?? 0n) > 2n ** 63n)).toBeGreaterThan(20);
  expect(count((one) => one.data?.discriminator === 2n ** 64n - 1n)).toBeGreaterThan(5);
  expect(count((one) => one.data === null)).toBeGreaterThan(50);
  expect(count((one) => one.address !== null)).toBeGreaterThan(300);
  expect(count((one) => one.lamports > 2n ** 53n)).toBeGreaterThan(20);
  expect(count((one) => one.seq === null)).toBeGreaterThan(200);
  expect(tokens.filter((one) => one.amount > 2n ** 63n).length).toBeGreaterThan(200);
  expect(tokens.filter((one) => one.state === 'frozen').length).toBeGreaterThan(50);
  expect(tokens.filter((one) => one.delegate !== null && one.tlv !== null).length).toBeGreaterThan(10);
});

describe('looking up', () => {
  const addressed = () => open.find((one) => one.address !== null) as CompressedAccountTruth;

  test('by hash or address gives the record of the truth, byte for byte', async () => {
    const { hash, address, record } = addressed();
    const expected = `"value":${record}}}`;
    expect(await callText(sandbox, 'getCompressedAccount', { hash, address: null })).toContain(expected);
    expect(await callText(sandbox, 'getCompressedAccount', { address })).toContain(expected);
    const { result } = await call(sandbox, 'getCompressedAccount', { hash });
    expect(result.context).toEqual({ slot: sandbox.world.slot });
  });

  test('what is unknown or spent is null', async () => {
    const spent = all.find((one) => one.spentBy !== null)?.hash;
    for (const params of [{ hash: nobody }, { hash: spent }, { address: nobody }]) {
      expect((await call(sandbox, 'getCompressedAccount', params)).result.value).toBeNull();
    }
    const { result } = await call(sandbox, 'getMultipleCompressedAccounts', {
      hashes: [open[0]?.hash, nobody, spent, open[1]?.hash],
    });
    expect(result.value.items.map((one: { hash: string } | null) => one?.hash ?? null)).toEqual([
      open[0]?.hash,
      null,
      null,
      open[1]?.hash,
    ]);
  });

  test('an address leads to the newest of its accounts', async () => {
    const spent = all.find((one) => one.address !== null && one.spentBy !== null);
    const { result } = await call(sandbox, 'getMultipleCompressedAccounts', { addresses: [spent?.address] });
    const successor = open.find((one) => one.address === spent?.address);
    expect(result.value.items[0]?.hash).toBe(successor?.hash);
    expect(successor?.hash).not.toBe(spent?.hash);
  });

  test.each([
    ['getCompressedAccount', {}, 'exactly one of'],
    ['getCompressedAccount', { address: nobody, hash: nobody }, 'exactly one of'],
    ['getCompressedAccount', { hash: 'l0l' }, '`hash` is not a base58 key'],
    ['getMultipleCompressedAccounts', { addresses: null, hashes: null }, 'exactly one of'],
    ['getMultipleCompressedAccounts', { addresses: [], hashes: [] }, 'exactly one of'],
    ['getMultipleCompressedAccounts', { hashes: Array(1001).fill(nobody) }, 'at most 1000'],
    ['getCompressedTokenAccountsByOwner', { owner: nobody, limit: 1001 }, 'above 1000'],
    ['getCompressedTokenAccountsByOwner', { owner: nobody, cursor: '1' }, '`cursor` is not'],
    ['getCompressionSignaturesForTokenOwner', {}, 'missing parameter `owner`'],
  ])('%s %j is refused', async (method, params, message) => {
    const { error } = await call(sandbox, method, params);
    expect(error).toEqual({ code: -32602, message: expect.stringContaining(message) });
  });
});

describe('token accounts of an owner', () => {
  const read = async (params: object) => {
    const seen: { account: { hash: string }; tokenData: { owner: string; mint: string } }[] = [];
    const counts: number[] = [];
    await walk(sandbox, 'getCompressedTokenAccountsByOwner', params, ({ value }) => {
      seen.push(...value.items);
      counts.push(value.items.length);
    });
    return { seen, counts };
  };

  test('all pages give the open ones once, by mint and hash, and exact', async () => {
    const [owner] = sandbox.world.truth().owners() as unknown as [string];
    const expected = open.filter((one) => one.token?.owner === owner);
    const { seen, counts } = await read({ owner, limit: 400 });
    expect(counts.length).toBeGreaterThan(2);
    expect(seen.map((one) => one.account.hash)).toEqual(sandbox.world.truth().compressedTokenHashes(owner));
    expect(new Set(seen.map((one) => one.account.hash))).toEqual(new Set(expected.map((one) => one.hash)));
    const text = await callText(sandbox, 'getCompressedTokenAccountsByOwner', { owner });
    const large = expected.filter((one) => (one.token?.amount ?? 0n) > 2n ** 63n);
    const shown = large.filter((one) => text.includes(one.tokenRecord as string));
    expect(shown.length).toBeGreaterThan(30);
    const mint = seen[0]?.tokenData.mint;
    const ofMint = await read({ owner, mint, limit: 7 });
    expect(ofMint.seen).toEqual(seen.filter((one) => one.tokenData.mint === mint));
  });

  test('an exactly full last page gives one more, empty', async () => {
    const owner = [...sandbox.world.truth().owners()][5] as string;
    const count = sandbox.world.truth().compressedTokenHashes(owner).length;
    expect((await read({ owner, limit: count })).counts).toEqual([count, 0]);
    expect((await read({ owner, limit: count + 1 })).counts).toEqual([count]);
    expect((await read({ owner: nobody })).counts).toEqual([0]);
  });
});
