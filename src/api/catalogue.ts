import { compressionOperations } from './compression-operations.ts';
import { dasOperations } from './das-operations.ts';
import { feeOperations } from './fee-operations.ts';
import type { Operation } from './operation.ts';
import { walletOperations } from './wallet-operations.ts';
import { webhookOperations } from './webhook-operations.ts';

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
