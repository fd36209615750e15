import { decodeBase58, encodeBase58 } from './base58.ts';
import { countBefore } from './key-table.ts';
import { maxLimit } from './list-paging.ts';
import { type AnswerContext, badParams, type RpcMethod, readKey } from './rpc-method.ts';
import type { World } from './world.ts';

const getCompressedAccount: RpcMethod = {
  name: 'getCompressedAccount',
  pool: 'compression',
  params: { address: 'string', hash: 'string' },
  required: [],
  answer(params, { world, slot }) {
    const { address, hash } = params as { address?: string; hash?: string };
    const [by, key] = chooseOne('address', address, 'hash', hash);
    return valueText(slot, accountOrNull(world, by === 'hash' ? 'hash' : 'address', key));
  },
};

const getMultipleCompressedAccounts: RpcMethod = {
  name: 'getMultipleCompressedAccounts',
  pool: 'compression',
  params: { addresses: 'strings', hashes: 'strings' },
  required: [],
  answer(params, { world, slot }) {
    const { addresses, hashes } = params as { addresses?: string[]; hashes?: string[] };
    const [by, keys] = chooseOne('addresses', addresses, 'hashes', hashes);
    if (keys.length > maxLimit) {
      throw badParams(`\`${by}\` holds ${keys.length}, at most ${maxLimit} are allowed`);
    }
    const items = keys.map((key) => accountOrNull(world, by === 'hashes' ? 'hash' : 'address', key));
    return valueText(slot, `{"items":[${items.join(',')}]}`);
  },
};

/** The one of two parameters that is given; both or none is refused. */
function chooseOne<T>(firstName: string, first: T | undefined, secondName: string, second: T | undefined) {
  if ((first === undefined) === (second === undefined)) {
    throw badParams(`exactly one of \`${firstName}\` and \`${secondName}\` must be given`);
  }
  return (first === undefined ? [secondName, second] : [firstName, first]) as [string, T];
}

function accountOrNull(world: World, by: 'hash' | 'address', key: string): string {
  readKey(key, by);
  const number = world.compression.findOpen(by, key);
  return number === -1 ? 'null' : world.compression.accountText(number);
}

interface TokenListParams {
  owner: string;
  mint?: string;
  cursor?: string;
  limit?: number;
}

const getCompressedTokenAccountsByOwner: RpcMethod = {
  name: 'getCompressedTokenAccountsByOwner',
  pool: 'compression',
  params: { owner: 'string', mint: 'string', cursor: 'string', limit: 'integer' },
  required: ['owner'],
  answer(params, { world, slot }) {
    const { owner, mint, cursor, limit } = params as unknown as TokenListParams;
    readKey(owner, 'owner');
    if (mint !== undefined) readKey(mint, 'mint');
    const rows = listTokens(world, owner, mint, cursor).slice(0, checkLimit(limit));
    const items = rows.map((row) => world.compression.tokenAccountText(row));
    const last = rows.at(-1);
    const full = last !== undefined && rows.length === checkLimit(limit);
    const next = full ? `"${tokenCursor(world, last)}"` : 'null';
    return valueText(slot, `{"items":[${items.join(',')}],"cursor":${next}}`);
  },
};

/** The rows of an owner after a cursor, ascending by mint, then hash. */
function listTokens(world: World, owner: string, mint?: string, cursor?: string): readonly number[] {
  const { compression, owners, tokenAccounts } = world;
  const mintNumber = mint === undefined ? undefined : tokenAccounts.findMint(mint);
  const owned = compression.tokensOf(owners.find(owner));
  const rows =
    mintNumber === undefined ? owned : owned.filter((row) => compression.mintOf(row) === mintNumber);
  if (cursor === undefined) return rows;
  const after = decodeBase58(cursor, 64);
  if (after === null) throw badParams('`cursor` is not a cursor of this list');
  const isBefore = (n: number) => Buffer.compare(compression.tokenKey(rows[n] as number), after) <= 0;
  return rows.slice(countBefore(rows.length, isBefore));
}

/** Opaque to callers: 32 bytes of mint, 32 of hash, in base58. */
function tokenCursor(world: World, row: number): string {
  return encodeBase58(world.compression.tokenKey(row));
}

/** Checks the limit of a compression list; the default is the largest page. */
export function checkLimit(limit = maxLimit): number {
  if (limit > maxLimit) throw badParams(`\`limit\` must not be above ${maxLimit}`);
  return limit;
}

/** The `{context, value}` that compression methods answer with. */
export function valueText(slot: AnswerContext['slot'], value: string): string {
  return `{"context":{"slot":${slot}},"value":${value}}`;
}

/** The compressed-account methods (spec, "Endpoints"). */
export const compressionMethods: readonly RpcMethod[] = [
  getCompressedAccount,
  getMultipleCompressedAccounts,
  getCompressedTokenAccountsByOwner,
];
