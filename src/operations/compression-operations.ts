import * as z from 'zod';
import { address, type Operation, signature } from './operation.ts';

/** `{context: {slot}, value}`, as every compression method but getTransactionWithCompressionInfo answers. */
const compression = {
  transport: 'rpc',
  slotAt: [['context', 'slot']],
  pool: 'compression',
  credits: 10,
} as const;

const lookup = {
  ...compression,
  paging: 'none',
  limit: null,
  records: { path: ['value'], form: 'single' },
  mayBeUnknown: true,
} as const;

const list = {
  ...compression,
  limit: 1000,
  records: { path: ['value', 'items'], form: 'array' },
  cursorAt: ['value', 'cursor'],
} as const;

const signatureList = {
  ...list,
  paging: 'feed',
  feed: { by: 'slot', timeMember: 'blockTime', since: '1d' },
  shape: 'signature',
  table: 'compression_signatures',
} as const;

const newAddress = z.strictObject({
  address: address.describe('Address that is to be created'),
  tree: address.describe('Address tree it is to be in'),
});

/** Compressed accounts, their signatures and proofs: JSON-RPC, pools `compression` and `proof`. */
export const compressionOperations: readonly Operation[] = [
  {
    ...lookup,
    name: 'getCompressedAccount',
    describe: 'One compressed account by its address or hash',
    params: z
      .strictObject({
        address: address.nullable().optional().describe('Address of the account, where it has one'),
        hash: address.optional().describe('Hash of the account'),
      })
      .describe('Exactly one of address and hash'),
    anyOf: ['address', 'hash'],
    onlyOne: true,
    shape: 'compressed_account',
    table: 'compressed_accounts',
  },
  {
    ...compression,
    name: 'getMultipleCompressedAccounts',
    describe: 'Compressed accounts by hash (or, with `call`, by address), at most 1,000 a request',
    params: z
      .strictObject({
        addresses: z.array(address).min(1).nullable().optional().describe('Addresses; instead of hashes'),
        hashes: z.array(address).min(1).optional().describe('Hashes'),
      })
      .describe('Exactly one of addresses and hashes'),
    anyOf: ['addresses', 'hashes'],
    onlyOne: true,
    paging: 'batch',
    batchParam: 'hashes',
    mayBeUnknown: true,
    limit: 1000,
    records: { path: ['value', 'items'], form: 'array' },
    shape: 'compressed_account',
    table: 'compressed_accounts',
  },
  {
    ...list,
    name: 'getCompressedTokenAccountsByOwner',
    describe: 'Compressed token accounts of an owner, of one mint or all',
    params: z.strictObject({
      owner: address.describe('Owner of the tokens'),
      mint: address.optional().describe('Only accounts of this mint'),
    }),
    paging: 'cursor',
    shape: 'compressed_token_account',
    table: 'compressed_token_accounts',
  },
  {
    ...signatureList,
    name: 'getCompressionSignaturesForTokenOwner',
    describe: "Signatures of transactions that changed an owner's compressed token accounts, newest first",
    params: z.strictObject({ owner: address.describe('Owner of the tokens') }),
  },
  {
    ...signatureList,
    name: 'getCompressionSignaturesForAddress',
    describe: 'Signatures of transactions that changed the compressed account of an address, newest first',
    params: z.strictObject({ address: address.describe('Address of the account') }),
  },
  {
    ...signatureList,
    name: 'getLatestCompressionSignatures',
    describe: 'Signatures of the latest transactions of the compression program, newest first',
    params: z.strictObject({}),
  },
  {
    ...compression,
    name: 'getTransactionWithCompressionInfo',
    describe: 'One transaction, and the compressed accounts it opened and closed',
    params: z.strictObject({ signature: signature.describe('Signature of the transaction') }),
    paging: 'none',
    limit: null,
    // Its answer has no context.
    records: { path: [], form: 'single' },
    mayBeUnknown: true,
    shape: 'compression_transaction',
    table: 'compression_transactions',
  },
  {
    ...lookup,
    name: 'getCompressedAccountProof',
    describe: 'Merkle proof that a compressed account is in its state tree',
    params: z.strictObject({ hash: address.describe('Hash of the account') }),
    shape: 'compressed_account_proof',
    table: 'compressed_account_proofs',
  },
  {
    ...compression,
    name: 'getMultipleNewAddressProofsV2',
    describe: 'Proofs that addresses are free, at most 50 a request',
    params: z.strictObject({
      addresses: z.array(newAddress).min(1).describe('Addresses, each with its tree'),
    }),
    paging: 'batch',
    batchParam: 'addresses',
    mayBeUnknown: true,
    // The reference server's limit; newer ones take more.
    limit: 50,
    records: { path: ['value'], form: 'array' },
    shape: 'new_address_proof',
    table: 'new_address_proofs',
  },
  {
    ...lookup,
    name: 'getValidityProof',
    describe: 'One proof that accounts are valid and that new addresses are free',
    params: z
      .strictObject({
        hashes: z.array(address).optional().describe('Hashes of the accounts'),
        newAddressesWithTrees: z.array(newAddress).optional().describe('New addresses, each with its tree'),
      })
      .describe('At least one of hashes and newAddressesWithTrees'),
    anyOf: ['hashes', 'newAddressesWithTrees'],
    pool: 'proof',
    credits: 100,
    shape: 'validity_proof',
    table: 'validity_proofs',
  },
];
