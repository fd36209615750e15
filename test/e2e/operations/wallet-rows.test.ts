import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Truth } from '../../../src/sandbox/world-truth.ts';
import { makeSandboxWorkplace, type SandboxWorkplace } from '../../support/workplace.ts';
import { differences, type Row } from '../table-rows.ts';
import { bookkeeping } from './ledger.ts';

/** Jobs crawl the wallet interface; every column of every row is compared with the ledger's truth. */
let place: SandboxWorkplace;
let truth: Truth;
let wallets: string[];
let report: Awaited<ReturnType<SandboxWorkplace['mustRun']>>;

const forEach = (method: string, param: string, more = '') =>
  `describe: test\nmethod: ${method}\nfor_each: { ${param}: { file: wallets.txt } }\n${more}`;

beforeAll(async () => {
  place = await makeSandboxWorkplace({ seed: 32 });
  truth = place.sandbox.world.truth();
  wallets = [...truth.owners(), ...truth.outsiders()];
  await place.write({
    'jobs/wallets.txt': wallets.join('\n'),
    'jobs/batch.yaml': forEach('walletBatchIdentity', 'addresses', 'page_size: 30\n'),
    'jobs/balances.yaml': forEach(
      'walletBalances',
      'wallet',
      'params: {showZeroBalance: true}\npage_size: 2\n',
    ),
    'jobs/history.yaml': forEach('walletHistory', 'wallet', 'params: {tokenAccounts: all}\npage_size: 13\n'),
    // Odd, so that pages end in the middle of a signature's rows.
    'jobs/transfers.yaml': forEach('walletTransfers', 'wallet', 'page_size: 3\n'),
    'jobs/funding.yaml': forEach('walletFundedBy', 'wallet'),
  });
  report = await place.mustRun();
});
afterAll(() => place.remove());

type Columns = Record<string, unknown>;

async function expectRows(
  table: string,
  key: string[],
  expected: readonly Columns[],
  at: SandboxWorkplace = place,
): Promise<void> {
  const rows = await at.rows<Columns>(`from ${table}`);
  const byKey = (all: readonly Columns[]) =>
    new Map(all.map((row) => [key.map((column) => row[column]).join(' '), row as Row]));
  const own = rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !bookkeeping.includes(name))),
  );
  expect(byKey(own).size).toBe(rows.length);
  expect(differences(byKey(expected), byKey(own))).toEqual([]);
  for (const row of rows) {
    expect(row).toMatchObject({ slot: null, first_seen_slot: null, changed_slot: null });
    expect(row.seen_at).toMatch(/^\d{4}-/);
  }
}

const timeText = (unixSeconds: number | null | undefined) =>
  unixSeconds == null
    ? null
    : new Date(unixSeconds * 1000).toISOString().replace('T', ' ').replace('.000Z', '+00');

function identityRow(wallet: string): Columns[] {
  const known = truth.walletIdentity(wallet);
  if (known === null) return [];
  const { type, name, category, tags, domainNames = null } = known;
  return [{ wallet, type, name, category, tags, domain_names: domainNames, extra: null }];
}

describe('walletBatchIdentity', () => {
  test('rows: those of every wallet that is known, and no others', async () => {
    const expected = wallets.flatMap(identityRow);
    expect(expected.length).toBeGreaterThan(25);
    await expectRows('wallet_identities', ['wallet'], expected);
    expect(report.jobs.batch).toMatchObject({ done: 1, failed: 0, pages: 4, records: expected.length });
  });
});

describe('walletBalances', () => {
  test('rows: every mint of every wallet, over several pages', async () => {
    const expected = wallets.flatMap((wallet) =>
      truth.walletBalances(wallet).map(({ record }) => {
        const one = JSON.parse(record);
        return {
          wallet,
          mint: one.mint,
          symbol: one.symbol ?? null,
          name: one.name ?? null,
          balance: one.balance,
          decimals: one.decimals,
          price_per_token: one.pricePerToken ?? null,
          usd_value: one.usdValue ?? null,
          logo_uri: one.logoUri ?? null,
          token_program: one.tokenProgram,
          extra: null,
        };
      }),
    );
    await expectRows('wallet_balances', ['wallet', 'mint'], expected);
    expect(report.jobs.balances!.pages).toBeGreaterThan(wallets.length);
  });
});

describe('walletHistory', () => {
  test('rows: every transaction of every wallet, failed, timeless and spam ones too', async () => {
    const expected = wallets.flatMap((wallet) =>
      truth.walletTransactions(wallet).map(({ record }) => {
        const one = JSON.parse(record);
        return {
          wallet,
          signature: one.signature,
          tx_slot: String(one.slot),
          timestamp: timeText(one.timestamp),
          fee: one.fee,
          fee_payer: one.feePayer,
          error: one.error,
          balance_changes: one.balanceChanges,
          extra: null,
        };
      }),
    );
    for (const has of [
      expected.some(({ timestamp }) => timestamp === null),
      expected.some(({ error }) => error !== null),
      expected.some(({ balance_changes }) => balance_changes.length > 1),
    ])
      expect(has).toBe(true);
    await expectRows('wallet_transactions', ['wallet', 'signature'], expected);
  });
});

describe('walletTransfers', () => {
  test('rows: raw amounts, and positions across pages that end within a signature', async () => {
    const expected = wallets.flatMap((wallet) =>
      truth.walletTransactions(wallet).flatMap(({ transfers }) =>
        transfers.map((text, position) => {
          const one = JSON.parse(text);
          return {
            wallet,
            signature: one.signature,
            position,
            timestamp: timeText(one.timestamp),
            direction: one.direction,
            counterparty: one.counterparty,
            mint: one.mint,
            symbol: one.symbol ?? null,
            amount: one.amount,
            amount_raw: one.amountRaw,
            decimals: one.decimals,
            extra: null,
          };
        }),
      ),
    );
    await expectRows('wallet_transfers', ['wallet', 'signature', 'position'], expected);
    const cuts = wallets.flatMap((wallet) => {
      const signatures = truth
        .walletTransactions(wallet)
        .flatMap((one) => one.transfers.map(() => one.signature));
      return signatures.filter((signature, n) => n > 0 && n % 3 === 0 && signature === signatures[n - 1]);
    });
    expect(cuts.length).toBeGreaterThan(10);
  });
});

describe('walletFundedBy', () => {
  test('rows: those of every wallet whose funding is known', async () => {
    const expected = wallets.flatMap((wallet) => {
      const text = truth.walletFunding(wallet);
      if (text === null) return [];
      const one = JSON.parse(text);
      return {
        wallet,
        funder: one.funder,
        funder_name: one.funderName ?? null,
        funder_type: one.funderType ?? null,
        mint: one.mint,
        symbol: one.symbol,
        amount: one.amount,
        amount_raw: one.amountRaw,
        decimals: one.decimals,
        signature: one.signature,
        tx_slot: String(one.slot),
        timestamp: timeText(one.timestamp),
        date: one.date,
        explorer_url: one.explorerUrl,
        extra: null,
      };
    });
    expect(expected.length).toBeLessThan(wallets.length);
    await expectRows('wallet_funding', ['wallet'], expected);
    expect(report.jobs.funding).toMatchObject({ done: wallets.length, failed: 0 });
  });
});

test('nothing was quarantined, and a second run over the quiet ledger changes no row', async () => {
  expect(await place.rows('from meta.quarantine')).toEqual([]);
  const again = await place.mustRun();
  const tables = Object.entries(again.published.tables).filter(([table]) => table.startsWith('wallet_'));
  expect(tables.length).toBeGreaterThan(3);
  for (const [table, counts] of tables) {
    expect({ table, ...counts }).toMatchObject({ inserted: 0, changed: 0, amended: 0, stale: 0 });
  }
});

describe('walletIdentity', () => {
  test('rows: those that are known; an unknown wallet is a finished target without one', async () => {
    const one = await makeSandboxWorkplace({ seed: 32 }, {});
    try {
      await one.write({
        'jobs/wallets.txt': wallets.join('\n'),
        'jobs/who.yaml': forEach('walletIdentity', 'wallet'),
      });
      const { jobs } = await one.mustRun();
      const expected = wallets.flatMap(identityRow);
      expect(jobs.who).toMatchObject({ done: wallets.length, failed: 0, records: expected.length });
      await expectRows('wallet_identities', ['wallet'], expected, one);
    } finally {
      await one.remove();
    }
  });
});
