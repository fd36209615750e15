import type { Operation } from './operation.ts';
import type { Params } from './wire.ts';

/** The system program: an address that every ledger has, and no asset, wallet of anybody or collection. */
const nobody = '1'.repeat(32);

/** A value for each parameter that an operation may not go without. */
const values: Params = {
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
  const names = anyOf === undefined ? Object.keys(params.shape) : [anyOf.find((one) => one in values) ?? ''];
  const chosen = names.filter((one) => one in values).map((one) => [one, values[one]]);
  const isList = paging !== 'batch' && limit !== null;
  return { ...Object.fromEntries(chosen), ...(isList ? { limit: 1 } : {}) };
}
