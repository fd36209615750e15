import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeBase58 } from '../../../src/sandbox/base58.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import type {
  CompressedAccountTruth,
  CompressionTransactionTruth,
} from '../../../src/sandbox/truth-compression.ts';
import type { SignatureItem } from '../../../src/sandbox/world-signatures.ts';
import { call, callText, walk } from './sandbox-client.ts';

let sandbox: Sandbox;
let accounts: CompressedAccountTruth[];
let transactions: CompressionTransactionTruth[];
beforeAll(async () => {
  sandbox = await startSandbox({ assets: 500, owners: 60 });
  accounts = [...truth().compressedAccounts()];
  transactions = [...truth().compressionTransactions()];
});
afterAll(() => sandbox.close());

const truth = () => sandbox.world.truth();

async function signaturesOf(method: string, params: object): Promise<SignatureItem[]> {
  const seen: SignatureItem[] = [];
  await walk(sandbox, method, { ...params, limit: 9 }, ({ value }) => seen.push(...value.items));
  return seen;
}

interface Change {
  account: { hash: string; address: string | null; tree: string };
  optionalTokenData: { owner: string } | null;
}

async function transaction(signature: string): Promise<{ opened: Change[]; closed: Change[]; text: string }> {
  const { result } = await call(sandbox, 'getTransactionWithCompressionInfo', { signature });
  const info = result.compressionInfo ?? result.compression_info;
  const text =
    typeof result.transaction === 'string' ? result.transaction : result.transaction.transaction[0];
  return { opened: info.openedAccounts, closed: info.closedAccounts, text };
}

test('the signatures of an owner lead to exactly the accounts the list shows', async () => {
  const owner = [...truth().owners()][3] as string;
  const signatures = await signaturesOf('getCompressionSignaturesForTokenOwner', { owner });
  expect(signatures).toEqual(truth().tokenOwnerSignatures(owner));
  const held = new Set<string>();
  // Oldest first: what a transaction opens, a later one may close.
  for (const { signature } of signatures.reverse()) {
    const { opened, closed, text } = await transaction(signature);
    const mine = (changes: Change[]) => changes.filter((one) => one.optionalTokenData?.owner === owner);
    expect(mine(opened).length + mine(closed).length).toBeGreaterThan(0);
    for (const { account } of mine(closed)) expect(held.delete(account.hash)).toBe(true);
    for (const { account } of mine(opened)) held.add(account.hash);
    const bytes = Buffer.from(text, 'base64');
    expect(bytes.subarray(1, 65)).toEqual(Buffer.from(decodeBase58(signature, 64) as Uint8Array));
    expect(bytes.includes(Buffer.from(decodeBase58(owner, 32) as Uint8Array))).toBe(true);
  }
  expect(held.size).toBeGreaterThan(10);
  expect(held).toEqual(new Set(truth().compressedTokenHashes(owner)));
});

test('the signatures of an address tell all its accounts', async () => {
  const spent = accounts.find((one) => one.address !== null && one.spentBy !== null);
  const signatures = await signaturesOf('getCompressionSignaturesForAddress', { address: spent?.address });
  expect(signatures).toEqual(truth().addressSignatures(spent?.address as string));
  expect(signatures.length).toBeGreaterThan(1);
  for (const { signature } of signatures) {
    const { opened, closed } = await transaction(signature);
    expect([...opened, ...closed].some((one) => one.account.address === spent?.address)).toBe(true);
  }
});

test('both spellings occur, as the truth has them; an unknown signature is an error', async () => {
  const all = transactions;
  const spelled = all.filter((one) => one.record.startsWith('{"compression_info"'));
  expect(spelled.length / all.length).toBeCloseTo(1 / 6, 2);
  for (const { signature, record } of all.slice(0, 12)) {
    const text = await callText(sandbox, 'getTransactionWithCompressionInfo', { signature });
    expect(text).toBe(`{"jsonrpc":"2.0","id":"1","result":${record}}`);
  }
  const unknown = await call(sandbox, 'getTransactionWithCompressionInfo', { signature: '1'.repeat(64) });
  expect(unknown.error).toEqual({ code: -32000, message: 'Transaction Not Found' });
});

test('amounts are kept: what a transfer closes, it opens', () => {
  const amounts = new Map(accounts.map((one) => [one.hash, one.token?.amount ?? 0n]));
  const amountOf = (hash: string) => amounts.get(hash) as bigint;
  const sum = (hashes: string[]) => hashes.reduce((total, hash) => total + amountOf(hash), 0n);
  const transfers = transactions.filter((one) => one.opened.length * one.closed.length > 0);
  expect(transfers.length).toBeGreaterThan(500);
  for (const one of transfers) expect(sum(one.opened)).toBe(sum(one.closed));
});

test('a tick spends accounts, opens others with new hashes, at new signatures', async () => {
  const before = new Map(accounts.map((one) => [one.hash, one.spentBy]));
  const count = transactions.length;
  const { slot } = sandbox.world;
  sandbox.tick(3);
  const fresh = [...truth().compressionTransactions()].slice(count);
  const after = [...truth().compressedAccounts()];
  const spent = after.filter((one) => before.get(one.hash) === null && one.spentBy !== null);
  const opened = after.filter((one) => !before.has(one.hash));
  expect(fresh.length).toBe(60);
  expect(fresh.every((one) => one.slot > slot && one.slot <= sandbox.world.slot)).toBe(true);
  expect(spent.length).toBeGreaterThan(5);
  expect(opened.length).toBeGreaterThan(60);
  expect(new Set(fresh.flatMap((one) => one.opened))).toEqual(new Set(opened.map((one) => one.hash)));
  for (const { hash } of spent) {
    expect((await call(sandbox, 'getCompressedAccount', { hash })).result.value).toBeNull();
  }
});

test('quirks off: one spelling, and every number is a safe one', async () => {
  const plain = await startSandbox({ assets: 100, owners: 10, quirks: false });
  const all = [...plain.world.truth().compressedAccounts()];
  const numbers = all.flatMap((one) => [
    one.lamports,
    one.data?.discriminator ?? 0n,
    one.token?.amount ?? 0n,
  ]);
  expect(numbers.every((one) => one < 2n ** 53n)).toBe(true);
  expect(all.every((one) => one.seq !== null)).toBe(true);
  const records = [...plain.world.truth().compressionTransactions()].map((one) => one.record);
  expect(records.every((one) => one.startsWith('{"compressionInfo"'))).toBe(true);
  await plain.close();
});
