import { decodeBase58, encodeBase58 } from './base58.ts';
import { badParams, notFound, type RpcMethod, readKey } from './rpc-method.ts';
import { checkLimit, valueText } from './rpc-methods-compression.ts';
import type { SignatureList } from './world-signatures.ts';

const pageParams = { cursor: 'string', limit: 'integer' } as const;

const getLatestCompressionSignatures: RpcMethod = {
  name: 'getLatestCompressionSignatures',
  pool: 'compression',
  params: pageParams,
  required: [],
  answer: (params, { world, slot }) => valueText(slot, signaturePage(world.signatures, params)),
};

const getCompressionSignaturesForTokenOwner: RpcMethod = {
  name: 'getCompressionSignaturesForTokenOwner',
  pool: 'compression',
  params: { owner: 'string', ...pageParams },
  required: ['owner'],
  answer(params, { world, slot }) {
    const { owner } = params as { owner: string };
    readKey(owner, 'owner');
    return valueText(
      slot,
      signaturePage(world.compression.signaturesOfOwner(world.owners.find(owner)), params),
    );
  },
};

const getCompressionSignaturesForAddress: RpcMethod = {
  name: 'getCompressionSignaturesForAddress',
  pool: 'compression',
  params: { address: 'string', ...pageParams },
  required: ['address'],
  answer(params, { world, slot }) {
    const { address } = params as { address: string };
    readKey(address, 'address');
    const { addresses, signaturesOfAddress } = world.compression;
    return valueText(slot, signaturePage(signaturesOfAddress(addresses.find(address)), params));
  },
};

/** Newest first by (slot, signature); the cursor is null as soon as the page is not full. */
function signaturePage(signatures: SignatureList, params: { cursor?: string; limit?: number }): string {
  const limit = checkLimit(params.limit);
  const end = params.cursor === undefined ? signatures.size : positionAt(signatures, params.cursor);
  const count = Math.min(limit, end);
  const items = Array.from({ length: count }, (_, n) => signatures.at(end - 1 - n));
  const last = items.at(-1);
  const next = last === undefined || count < limit ? null : feedCursor(last.slot, last.signature);
  return JSON.stringify({ items, cursor: next });
}

/** Opaque to callers: 8 bytes of slot, 64 of signature, in base58. */
function feedCursor(slot: number, signature: string): string {
  const bytes = new Uint8Array(72);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(slot));
  bytes.set(decodeBase58(signature, 64) as Uint8Array, 8);
  return encodeBase58(bytes);
}

function positionAt(signatures: SignatureList, cursor: string): number {
  const bytes = decodeBase58(cursor, 72);
  if (bytes === null) throw badParams('`cursor` is not a cursor of this list');
  const slot = Number(new DataView(bytes.buffer).getBigUint64(0));
  return signatures.countBefore(slot, bytes.subarray(8));
}

/** Bare, without a context. A part of the transactions answers as the spec writes it, the others as servers do. */
const getTransactionWithCompressionInfo: RpcMethod = {
  name: 'getTransactionWithCompressionInfo',
  pool: 'compression',
  params: { signature: 'string' },
  required: ['signature'],
  answer(params, { world }) {
    const { signature } = params as { signature: string };
    const number = world.signatures.keys.find(signature);
    if (number === -1) throw notFound('Transaction Not Found');
    return world.compression.transactionRecord(number);
  },
};

/** The signature lists and the transactions they lead to (spec, "Endpoints"). */
export const signatureMethods: readonly RpcMethod[] = [
  getLatestCompressionSignatures,
  getCompressionSignaturesForTokenOwner,
  getCompressionSignaturesForAddress,
  getTransactionWithCompressionInfo,
];
