import { describe, expect, test } from 'vitest';
import type { CompressedAccountTruth } from '../../../src/sandbox/truth-compression.ts';
import type { Truth } from '../../../src/sandbox/world-truth.ts';
import { differences, type Row } from '../table-rows.ts';
import {
  accountRow,
  countOddRows,
  every,
  freshAddress,
  openLedger,
  printed,
  readFacts,
  tokenColumns,
  values,
} from './ledger.ts';

const open = (truth: Truth) => [...truth.compressedAccounts()].filter(({ spentBy }) => spentBy === null);
const rowsOf = (accounts: Iterable<CompressedAccountTruth>) =>
  new Map([...accounts].map((account) => [account.hash, accountRow(account)]));

describe('getCompressedAccount', () => {
  const chosen = (truth: Truth) => every(open(truth), 90);
  const withAddress = (truth: Truth) => open(truth).filter(({ address }) => address !== null);

  test('call prints the exact result, by hash, by address, and of none', async () => {
    const ledger = await openLedger(() => ({}));
    const [plain] = withAddress(ledger.truth);
    for (const params of [
      { hash: plain!.hash },
      { address: plain!.address },
      { address: null, hash: plain!.hash },
    ]) {
      const called = await ledger.call('getCompressedAccount', params);
      expect(called).toEqual(printed(called.result));
      expect(called.stdout).toContain(`"value":${plain!.record}}`);
    }
    const none = await ledger.call('getCompressedAccount', { hash: freshAddress('nobody') });
    expect(none.stdout).toMatch(/^\{"context":\{"slot":\d+\},"value":null\}\n$/);
    const both = await ledger.call('getCompressedAccount', { hash: plain!.hash, address: plain!.address });
    expect(both).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('only one of') });
    expect(await ledger.call('getCompressedAccount', { address: null })).toMatchObject({ code: 2 });
  });

  test('a job brings the accounts there are, by hash and by address', async () => {
    const ledger = await openLedger((truth) => {
      const spent = [...truth.compressedAccounts()].find(({ spentBy }) => spentBy !== null);
      const hashes = [...chosen(truth).map(({ hash }) => hash), spent!.hash, freshAddress('nobody')];
      const addresses = withAddress(truth).slice(0, 20);
      return {
        hashes: `method: getCompressedAccount\nfor_each: {hash: ${values(hashes)}}\n`,
        addresses: `method: getCompressedAccount\nfor_each: {address: ${values(addresses.map(({ address }) => `${address}`))}}\n`,
      };
    });
    const { truth, sandbox } = ledger;
    const from = sandbox.world.slot;
    const { run, jobs } = await ledger.mustRun();
    const expected = rowsOf([...chosen(truth), ...withAddress(truth).slice(0, 20)]);
    expect(differences(expected, await readFacts(ledger, 'compressed_accounts', 'hash'))).toEqual([]);
    expect(await countOddRows(ledger, 'compressed_accounts', run, from, sandbox.world.slot)).toBe(0);
    const asked = chosen(truth).length + 2;
    expect(jobs.hashes).toMatchObject({ tasks: asked, done: asked, failed: 0, records: asked - 2 });
    expect(await ledger.rows('select distinct state from meta.checkpoints')).toEqual([{ state: 'complete' }]);
  });
});

describe('getMultipleCompressedAccounts', () => {
  test('call prints the exact result, by hashes and by addresses', async () => {
    const ledger = await openLedger(() => ({}));
    const some = open(ledger.truth)
      .filter(({ address }) => address !== null)
      .slice(0, 3);
    const items = [...some.map(({ record }) => record), 'null'].join(',');
    for (const params of [
      { hashes: [...some.map(({ hash }) => hash), freshAddress('nobody')] },
      { addresses: [...some.map(({ address }) => address), freshAddress('nobody')] },
    ]) {
      const called = await ledger.call('getMultipleCompressedAccounts', params);
      expect(called).toEqual(printed(called.result));
      expect(called.stdout).toContain(`"value":{"items":[${items}]}}`);
    }
  });

  test('a job brings every account of a list, in slices', async () => {
    const ledger = await openLedger((truth) => {
      const hashes = [...truth.compressedAccounts()].map(({ hash }) => hash);
      return {
        accounts: `method: getMultipleCompressedAccounts\nfor_each: {hashes: ${values(hashes)}}\n`,
      };
    });
    const { truth, sandbox } = ledger;
    const from = sandbox.world.slot;
    const { run, jobs } = await ledger.mustRun();
    const expected = rowsOf(open(truth));
    expect(expected.size).toBeGreaterThan(3000);
    expect(differences(expected, await readFacts(ledger, 'compressed_accounts', 'hash'))).toEqual([]);
    expect(await countOddRows(ledger, 'compressed_accounts', run, from, sandbox.world.slot)).toBe(0);
    const pages = Math.ceil([...truth.compressedAccounts()].length / 1000);
    expect(jobs.accounts).toMatchObject({ tasks: 1, pages, records: expected.size });
    const discriminators = [...expected.values()].map(({ discriminator }) => discriminator);
    expect(discriminators).toContain('18446744073709551615');
    expect(discriminators).toContain('216172782113783808');
  });

  test('a job that gives addresses too is refused', async () => {
    const ledger = await openLedger(() => {
      const list = `[${freshAddress('a')}]`;
      return {
        accounts: `method: getMultipleCompressedAccounts\nparams: {addresses: ${list}}\nfor_each: {hashes: {values: ${list}}}\n`,
      };
    });
    const { code, stderr } = await ledger.run();
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('only one of addresses, hashes'),
    });
  });
});

describe('getCompressedTokenAccountsByOwner', () => {
  const tokens = (truth: Truth, owners: readonly string[]) =>
    open(truth).filter(({ token }) => token !== null && owners.includes(token.owner));
  const tokenRow = (account: CompressedAccountTruth): Row => ({
    hash: account.hash,
    owner: account.token!.owner,
    ...tokenColumns(account),
    extra: null,
  });

  test('call prints the exact result, and goes on from a cursor', async () => {
    const ledger = await openLedger(() => ({}));
    const [owner] = [...ledger.truth.owners()];
    const first = await ledger.call('getCompressedTokenAccountsByOwner', { owner, limit: 2 });
    expect(first).toEqual(printed(first.result));
    const { cursor } = JSON.parse(first.stdout).value;
    const second = await ledger.call('getCompressedTokenAccountsByOwner', { owner, limit: 2, cursor });
    const records = ledger.truth
      .compressedTokenHashes(`${owner}`)
      .slice(0, 4)
      .map((hash) => ledger.truth.compressedAccount(hash)?.tokenRecord);
    expect(first.stdout).toContain(`"value":{"items":[${records.slice(0, 2)}],"cursor":"${cursor}"}}`);
    expect(second.stdout).toContain(`"value":{"items":[${records.slice(2)}],`);
    const { token } = ledger.truth.compressedAccount(ledger.truth.compressedTokenHashes(`${owner}`)[0]!)!;
    const ofMint = await ledger.call('getCompressedTokenAccountsByOwner', { owner, mint: token!.mint });
    expect(ofMint).toEqual(printed(ofMint.result));
    const mints = JSON.parse(ofMint.stdout).value.items.map(
      (item: { tokenData: { mint: string } }) => item.tokenData.mint,
    );
    expect(new Set(mints)).toEqual(new Set([token!.mint]));
  });

  test('a job brings the accounts and their token data, page by page', async () => {
    const ledger = await openLedger((truth) => ({
      tokens: `method: getCompressedTokenAccountsByOwner\npage_size: 100\nfor_each: {owner: ${values(truth.owners())}}\n`,
    }));
    const { truth, sandbox } = ledger;
    const from = sandbox.world.slot;
    const { run, jobs } = await ledger.mustRun();
    const accounts = tokens(truth, [...truth.owners()]);
    const expected = new Map(accounts.map((account) => [account.hash, tokenRow(account)]));
    expect(expected.size).toBeGreaterThan(2000);
    expect(differences(expected, await readFacts(ledger, 'compressed_token_accounts', 'hash'))).toEqual([]);
    const bare = await readFacts(ledger, 'compressed_accounts', 'hash');
    expect(differences(rowsOf(accounts), bare)).toEqual([]);
    for (const table of ['compressed_token_accounts', 'compressed_accounts'])
      expect(await countOddRows(ledger, table, run, from, sandbox.world.slot)).toBe(0);
    expect(jobs.tokens?.pages).toBeGreaterThan(jobs.tokens?.tasks ?? 0);
    expect([...expected.values()].map(({ amount }) => amount)).toContain('18446744073709551615');
  });

  test('a job over owner and mint brings those of the mint only', async () => {
    const ledger = await openLedger((truth) => {
      const [owner = ''] = truth.owners();
      const { token } = truth.compressedAccount(truth.compressedTokenHashes(owner)[0]!)!;
      const sql = `select '${owner}' as owner, '${token!.mint}' as mint`;
      return { tokens: `method: getCompressedTokenAccountsByOwner\nfor_each: {sql: "${sql}"}\n` };
    });
    const { truth } = ledger;
    await ledger.mustRun();
    const [owner = ''] = truth.owners();
    const [first] = tokens(truth, [owner]).filter(
      ({ hash }) => hash === truth.compressedTokenHashes(owner)[0],
    );
    const expected = tokens(truth, [owner]).filter(({ token }) => token!.mint === first!.token!.mint);
    const rows = await readFacts(ledger, 'compressed_token_accounts', 'hash');
    expect(differences(new Map(expected.map((one) => [one.hash, tokenRow(one)])), rows)).toEqual([]);
  });
});
