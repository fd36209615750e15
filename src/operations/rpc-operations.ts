import * as z from 'zod';
import { address, displayOptions, type Operation, sortBy } from './operation.ts';

const assetList = {
  transport: 'rpc',
  paging: 'keyset',
  limit: 1000,
  records: { path: ['items'], form: 'array' },
  slotAt: [['last_indexed_slot']],
  cursorAt: ['cursor'],
  idMember: 'id',
  pool: 'das',
  credits: 10,
  shape: 'asset',
  table: 'assets',
} as const;

const assetLookup = {
  transport: 'rpc',
  mayBeUnknown: true,
  slotAt: [],
  pool: 'das',
  credits: 10,
  shape: 'asset',
  table: 'assets',
  carries: ['content', 'token_info'],
  carriesWith: { showInscription: 'inscription' },
} as const;

/** Assets and token accounts: JSON-RPC, pool `das`. */
export const dasOperations: readonly Operation[] = [
  {
    ...assetLookup,
    name: 'getAsset',
    describe: 'One asset by id',
    params: z.strictObject({
      id: address.describe('Asset id'),
      options: displayOptions.optional(),
    }),
    paging: 'none',
    limit: null,
    records: { path: [], form: 'single' },
  },
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
    valueWhere: { param: 'groupValue', where: 'groupKey', is: 'collection', value: address },
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
    ...assetLookup,
    name: 'getAssetBatch',
    describe: 'Assets by id, at most 1,000 a request',
    params: z.strictObject({
      ids: z.array(address).min(1).describe('Asset ids'),
      options: displayOptions.optional(),
    }),
    paging: 'batch',
    batchParam: 'ids',
    limit: 1000,
    records: { path: [], form: 'array' },
  },
  {
    name: 'getAssetProofBatch',
    describe: 'Merkle proofs of compressed assets by id, at most 1,000 a request',
    transport: 'rpc',
    params: z.strictObject({ ids: z.array(address).min(1).describe('Asset ids') }),
    paging: 'batch',
    batchParam: 'ids',
    limit: 1000,
    records: { path: [], form: 'keyed' },
    mayBeUnknown: true,
    slotAt: [],
    pool: 'das',
    credits: 10,
    shape: 'asset_proof',
    table: 'asset_proofs',
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
    idMember: 'address',
    pool: 'das',
    credits: 10,
    shape: 'token_account',
    table: 'token_accounts',
  },
];

/** The levels of a fee (spec, getPriorityFeeEstimate). */
const levels = ['Min', 'Low', 'Medium', 'High', 'VeryHigh', 'UnsafeMax'] as const;

/**
 * The spec gives the encodings and levels, but not the parameters that carry them. These names are those of public servers.
 */
const options = z
  .strictObject({
    transactionEncoding: z.enum(['Base58', 'Base64']).optional().describe('How the transaction is written'),
    priorityLevel: z.enum(levels).optional().describe('The level the estimate is for'),
    includeAllPriorityFeeLevels: z.boolean().optional().describe('Every level instead of one estimate'),
    lookbackSlots: z.int().min(1).optional().describe('How many slots the estimate looks back'),
    recommended: z.boolean().optional().describe('The fee the service recommends'),
  })
  .describe('What is estimated');

/** Priority fees: JSON-RPC, pool `fee`. */
export const feeOperations: readonly Operation[] = [
  {
    name: 'getPriorityFeeEstimate',
    describe: 'The priority fee for a transaction, or for transactions that lock these accounts',
    transport: 'rpc',
    params: z.strictObject({
      transaction: z.string().min(1).optional().describe('The serialized transaction'),
      accountKeys: z.array(address).min(1).optional().describe('Accounts the transaction locks'),
      options: options.optional(),
    }),
    anyOf: ['transaction', 'accountKeys'],
    paging: 'none',
    limit: null,
    records: { path: [], form: 'single' },
    slotAt: [],
    pool: 'fee',
    credits: 1,
    shape: 'priority_fee',
    table: 'priority_fees',
  },
];
