import * as z from 'zod';

/** An address or hash: 32 bytes in base58. Source: wallet address rule. */
export const address = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'expected a base58 address of 32 to 44 characters');

/** A transaction signature: 64 bytes in base58. */
export const signature = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, 'expected a base58 signature of 64 to 88 characters');

export const sortBy = z
  .strictObject({
    sortBy: z.enum(['id', 'created', 'updated', 'recent_action', 'none']),
    sortDirection: z.enum(['asc', 'desc']).optional(),
  })
  .describe('Order of the list; anything but `id` pages by number');

export const displayOptions = z
  .strictObject({
    showUnverifiedCollections: z.boolean().optional().describe('Groupings of unverified collections too'),
    showCollectionMetadata: z.boolean().optional().describe('The metadata of the collection'),
    showFungible: z.boolean().optional().describe('Fungible tokens too'),
    showInscription: z.boolean().optional().describe('Inscription details'),
  })
  .describe('Display options');
