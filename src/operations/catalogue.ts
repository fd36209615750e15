import { compressionOperations } from './compression-operations.ts';
import type { Operation, Params } from './operation.ts';
import { walletOperations, webhookOperations } from './rest-operations.ts';
import { dasOperations, feeOperations } from './rpc-operations.ts';

/**
 * The operations of the API. Adding one whose shape exists is one entry in the list of its family and a fixture; a
 * new shape is SQL files besides (CONTRIBUTING.md). Paging parameters are the crawl's and are not listed under
 * `params`.
 *
 * Sources: the interface documents ("JSON-RPC interface", section "Endpoints"); names those leave open
 * (`sortBy`, `onlyVerified`, `limit`, `cursor`) are what public servers of this API take, and can be renamed
 * by `api.param_names`.
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

/** The operation of that name, or undefined. */
export function findOperation(name: string): Operation | undefined {
  return byName.get(name);
}

/** The system program: an address that every ledger has, and no asset, wallet of anybody or collection. */
const nobody = '1'.repeat(32);

/** A value for each parameter that an operation may not go without. */
const harmlessValues: Params = {
  ...{ id: nobody, owner: nobody, wallet: nobody, address: nobody, hash: nobody, creatorAddress: nobody },
  ...{ ids: [nobody], hashes: [nobody], addresses: [nobody], accountKeys: [nobody] },
  ...{ groupKey: 'collection', groupValue: nobody, signature: '1'.repeat(64) },
};

/**
 * Parameters with which an operation can be asked to see whether it is there: valid, for the smallest answer there is,
 * and nothing changes. Pure.
 * @returns null for an operation that changes something
 */
export function harmlessParams({ name, transport, params, anyOf, paging, limit }: Operation): Params | null {
  if (transport === 'webhook') return null;
  if (name === 'getMultipleNewAddressProofsV2') return { addresses: [{ address: nobody, tree: nobody }] };
  const names =
    anyOf === undefined ? Object.keys(params.shape) : [anyOf.find((one) => one in harmlessValues) ?? ''];
  const chosen = names.filter((one) => one in harmlessValues).map((one) => [one, harmlessValues[one]]);
  const isList = paging !== 'batch' && limit !== null;
  return { ...Object.fromEntries(chosen), ...(isList ? { limit: 1 } : {}) };
}
