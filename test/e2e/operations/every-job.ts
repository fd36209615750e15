import { listOperations } from '../../../src/operations/catalogue.ts';
import type { Operation } from '../../../src/operations/operation.ts';
import type { Sandbox } from '../../../src/sandbox/server.ts';
import type { Truth } from '../../../src/sandbox/world-truth.ts';
import type { Workplace } from '../../support/workplace.ts';

/** Parameters of each operation, by name, for which the ledger has an answer. */
export type Calls = ReadonlyMap<string, Record<string, unknown>>;

export function chooseCalls(sandbox: Sandbox): Calls {
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

/** Writes a job an operation, and calls the one that no job may call; its page waits for the next session. */
export async function writeEveryJob(place: Workplace, calls: Calls): Promise<void> {
  for (const operation of listOperations()) {
    const call = calls.get(operation.name) ?? {};
    if (operation.transport === 'webhook') await place.cli('webhook', 'enable', `${call.webhookID}`);
    else await place.write({ [`jobs/${jobName(operation)}.yaml`]: jobOf(operation, call) });
  }
}

/** Names of jobs are lower case. */
export const jobName = ({ name }: Operation) => name.toLowerCase();

function jobOf({ name, paging, batchParam }: Operation, call: Record<string, unknown>): string {
  const { [batchParam ?? '']: ids, ...params } = call;
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
