import { decodeBase58, encodeBase58 } from './base58.ts';
import { maxLimit } from './list-paging.ts';
import { badParams, type RpcMethod } from './rpc-method.ts';
import type { WorldSignatures } from './world-signatures.ts';

const getLatestCompressionSignatures: RpcMethod = {
  name: 'getLatestCompressionSignatures',
  pool: 'compression',
  params: { cursor: 'string', limit: 'integer' },
  required: [],
  answer(params, { world, slot }) {
    const { cursor, limit = maxLimit } = params as { cursor?: string; limit?: number };
    if (limit > maxLimit) throw badParams(`\`limit\` must not be above ${maxLimit}`);
    return `{"context":{"slot":${slot}},"value":${feedPage(world.signatures, cursor, limit)}}`;
  },
};

/** Newest first by (slot, signature); the cursor is null as soon as the page is not full. */
function feedPage(signatures: WorldSignatures, cursor: string | undefined, limit: number): string {
  const end = cursor === undefined ? signatures.size : positionAt(signatures, cursor);
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

function positionAt(signatures: WorldSignatures, cursor: string): number {
  const bytes = decodeBase58(cursor, 72);
  if (bytes === null) throw badParams('`cursor` is not a cursor of this list');
  const slot = Number(new DataView(bytes.buffer).getBigUint64(0));
  return signatures.countBefore(slot, bytes.subarray(8));
}

/** The compressed-account methods (spec, "Endpoints"). */
export const compressionMethods: readonly RpcMethod[] = [getLatestCompressionSignatures];
