import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { readJobs } from '../../../src/jobs/job-file.ts';
import { daily } from '../../levels.ts';
import { startNight } from '../night.ts';

const examples = new URL('../../../docs/examples/jobs', import.meta.url).pathname;

/** Names of the jobs among files. */
function listJobs(files: readonly string[]): string[] {
  return files.filter((file) => file.endsWith('.yaml')).map((file) => file.slice(0, -'.yaml'.length));
}

daily('the example jobs are valid beside the shipped ones, run, and bring what they say', async () => {
  const night = await startNight({ seed: 21, assets: 600, owners: 60 });
  onTestFinished(() => night.close());
  const jobs = join(night.root, 'jobs');
  await cp(examples, jobs, { recursive: true });
  const names = listJobs(await readdir(examples));
  const known = (await readJobs(jobs)).map(({ name }) => name);
  expect(known).toEqual(expect.arrayContaining(names));
  const own = ['compression-transactions', 'asset-proofs', 'compressed-token-accounts'];
  expect(names).toEqual(expect.arrayContaining(own));

  const shipped = listJobs(await readdir(new URL('../../../jobs', import.meta.url)));
  const report = await night.mustRun(...shipped, ...own);
  const truth = night.sandbox.world.truth();
  const transactions = [...truth.compressionTransactions()];
  // A record that no table can hold is no asset to ask for.
  const assets = await night.rows<{ id: string }>('select id from assets where burnt is not true');
  const proofs = assets.filter(({ id }) => truth.assetProof(id) !== null);
  const [counts] = await night.rows(
    `select
      (select count(*) from compression_transactions) as transactions,
      (select count(*) from compression_transaction_accounts) as changes,
      (select count(*) from asset_proofs) as proofs`,
  );
  const changes = transactions.reduce((sum, one) => sum + one.opened.length + one.closed.length, 0);
  expect(counts).toEqual({
    transactions: String(transactions.length),
    changes: String(changes),
    proofs: String(proofs.length),
  });
  expect(report.jobs['compression-transactions']).toMatchObject({ tasks: transactions.length, failed: 0 });
  const owners = await night.rows<{ owner: string }>(
    'select distinct owner from assets where owner is not null',
  );
  const held = owners.flatMap(({ owner }) => truth.compressedTokenHashes(owner));
  const stored = await night.rows<{ hash: string }>('select hash from compressed_token_accounts');
  expect(stored.map(({ hash }) => hash).sort()).toEqual(held.sort());

  // Only what is new is asked for.
  night.sandbox.tick(1);
  const added = [...truth.compressionTransactions()].length - transactions.length;
  const next = await night.mustRun('compression-signatures', 'compression-transactions');
  expect(next.jobs['compression-transactions']?.tasks).toBe(added);
});
