import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeBase58 } from '../../../src/sandbox/base58.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import type { TokenAccountTruth } from '../../../src/sandbox/world-truth.ts';
import { call, callText, walk } from './sandbox-client.ts';

let sandbox: Sandbox;
let truth: TokenAccountTruth[];
beforeAll(async () => {
  sandbox = await startSandbox({ assets: 1000 });
  sandbox.tick();
  truth = [...sandbox.world.truth().tokenAccounts()];
});
afterAll(() => sandbox.close());

async function walkAddresses(params: object): Promise<string[]> {
  const seen: string[] = [];
  await walk(sandbox, 'getTokenAccounts', params, (page) => {
    seen.push(...page.token_accounts.map((one: { address: string }) => one.address));
  });
  return seen;
}

const addresses = (some: TokenAccountTruth[]) => new Set(some.map((one) => one.address));

test('by owner: several pages, empty ones only when asked for', async () => {
  const [owner] = sandbox.world.truth().owners();
  const owned = truth.filter((one) => one.owner === owner);
  expect(owned.length).toBeGreaterThan(2000);
  const shown = await walkAddresses({ owner });
  expect(new Set(shown)).toEqual(addresses(owned.filter((one) => one.amount > 0n)));
  expect(shown.length).toBe(new Set(shown).size);
  const all = await walkAddresses({ owner, options: { showZeroBalance: true } });
  expect(new Set(all)).toEqual(addresses(owned));
  expect(all.length).toBeGreaterThan(shown.length);
});

test('by mint, and by both', async () => {
  const mint = sandbox.world.truth().mints()[0];
  const options = { showZeroBalance: true };
  const held = truth.filter((one) => one.mint === mint);
  expect(new Set(await walkAddresses({ mint, options }))).toEqual(addresses(held));
  const owner = held[0]?.owner;
  const both = held.filter((one) => one.owner === owner);
  expect(new Set(await walkAddresses({ mint, owner, options }))).toEqual(addresses(both));
});

test('walking down with before and by page gives the same as by cursor', async () => {
  const [owner] = sandbox.world.truth().owners();
  const byCursor = await walkAddresses({ owner, limit: 700 });
  const highest = encodeBase58(new Uint8Array(32).fill(255));
  const down: string[] = [];
  for (let before: string | undefined; ; before = down.at(-1)) {
    const { result } = await call(sandbox, 'getTokenAccounts', { owner, before: before ?? highest });
    if (result.token_accounts.length === 0) break;
    down.push(...result.token_accounts.map((one: { address: string }) => one.address));
  }
  const byPage: string[] = [];
  for (let page = 1; byPage.length < byCursor.length; page += 1) {
    const { result } = await call(sandbox, 'getTokenAccounts', { owner, page, limit: 700 });
    byPage.push(...result.token_accounts.map((one: { address: string }) => one.address));
  }
  expect(byPage).toEqual(byCursor);
  expect(down).toEqual(byCursor);
});

test('amounts stand in the answer exactly', async () => {
  const large = truth.filter((one) => one.amount > 2n ** 63n);
  expect(large.length).toBeGreaterThan(20);
  const one = large[0] as TokenAccountTruth;
  const text = await callText(sandbox, 'getTokenAccounts', { owner: one.owner, mint: one.mint });
  expect(text.replace(/\n */g, '')).toContain(one.record);
  expect(one.record).toContain(`${one.amount}`);
});

test('someone unknown has nothing', async () => {
  const { result } = await call(sandbox, 'getTokenAccounts', {
    owner: 'So11111111111111111111111111111111111111112',
  });
  expect(result).toEqual({
    last_indexed_slot: sandbox.world.slot,
    total: 0,
    limit: 1000,
    token_accounts: [],
  });
});
