import { expect, test } from 'vitest';
import type { CompressionTransactionTruth } from '../../../src/sandbox/truth-compression.ts';
import type { Truth } from '../../../src/sandbox/world-truth.ts';
import { parseExact } from '../exact-json.ts';
import { differences, type Row } from '../table-rows.ts';
import {
  accountColumns,
  accountRow,
  every,
  openLedger,
  printed,
  readFacts,
  tokenColumns,
  values,
} from './ledger.ts';

const chosen = (truth: Truth) => every([...truth.compressionTransactions()], 7);

/** Some answers spell `compression_info`, and give the transaction as an object, which knows its slot. */
function isObjectForm({ record }: CompressionTransactionTruth): boolean {
  return (parseExact(record) as Map<string, unknown>).has('compression_info');
}

function transactionRow(of: CompressionTransactionTruth): Row {
  return {
    signature: of.signature,
    tx_slot: isObjectForm(of) ? String(of.slot) : null,
    block_time: null,
    transaction: of.transaction,
    opened: String(of.opened.length),
    closed: String(of.closed.length),
    extra: null,
  };
}

function accountRows(truth: Truth, { signature, opened, closed }: CompressionTransactionTruth) {
  return Object.entries({ opened, closed }).flatMap(([change, hashes]) =>
    hashes.map((hash, position): [string, Row] => {
      const facts = truth.compressedAccount(hash)!;
      const row = { signature, change, hash, position: String(position), ...accountColumns(facts) };
      const token = { token_owner: facts.token?.owner ?? null, ...tokenColumns(facts), extra: null };
      return [`${signature} ${change} ${hash}`, { ...row, ...token }];
    }),
  );
}

test('call prints the exact result in both forms; of an unknown signature there is none', async () => {
  const ledger = await openLedger(() => ({}));
  const transactions = [...ledger.truth.compressionTransactions()];
  for (const form of [true, false]) {
    const one = transactions.find((transaction) => isObjectForm(transaction) === form)!;
    const called = await ledger.call('getTransactionWithCompressionInfo', { signature: one.signature });
    expect(called).toEqual(printed(one.record));
  }
  const unknown = { signature: 'Z'.repeat(87) };
  expect(await ledger.call('getTransactionWithCompressionInfo', unknown)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('Not Found'),
  });
});

test('a job brings the transactions, what they opened and closed, and the opened accounts', async () => {
  const ledger = await openLedger((truth) => {
    const signatures = [...chosen(truth).map(({ signature }) => signature), 'Z'.repeat(87)];
    return {
      transactions: `method: getTransactionWithCompressionInfo\nfor_each: {signature: ${values(signatures)}}\n`,
    };
  });
  const { truth } = ledger;
  const { run, jobs } = await ledger.mustRun();
  const transactions = chosen(truth);
  expect(jobs.transactions).toMatchObject({ tasks: transactions.length + 1, failed: 0 });

  const expected = new Map(transactions.map((one) => [one.signature, transactionRow(one)]));
  expect([...expected.values()].filter(({ tx_slot }) => tx_slot !== null).length).toBeGreaterThan(10);
  expect(differences(expected, await readFacts(ledger, 'compression_transactions', 'signature'))).toEqual([]);

  const changes = new Map(transactions.flatMap((one) => accountRows(truth, one)));
  const key = ['signature', 'change', 'hash'];
  const rows = await readFacts(ledger, 'compression_transaction_accounts', ...key);
  expect(differences(changes, rows)).toEqual([]);
  for (const [column, exact] of [
    ['change', 'closed'],
    ['amount', '18446744073709551615'],
    ['discriminator', '18446744073709551615'],
  ])
    expect([...changes.values()].map((row) => row[`${column}`])).toContain(exact);

  const opened = transactions.flatMap((one) => one.opened.map((hash) => truth.compressedAccount(hash)!));
  const closed = new Set(transactions.flatMap((one) => one.closed));
  const spent = opened.filter(({ hash }) => closed.has(hash)).map(({ hash }) => hash);
  const left = opened.filter(({ hash }) => !closed.has(hash));
  const accounts = new Map(left.map((account) => [account.hash, accountRow(account)]));
  expect(differences(accounts, await readFacts(ledger, 'compressed_accounts', 'hash'))).toEqual([]);
  // What one opened and another closed is spent.
  const gone = await ledger.rows<{ hash: string }>(
    `select hash from compressed_accounts_history where gone_reason = 'spent'`,
  );
  expect(gone.map(({ hash }) => hash).sort()).toEqual([...new Set(spent)].sort());
  expect(gone.length).toBeGreaterThan(5);

  // The rows are true at the slot of their transaction, where the answer says it.
  const slotOf = new Map(transactions.map(({ signature, slot }) => [signature, String(slot)]));
  const runRows = await ledger.rows<{ signature: string; slot: string | null; opened: string; odd: boolean }>(
    `select signature, slot, opened, first_seen_slot is distinct from slot or changed_slot is distinct from slot
      or run_id <> '${run}' as odd
    from compression_transactions`,
  );
  for (const { signature, slot, opened: count, odd } of runRows) {
    const silent = count === '0' && expected.get(signature)?.tx_slot === null;
    expect({ signature, slot, odd }).toEqual({
      signature,
      slot: silent ? null : slotOf.get(signature),
      odd: false,
    });
  }
  expect(await ledger.rows('from compressed_accounts where slot <> slot_created')).toEqual([]);
});

test('rows of transactions never change; running again asks again and adds nothing', async () => {
  const ledger = await openLedger((truth) => ({
    transactions: `method: getTransactionWithCompressionInfo\nfor_each: {signature: ${values(
      every(chosen(truth), 20).map(({ signature }) => signature),
    )}}\n`,
  }));
  await ledger.mustRun();
  const query = 'from compression_transaction_accounts order by signature, change, hash';
  const before = await ledger.rows(query);
  const { published } = await ledger.mustRun();
  expect(published.tables.compression_transaction_accounts).toMatchObject({ inserted: 0, changed: 0 });
  expect(await ledger.rows(query)).toEqual(before);
});
