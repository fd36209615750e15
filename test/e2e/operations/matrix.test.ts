import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listOperations } from '../../../src/operations/catalogue.ts';
import type { Operation } from '../../../src/operations/operation.ts';
import type { Truth } from '../../../src/sandbox/world-truth.ts';
import { readTableSpecs } from '../../../src/warehouse/table-spec.ts';
import { makeSandboxWorkplace, type SandboxWorkplace } from '../../support/workplace.ts';

/** Every operation of the interface documents, and what of it is really there: each cell is found out, none is listed. */
interface Cells {
  /** `ledgerlake call` printed JSON and ended with 0. */
  call: boolean;
  /** A job (the webhook command, where no job may call it) filled the operation's table. */
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
let calls: Map<string, Record<string, unknown>>;

beforeAll(async () => {
  place = await makeSandboxWorkplace({ seed: 51, assets: 500, owners: 40 });
  calls = chooseParams(place);
});
afterAll(() => place.remove());

/** Parameters of each operation for which the ledger has an answer. */
function chooseParams({ sandbox }: SandboxWorkplace): Map<string, Record<string, unknown>> {
  const truth = sandbox.world.truth();
  const assets = [...truth.assets()].filter(({ burnt, record }) => !burnt && /"interface"/.test(record));
  const asset = assets.find(({ id }) => truth.assetProof(id) !== null)!.id;
  const owner = [...truth.tokenAccounts()][0]!.owner;
  const transaction = [...truth.compressionTransactions()].find(({ opened }) => opened.length > 0)!;
  const open = [...truth.compressedAccounts()].find(({ spentBy }) => spentBy === null)!.hash;
  const holder = [...truth.owners()].find((one) => truth.compressedTokenHashes(one).length > 0)!;
  const address = [...truth.compressedAccounts()].find(
    (one) => truth.addressSignatures(one.address ?? '').length > 0,
  )!;
  const wallet = chooseWallet(truth);
  const fresh = { address: wallet, tree: truth.addressTrees()[0]! };
  return new Map(
    Object.entries({
      getAsset: { id: asset },
      getAssetBatch: { ids: [asset] },
      getAssetsByGroup: { groupKey: 'collection', groupValue: truth.collections()[0] },
      getAssetsByCreator: { creatorAddress: truth.creators()[0] },
      getTokenAccounts: { owner, options: { showZeroBalance: true } },
      getCompressedTokenAccountsByOwner: { owner: holder },
      getCompressionSignaturesForTokenOwner: { owner: holder },
      getCompressionSignaturesForAddress: { address: address.address },
      getLatestCompressionSignatures: {},
      getTransactionWithCompressionInfo: { signature: transaction.signature },
      getCompressedAccount: { hash: open },
      getMultipleCompressedAccounts: { hashes: [open] },
      getCompressedAccountProof: { hash: open },
      getAssetProofBatch: { ids: [asset] },
      getMultipleNewAddressProofsV2: { addresses: [fresh] },
      getValidityProof: { hashes: [open] },
      getPriorityFeeEstimate: { accountKeys: [wallet] },
      walletIdentity: { wallet },
      walletBatchIdentity: { addresses: [wallet] },
      walletBalances: { wallet },
      walletHistory: { wallet },
      walletTransfers: { wallet },
      walletFundedBy: { wallet },
      setWebhookActive: { webhookID: sandbox.webhooks.records()[0]!.webhookID, active: false },
    }),
  );
}

function chooseWallet(truth: Truth): string {
  return [...truth.owners()].find(
    (one) =>
      truth.walletIdentity(one) !== null &&
      truth.walletFunding(one) !== null &&
      truth.walletTransactions(one).some(({ transfers }) => transfers.length > 0),
  )!;
}

async function tryCall({ name }: Operation): Promise<boolean> {
  const { code, stdout } = await place.cli('call', name, JSON.stringify(calls.get(name) ?? {}));
  return code === 0 && typeof JSON.parse(stdout) === 'object' && stdout !== 'null\n';
}

/** Tables that records of a shape go to. */
function tablesOf({ shape }: Operation): string[] {
  return readTableSpecs()
    .filter(({ shapes }) => shapes.includes(shape))
    .map(({ name }) => name);
}

/** Operations that can be told apart by the tables they fill: none brings rows to the table that another is asked for. */
function groupApart(operations: readonly Operation[]): Operation[][] {
  const groups: Operation[][] = [];
  const isApart = (one: Operation, other: Operation) =>
    !tablesOf(one).includes(other.table) && !tablesOf(other).includes(one.table);
  for (const operation of operations) {
    const group = groups.find((others) => others.every((other) => isApart(operation, other)));
    if (group === undefined) groups.push([operation]);
    else group.push(operation);
  }
  return groups;
}

/** One job an operation, in one place: what fills a table was brought by that operation. @returns those that did */
async function tryJobs(operations: readonly Operation[]): Promise<string[]> {
  const one = await makeSandboxWorkplace({ seed: 51, assets: 500, owners: 40 });
  try {
    for (const operation of operations) {
      const { webhookID } = calls.get(operation.name) as { webhookID?: string };
      // Its page waits for the next session.
      if (operation.transport === 'webhook') await one.cli('webhook', 'enable', webhookID!);
      else await one.write({ [`jobs/${jobName(operation)}.yaml`]: jobOf(operation) });
    }
    const { jobs } = await one.mustRun();
    const filled: string[] = [];
    for (const operation of operations) {
      const { name, table, transport } = operation;
      const [row] = await one.rows<{ n: string }>(`select count(*) as n from ${table}`);
      const isDone = transport === 'webhook' || jobs[jobName(operation)]?.failed === 0;
      if (isDone && Number(row?.n) > 0) filled.push(name);
    }
    return filled;
  } finally {
    await one.remove();
  }
}

/** Names of jobs are lower case. */
const jobName = ({ name }: Operation) => name.toLowerCase();

function jobOf({ name, paging, batchParam }: Operation): string {
  const { [batchParam ?? '']: ids, ...params } = calls.get(name) ?? {};
  if (paging !== 'batch') return jobText(name, { params });
  const slices = (ids as unknown[]).map((id) => (typeof id === 'string' ? id : columnsOf(id)));
  const forEach =
    typeof (ids as unknown[])[0] === 'string'
      ? { [batchParam!]: { values: slices } }
      : { sql: `select ${slices[0]}` };
  return jobText(name, { params, for_each: forEach });
}

/** JSON is YAML. */
function jobText(method: string, fields: Record<string, unknown>): string {
  return JSON.stringify({ describe: 'test', method, ...fields });
}

function columnsOf(id: unknown): string {
  return Object.entries(id as Record<string, string>)
    .map(([name, value]) => `'${value}' as ${name}`)
    .join(', ');
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
  const filled: string[] = [];
  for (const group of groupApart(listOperations())) filled.push(...(await tryJobs(group)));
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
