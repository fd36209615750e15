import { z } from 'zod';
import type { Operation } from './operation.ts';

/**
 * The operations of the API. Adding one whose shape exists is one entry here and a fixture; a new shape is
 * SQL files besides (CONTRIBUTING.md). Paging parameters are the crawl's and are not listed under `params`.
 *
 * Sources: the interface documents ("JSON-RPC interface", section "Endpoints"); names those leave open
 * (`sortBy`, `onlyVerified`, `limit`, `cursor`) are what public servers of this API take, and can be renamed
 * by `api.param_names`.
 */

/** An address or hash: 32 bytes in base58. Source: wallet address rule. */
const address = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'expected a base58 address of 32 to 44 characters');

const sortBy = z
  .strictObject({
    sortBy: z.enum(['id', 'created', 'updated', 'recent_action', 'none']),
    sortDirection: z.enum(['asc', 'desc']).optional(),
  })
  .describe('Order of the list; anything but `id` pages by number');

const displayOptions = z
  .strictObject({
    showUnverifiedCollections: z.boolean().optional().describe('Groupings of unverified collections too'),
    showCollectionMetadata: z.boolean().optional().describe('The metadata of the collection'),
    showFungible: z.boolean().optional().describe('Fungible tokens too'),
    showInscription: z.boolean().optional().describe('Inscription details'),
  })
  .describe('Display options');

const assetList = {
  transport: 'rpc',
  paging: 'keyset',
  limit: 1000,
  records: { path: ['items'], form: 'array' },
  slotAt: [['last_indexed_slot']],
  cursorAt: ['cursor'],
  pool: 'das',
  credits: 10,
  shape: 'asset',
  table: 'assets',
} as const;

const entries: readonly Operation[] = [
  {
    ...assetList,
    name: 'getAssetsByGroup',
    describe: 'Every asset of a group, such as a collection',
    params: z.strictObject({
      groupKey: z.string().min(1).describe('Kind of group, for example `collection`'),
      groupValue: z.string().min(1).describe("The group, for example the collection's address"),
      sortBy: sortBy.optional(),
      options: displayOptions.optional(),
    }),
  },
  {
    ...assetList,
    name: 'getAssetsByCreator',
    describe: 'Every asset of a creator',
    params: z.strictObject({
      creatorAddress: address.describe('Address of the creator'),
      onlyVerified: z.boolean().optional().describe('Only assets the creator has verified'),
      sortBy: sortBy.optional(),
      options: displayOptions.optional(),
    }),
  },
  {
    name: 'getAssetBatch',
    describe: 'Assets by id, at most 1,000 a request',
    transport: 'rpc',
    params: z.strictObject({
      ids: z.array(address).min(1).describe('Asset ids'),
      options: displayOptions.optional(),
    }),
    paging: 'batch',
    batchParam: 'ids',
    limit: 1000,
    records: { path: [], form: 'array' },
    slotAt: [],
    pool: 'das',
    credits: 10,
    shape: 'asset',
    table: 'assets',
    carries: ['content', 'token_info'],
  },
  {
    name: 'getTokenAccounts',
    describe: 'Token accounts of an owner, of a mint, or of both',
    transport: 'rpc',
    params: z
      .strictObject({
        mint: address.optional().describe('Accounts of this mint'),
        owner: address.optional().describe('Accounts of this owner'),
        options: z
          .strictObject({
            showZeroBalance: z.boolean().optional().describe('Accounts with an empty balance too'),
          })
          .optional(),
      })
      .describe('At least one of mint and owner'),
    anyOf: ['mint', 'owner'],
    paging: 'keyset',
    limit: 1000,
    records: { path: ['token_accounts'], form: 'array' },
    slotAt: [['last_indexed_slot']],
    cursorAt: ['cursor'],
    pool: 'das',
    credits: 10,
    shape: 'token_account',
    table: 'token_accounts',
  },
  {
    name: 'getLatestCompressionSignatures',
    describe: 'Signatures of the latest transactions of the compression program, newest first',
    transport: 'rpc',
    params: z.strictObject({}),
    paging: 'feed',
    limit: 1000,
    records: { path: ['value', 'items'], form: 'array' },
    slotAt: [['context', 'slot']],
    cursorAt: ['value', 'cursor'],
    pool: 'compression',
    credits: 10,
    shape: 'signature',
    table: 'compression_signatures',
  },
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
