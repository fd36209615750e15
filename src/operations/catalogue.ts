import { compressionOperations } from './compression-operations.ts';
import type { Operation, Params } from './operation.ts';
import { walletOperations, webhookOperations } from './rest-operations.ts';
import { dasOperations, feeOperations } from './rpc-operations.ts';

/**
 * The operations of the API. CONTRIBUTING.md says how to add one. Paging parameters are not listed under `params`, because the
 * crawl sets them.
 *
 * Sources: the interface documents ("JSON-RPC interface", section "Endpoints"). Names that those leave open (`sortBy`,
 * `onlyVerified`, `limit`, `cursor`) are those of public servers, and `api.param_names` renames them.
 */
const entries: readonly Operation[] = [
  ...dasOperations,
  ...compressionOperations,
  ...feeOperations,
  ...walletOperations,
  ...webhookOperations,
];

const byName = new Map(entries.map((operation) => [operation.name, operation]));

/** Every operation, in the order of the interface documents. */
export function listOperations(): readonly Operation[] {
  return entries;
}

export function findOperation(name: string): Operation | undefined {
  return byName.get(name);
}

/** The system program: an address that every ledger has, and that is no asset, collection or person's wallet. */
const nobody = '1'.repeat(32);

/** A value for each required parameter. */
const harmlessValues: Params = {
  ...{ id: nobody, owner: nobody, wallet: nobody, address: nobody, hash: nobody, creatorAddress: nobody },
  ...{ ids: [nobody], hashes: [nobody], addresses: [nobody], accountKeys: [nobody] },
  ...{ groupKey: 'collection', groupValue: nobody, signature: '1'.repeat(64) },
};

/**
 * Valid parameters for the smallest answer, with which `doctor` probes whether an operation exists. Pure.
 * @returns null for an operation that changes something
 */
export function harmlessParams({ name, transport, params, anyOf, paging, limit }: Operation): Params | null {
  if (transport === 'webhook') return null;
  if (name === 'getMultipleNewAddressProofsV2') return { addresses: [{ address: nobody, tree: nobody }] };
  const names =
    anyOf === undefined ? Object.keys(params.shape) : [anyOf.find((param) => param in harmlessValues) ?? ''];
  const chosen = names
    .filter((param) => param in harmlessValues)
    .map((param) => [param, harmlessValues[param]]);
  const isList = paging !== 'batch' && limit !== null;
  return { ...Object.fromEntries(chosen), ...(isList ? { limit: 1 } : {}) };
}
