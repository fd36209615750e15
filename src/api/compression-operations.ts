import { z } from 'zod';
import type { Operation } from './operation.ts';

/** Compressed accounts, their signatures and proofs: JSON-RPC, pools `compression` and `proof`. */
export const compressionOperations: readonly Operation[] = [
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
