import * as z from 'zod';
import type { Operation } from './operation.ts';
import { address } from './param-schemas.ts';

/** The levels a fee can be asked for (spec, getPriorityFeeEstimate). */
const levels = ['Min', 'Low', 'Medium', 'High', 'VeryHigh', 'UnsafeMax'] as const;

/**
 * The spec gives the encodings and levels but not the names of the parameters that carry them: these are what
 * public servers take (API notes, "Priority fee").
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
