import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { historyTypes } from '../../../src/operations/rest-operations.ts';
import type { WalletTransactionTruth } from '../../../src/sandbox/truth-wallets.ts';
import { makeSandboxWorkplace, type SandboxWorkplace } from '../../support/workplace.ts';

/** `ledgerlake call` prints what the ledger says, byte for byte: the expected text is put together from the truth. */
let place: SandboxWorkplace;
let wallet: string;
/** A wallet whose transfers and history are many. */
let busy: string;
let transactions: WalletTransactionTruth[];

beforeAll(async () => {
  place = await makeSandboxWorkplace({ seed: 31 });
  const truth = place.sandbox.world.truth();
  const owners = [...truth.owners()];
  busy = owners.reduce((most, one) =>
    truth.walletTransactions(one).length > truth.walletTransactions(most).length ? one : most,
  );
  wallet = owners.find((one) => truth.walletIdentity(one) !== null && truth.walletFunding(one) !== null)!;
  transactions = truth.walletTransactions(busy);
});
afterAll(() => place.remove());

async function call(operation: string, params: Record<string, unknown>): Promise<string> {
  const { code, stdout, stderr } = await place.cli('call', operation, JSON.stringify(params));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** The text of the page that begins these records. */
function page(records: readonly string[], limit = 100): string {
  const shown = records.slice(0, limit);
  const hasMore = records.length > limit;
  const nextCursor = hasMore ? JSON.parse(shown.at(-1)!).signature : null;
  return `{"data":[${shown.join(',')}],"pagination":${JSON.stringify({ hasMore, nextCursor })}}\n`;
}

const isShown: Record<string, (reach: string) => boolean> = {
  none: (reach) => reach === 'direct',
  balanceChanged: (reach) => reach !== 'spam',
  all: () => true,
};

describe('the result is printed exactly', () => {
  test('walletIdentity', async () => {
    const { world } = place.sandbox;
    const known = `${JSON.stringify(world.truth().walletIdentity(wallet))}\n`;
    expect(await call('walletIdentity', { wallet })).toBe(known);
  });

  test('walletIdentity and walletFundedBy: of an unknown wallet there is no data, which is no failure', async () => {
    const truth = place.sandbox.world.truth();
    const unknown = [...truth.owners()].find((one) => truth.walletIdentity(one) === null)!;
    const unfunded = [...truth.owners()].find((one) => truth.walletFunding(one) === null)!;
    for (const [operation, one] of [
      ['walletIdentity', unknown],
      ['walletFundedBy', unfunded],
    ] as const) {
      const { code, stdout, stderr } = await place.cli('call', operation, JSON.stringify({ wallet: one }));
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'null\n' });
      expect(stderr).toMatch(/^ledgerlake: no data: .*not found|^ledgerlake: no data: No funding/i);
    }
  });

  test('walletBatchIdentity', async () => {
    const truth = place.sandbox.world.truth();
    const addresses = [...truth.outsiders().slice(0, 20), ...truth.owners()].slice(0, 60);
    const known = addresses.flatMap((one) => truth.walletIdentity(one) ?? []);
    expect(known.length).toBeLessThan(60);
    expect(await call('walletBatchIdentity', { addresses })).toBe(`${JSON.stringify(known)}\n`);
  });

  test('walletBalances', async () => {
    const truth = place.sandbox.world.truth();
    const all = truth.walletBalances(busy);
    const nfts = truth.walletNfts(busy).slice(0, 100);
    const total = all.reduce((sum, { usdValue }) => sum + (usdValue ?? 0), 0);
    const params = { wallet: busy, showZeroBalance: true, showNfts: true };
    const expected = (records: string[], page: number, limit: number, shown: string) =>
      `{"balances":[${records.join(',')}]${shown},"totalUsdValue":${JSON.stringify(total)},` +
      `"pagination":${JSON.stringify({ page, limit, hasMore: page * limit < all.length })}}\n`;
    const records = all.map(({ record }) => record);
    const withNfts = `,"nfts":[${nfts.join(',')}]`;
    expect(await call('walletBalances', params)).toBe(expected(records, 1, 100, withNfts));
    expect(await call('walletBalances', { ...params, page: 2, limit: 1 })).toBe(
      expected(records.slice(1, 2), 2, 1, ',"nfts":[]'),
    );
  });

  test('walletFundedBy', async () => {
    const funding = place.sandbox.world.truth().walletFunding(wallet);
    expect(await call('walletFundedBy', { wallet })).toBe(`${funding}\n`);
  });

  test('walletTransfers, and on from its cursor', async () => {
    const rows = transactions.flatMap(({ transfers }) => transfers);
    const first = JSON.parse(await call('walletTransfers', { wallet: busy, limit: 3 }));
    expect(first.data).toEqual(rows.slice(0, 3).map((row) => JSON.parse(row)));
    const rest = await call('walletTransfers', {
      wallet: busy,
      limit: 100,
      cursor: first.pagination.nextCursor,
    });
    expect(JSON.parse(rest).data).toEqual(rows.slice(3, 103).map((row) => JSON.parse(row)));
  });

  test('getPriorityFeeEstimate: every level, one level, all of them at once', async () => {
    const accounts = [wallet, busy];
    const fees = place.sandbox.world.truth().priorityFees(accounts);
    const ask = (options: object) => call('getPriorityFeeEstimate', { accountKeys: accounts, options });
    for (const [level, fee] of [
      ['Min', fees.min],
      ['Low', fees.low],
      ['Medium', fees.medium],
      ['High', fees.high],
      ['VeryHigh', fees.veryHigh],
      ['UnsafeMax', fees.unsafeMax],
    ] as const) {
      const text = Number.isInteger(fee) ? `${fee}.0` : `${fee}`;
      expect(await ask({ priorityLevel: level })).toBe(`{"priorityFeeEstimate":${text}}\n`);
    }
    const levels = `${JSON.stringify({ priorityFeeLevels: fees })}\n`;
    expect(await ask({ includeAllPriorityFeeLevels: true })).toBe(levels);
  });
});

describe('walletHistory', () => {
  test.each(historyTypes)('%s', async (type) => {
    const shown = transactions.filter((one) => one.type === type && isShown.all!(one.reach));
    const text = await call('walletHistory', { wallet: busy, type, tokenAccounts: 'all', limit: 100 });
    expect(text).toBe(page(shown.map(({ record }) => record)));
  });

  test.each(['none', 'balanceChanged', 'all'])('token accounts: %s', async (tokenAccounts) => {
    const shown = transactions.filter(({ reach }) => isShown[tokenAccounts]!(reach));
    const text = await call('walletHistory', { wallet: busy, tokenAccounts, limit: 100 });
    expect(text).toBe(page(shown.map(({ record }) => record)));
  });

  test('both directions: older than a signature, and newer in ascending order', async () => {
    const shown = transactions.filter(({ reach }) => reach !== 'spam');
    expect(shown.length).toBeGreaterThan(6);
    const { signature } = shown[3]!;
    const older = await call('walletHistory', { wallet: busy, before: signature, limit: 2 });
    const records = shown.map(({ record }) => record);
    expect(older).toBe(page(records.slice(4), 2));
    const newer = await call('walletHistory', { wallet: busy, after: signature, limit: 100 });
    expect(newer).toBe(
      page(
        shown
          .slice(0, 3)
          .reverse()
          .map(({ record }) => record),
      ),
    );
  });

  test('a type or mode the API does not have is refused before anything is sent', async () => {
    const before = place.sandbox.requests.length;
    for (const params of [{ type: 'SWOP' }, { tokenAccounts: 'allowed all' }, { wallet: '0x1' }]) {
      const text = JSON.stringify({ wallet: busy, ...params });
      expect((await place.cli('call', 'walletHistory', text)).code).toBe(2);
    }
    expect(place.sandbox.requests.length).toBe(before);
  });
});
