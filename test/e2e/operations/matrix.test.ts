import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listOperations } from '../../../src/operations/catalogue.ts';
import type { Operation } from '../../../src/operations/operation.ts';
import { makeSandboxWorkplace, type SandboxWorkplace } from '../../support/workplace.ts';
import { type Calls, chooseCalls, writeEveryJob } from './every-job.ts';

/** Every operation of the interface documents, and what of it is really there: each cell is found out, none is listed. */
interface Cells {
  /** `ledgerlake call` printed JSON and ended with 0. */
  call: boolean;
  /** Its table has rows after a run of every job (and of the webhook command, which no job may call). */
  job: boolean;
  /** A test compares the rows with the ledger's truth. */
  truth: boolean;
  /** The sandbox answered it. */
  sandbox: boolean;
  /** A pair of answer and rows stands in test/fixtures/shapes/<shape>/. */
  fixture: boolean;
  /** docs/reference/operations.md has its row and its parameters. */
  documented: boolean;
}

const documented = [
  'getAsset getAssetBatch getAssetsByGroup getAssetsByCreator getTokenAccounts getCompressedTokenAccountsByOwner',
  'getCompressionSignaturesForTokenOwner getCompressionSignaturesForAddress getLatestCompressionSignatures',
  'getTransactionWithCompressionInfo getCompressedAccount getMultipleCompressedAccounts getCompressedAccountProof',
  'getAssetProofBatch getMultipleNewAddressProofsV2 getValidityProof getPriorityFeeEstimate',
  'walletIdentity walletBatchIdentity walletBalances walletHistory walletTransfers walletFundedBy setWebhookActive',
].flatMap((line) => line.split(' '));

const root = new URL('../../..', import.meta.url).pathname;
let place: SandboxWorkplace;
let calls: Calls;

beforeAll(async () => {
  place = await makeSandboxWorkplace({ seed: 51, assets: 500, owners: 40 });
  calls = chooseCalls(place.sandbox);
});
afterAll(() => place.remove());

async function tryCall({ name }: Operation): Promise<boolean> {
  const { code, stdout } = await place.cli('call', name, JSON.stringify(calls.get(name) ?? {}));
  return code === 0 && typeof JSON.parse(stdout) === 'object' && stdout !== 'null\n';
}

/** One run of every operation's job. @returns the operations whose table has rows */
async function tryJobs(): Promise<string[]> {
  await writeEveryJob(place, calls);
  await place.mustRun();
  const filled: string[] = [];
  for (const { name, table } of listOperations()) {
    const [row] = await place.rows<{ n: string }>(`select count(*) as n from ${table}`);
    if (Number(row?.n) > 0) filled.push(name);
  }
  return filled;
}

/** Tests that compare whole rows with the sandbox's truth, and the operations they name. */
const truthTests = ['test/e2e/operations', 'test/e2e'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.test.ts') && file !== 'matrix.test.ts')
    .map((file) => readFileSync(join(root, folder, file), 'utf8'))
    .filter((text) => /\btruth\b|\.records\(\)/.test(text) && /differences\(|toEqual\(expected\)/.test(text)),
);
/** Those that run the shipped jobs as they are name operations by these. */
const shippedMethods = readdirSync(join(root, 'jobs'))
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => /^method: (\w+)$/m.exec(readFileSync(join(root, 'jobs', file), 'utf8'))?.[1]);

function hasTruth({ name }: Operation): boolean {
  if (truthTests.some((text) => new RegExp(`(describe|test)\\('${name}\\b|method: '?${name}\\b`).test(text)))
    return true;
  return shippedMethods.includes(name) && truthTests.some((text) => text.includes('startNight('));
}

function hasFixture({ name, shape }: Operation): boolean {
  const files = readdirSync(join(root, 'test/fixtures/shapes', shape));
  return files.some(
    (file) =>
      file.startsWith(`${name}.`) &&
      file.endsWith('.in.json') &&
      files.includes(file.replace('.in.', '.out.')),
  );
}

function isDocumented({ name, table }: Operation): boolean {
  const page = readFileSync(join(root, 'docs/reference/operations.md'), 'utf8');
  const row = page.split('\n').find((line) => line.startsWith(`| [\`${name}\`]`));
  return row?.includes(`\`${table}\``) === true && page.includes(`\n### ${name}\n`);
}

test('the catalogue has every operation of the interface documents, and no other', () => {
  expect(
    listOperations()
      .map(({ name }) => name)
      .sort(),
  ).toEqual([...documented].sort());
  expect(documented).toHaveLength(24);
});

test('every operation is callable, brings rows that equal the truth, is served, has a fixture and is documented', async () => {
  const matrix: Record<string, Cells> = {};
  const filled = await tryJobs();
  for (const operation of listOperations()) {
    matrix[operation.name] = {
      call: await tryCall(operation),
      job: filled.includes(operation.name),
      truth: hasTruth(operation),
      sandbox: place.sandbox.requests.some(({ method }) => method === operation.name),
      fixture: hasFixture(operation),
      documented: isDocumented(operation),
    };
  }
  const lines = Object.entries(matrix).map(
    ([name, cells]) =>
      `${name.padEnd(40)}${Object.entries(cells)
        .map(([cell, is]) => `${is ? cell : '-'}`.padEnd(12))
        .join('')}`,
  );
  process.stdout.write(`${lines.join('\n')}\n`);
  const missing = Object.entries(matrix).flatMap(([name, cells]) =>
    Object.entries(cells).flatMap(([cell, is]) => (is ? [] : `${name}: ${cell}`)),
  );
  expect(missing).toEqual([]);
});
