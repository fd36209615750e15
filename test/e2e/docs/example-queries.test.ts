import { readdirSync, readFileSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { daily } from '../../levels.ts';
import { root } from '../../support/documents.ts';
import { openWorkplace, type Workplace } from '../../support/workplace.ts';

const folder = join(root, 'docs/examples/sql');
const queries = readdirSync(folder).filter((name) => name.endsWith('.sql'));

/** What the queries read: jobs of the repository, over a small ledger, on two nights. */
const jobs = [
  'jobs/collections.yaml',
  'jobs/creators.yaml',
  'jobs/asset-content.yaml',
  'jobs/token-owners.yaml',
  'docs/examples/jobs/asset-proofs.yaml',
  'docs/examples/jobs/priority-fees.yaml',
  'docs/examples/jobs/wallet-transfers.yaml',
];

let place: Workplace;

beforeAll(async () => {
  const sandbox = await startSandbox({ assets: 240, owners: 12, latencyMs: 0 });
  const truth = sandbox.world.truth();
  place = await openWorkplace(sandbox.url, {
    'ledgerlake.yaml': `api: {wallet_url: '${sandbox.url}'}\nlake: {tables: [webhooks]}\n`,
    'jobs/targets/collections.txt': truth.collections().join('\n'),
    'jobs/targets/creators.txt': truth.creators().join('\n'),
    'jobs/targets/wallets.txt': [...truth.owners()].slice(0, 3).join('\n'),
  });
  for (const job of jobs) await cp(join(root, job), join(place.root, 'jobs', job.split('/').at(-1)!));
  // Without the targets of the sample API's own seed and size.
  const fees = join(place.root, 'jobs/priority-fees.yaml');
  await writeFile(fees, (await readFile(fees, 'utf8')).replace(/BQPN\w+/, [...truth.owners()][0]!));
  for (let night = 0; night < 2; night += 1) {
    const { code, stderr } = await place.run();
    expect(code, stderr).toBe(0);
    sandbox.tick(40);
  }
  await sandbox.close();
  return () => place.remove();
});

daily.each(queries)('%s gives rows', async (name) => {
  const sql = readFileSync(join(folder, name), 'utf8');
  expect(sql).toMatch(/^-- .*\?\n/);
  const { code, stdout, stderr } = await place.cli('sql', '-f', join(folder, name), '--format', 'ndjson');
  expect(code, stderr).toBe(0);
  expect(stdout.split('\n').filter((line) => line !== '').length).toBeGreaterThan(0);
});
