import { readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { daily } from '../../levels.ts';
import { root } from '../../support/documents.ts';
import { openSandboxWorkplace } from '../../support/workplace.ts';

const ours = [
  'collection-owners',
  'owner-balances',
  'wallet-identities',
  'wallet-identity',
  'wallet-history',
  'wallet-transfers',
  'wallet-funding',
  'priority-fees',
];

daily('the example jobs over wallets and fees validate and bring what the ledger has', async () => {
  const place = await openSandboxWorkplace({ seed: 34, assets: 900, owners: 40 });
  // Some of the documentation's examples continue from the shipped jobs.
  for (const folder of ['jobs', 'docs/examples/jobs'])
    await cp(join(root, folder), join(place.root, 'jobs'), { recursive: true });
  const { world } = place.sandbox;
  const truth = world.truth();
  const [collection] = truth.collections() as [string];
  const wallets = [...[...truth.owners()].slice(0, 10), ...truth.outsiders().slice(0, 5)];
  const file = join(place.root, 'jobs/collection-owners.yaml');
  await place.write({
    'jobs/targets/wallets.txt': wallets.join('\n'),
    'jobs/collection-owners.yaml': readFileSync(file, 'utf8').replace(
      /values: \[.*\]/,
      `values: [${collection}]`,
    ),
  });
  expect((await place.cli('jobs', 'check')).code).toBe(0);
  await place.mustRun(...ours);
  await place.mustRun('priority-fees');

  const count = async (table: string) =>
    Number((await place.rows<{ n: string }>(`select count(*) as n from ${table}`))[0]?.n);
  const known = wallets.filter((wallet) => truth.walletIdentity(wallet) !== null);
  expect(await count('wallet_identities')).toBe(known.length);
  const shown = wallets
    .flatMap((wallet) => truth.walletTransactions(wallet))
    .filter(({ reach }) => reach !== 'spam');
  expect(await count('wallet_transactions')).toBe(shown.length);
  const transfers = wallets.flatMap((wallet) =>
    truth.walletTransactions(wallet).flatMap((one) => one.transfers),
  );
  expect(await count('wallet_transfers')).toBe(transfers.length);
  expect(await count('wallet_funding')).toBe(
    wallets.filter((wallet) => truth.walletFunding(wallet) !== null).length,
  );
  expect(await count('priority_fees')).toBe(2);

  const owners = await place.rows<{ owner: string }>(
    'select distinct owner from assets where owner is not null',
  );
  expect(owners.length).toBeGreaterThan(5);
  const held = owners.flatMap(({ owner }) => truth.walletBalances(owner));
  expect(await count('wallet_balances')).toBe(held.length);
});
