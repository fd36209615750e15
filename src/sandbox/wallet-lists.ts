import { decodeBase58, encodeBase58 } from './base58.ts';
import { badInput, type QueryRule } from './rest-request.ts';
import { historyTypes, type WalletEvent } from './wallet-events.ts';
import { historyRecord, transferRecords } from './wallet-records.ts';
import type { World } from './world.ts';

const modes = ['none', 'balanceChanged', 'all'] as const;
type Mode = (typeof modes)[number];

export const historyQuery: { readonly [name: string]: QueryRule } = {
  limit: { min: 1, max: 100 },
  before: 'string',
  after: 'string',
  type: historyTypes,
  tokenAccounts: modes,
};

interface HistoryQuery {
  limit?: number;
  before?: string;
  after?: string;
  type?: string;
  tokenAccounts?: Mode;
}

/**
 * Newest first, those before a signature when one is given. With `after`, those newer than a signature in
 * ascending order (spec: "for ascending-order paging"). `nextCursor` continues in the same direction.
 * @throws RestError 400 for both, or a signature that is not in this wallet's history
 */
export function listHistory(world: World, wallet: string, query: HistoryQuery) {
  const { limit = 100, before, after, type, tokenAccounts: mode = 'balanceChanged' } = query;
  if (before !== undefined && after !== undefined) throw badInput('after', 'absent when `before` is given');
  const owner = world.owners.find(wallet);
  const events = world.wallets.events(owner);
  const position = (name: string, signature: string) => {
    const index = world.wallets.findEvent(owner, signature);
    if (index === -1) throw badInput(name, "a signature of this wallet's history");
    return index;
  };
  const candidates =
    after === undefined
      ? events.slice(before === undefined ? 0 : position('before', before) + 1)
      : events.slice(0, position('after', after)).reverse();
  const shown = candidates.filter(
    (event) => isShown(event, mode) && (type === undefined || event.type === type),
  );
  const data = shown.slice(0, limit).map((event) => historyRecord(world, wallet, event));
  const hasMore = shown.length > limit;
  return { data, pagination: { hasMore, nextCursor: hasMore ? data.at(-1)?.signature : null } };
}

function isShown(event: WalletEvent, mode: Mode): boolean {
  if (mode === 'all' || event.reach === 'direct') return true;
  return mode === 'balanceChanged' && event.reach === 'balance';
}

export const transfersQuery: { readonly [name: string]: QueryRule } = {
  limit: { min: 1, max: 100 },
  cursor: 'string',
};

/**
 * Newest first, a row a move: a page may end between the rows of one signature, and `nextCursor` (opaque:
 * 64 bytes of signature, 2 with the number of its rows shown, in base58) continues there.
 */
export function listTransfers(world: World, wallet: string, query: { limit?: number; cursor?: string }) {
  const { limit = 50, cursor } = query;
  const owner = world.owners.find(wallet);
  const events = world.wallets.events(owner);
  let { at, shown } = cursor === undefined ? { at: 0, shown: 0 } : readCursor(world, owner, cursor);
  const data: ReturnType<typeof transferRecords> = [];
  for (; at < events.length && data.length <= limit; at += 1, shown = 0) {
    data.push(...transferRecords(world, events[at] as WalletEvent).slice(shown));
  }
  const hasMore = data.length > limit;
  const page = data.slice(0, limit);
  const nextCursor = hasMore ? writeCursor(page.at(-1)?.signature as string, page, cursor) : null;
  return { data: page, pagination: { hasMore, nextCursor } };
}

function writeCursor(signature: string, page: { signature: string }[], cursor?: string): string {
  const before = cursor === undefined ? null : decodeBase58(cursor, 66);
  const bytes = new Uint8Array(66);
  bytes.set(decodeBase58(signature, 64) as Uint8Array);
  // A signature with more rows than fit a page continues from where the last page began.
  const same = before !== null && Buffer.compare(before.subarray(0, 64), bytes.subarray(0, 64)) === 0;
  const earlier = same ? new DataView(before.buffer).getUint16(64) : 0;
  const shown = earlier + page.filter((row) => row.signature === signature).length;
  new DataView(bytes.buffer).setUint16(64, shown);
  return encodeBase58(bytes);
}

function readCursor(world: World, owner: number, cursor: string): { at: number; shown: number } {
  const bytes = decodeBase58(cursor, 66);
  const at = bytes === null ? -1 : world.wallets.findEvent(owner, encodeBase58(bytes.slice(0, 64)));
  if (bytes === null || at === -1) throw badInput('cursor', 'a cursor of this list');
  return { at, shown: new DataView(bytes.buffer).getUint16(64) };
}
