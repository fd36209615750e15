import { mintIndex } from './asset-traits.ts';
import type { CompressedAccount, CompressionHistory } from './compression-history.ts';
import type { KeyTable } from './key-table.ts';
import { createMemory } from './memory.ts';
import type { SignatureList, WorldSignatures } from './world-signatures.ts';

/** Accounts and transactions by owner and by address. */
export interface CompressionIndexes {
  /** The mint of a token account, by number. */
  mintOf(number: number): number;
  /** The sort key of token accounts: 32 bytes of mint, 32 of hash. */
  tokenKey(number: number): Uint8Array;
  /** Open token accounts of an owner, ascending by mint, then hash. */
  tokensOf(owner: number): readonly number[];
  /** The transactions that opened or closed token accounts of an owner, or the account of an address. */
  signaturesOfOwner(owner: number): SignatureList;
  signaturesOfAddress(address: number): SignatureList;
  /** Numbers of the transactions of an owner. */
  transactionsOfOwner(owner: number): number[];
}

/** @returns the indexes, and `extend`, which adds what the history has gained */
export function createCompressionIndexes(
  history: CompressionHistory,
  { signatures, hashes, assetKeys }: { signatures: WorldSignatures; hashes: KeyTable; assetKeys: KeyTable },
): CompressionIndexes & { extend(): void } {
  const members = createMembers(history);
  const mintOf = (number: number) => history.accounts[number]?.token?.mint ?? -1;
  const mintRank = (number: number) => assetKeys.rank(mintIndex(mintOf(number)));
  const byMintThenHash = (a: number, b: number) =>
    mintRank(a) - mintRank(b) || hashes.rank(a) - hashes.rank(b);
  const isOpen = (number: number) => history.accounts[number]?.closedBy === -1;
  const tokens = createMemory((owner) => members.tokensOf(owner).filter(isOpen).sort(byMintThenHash));
  const ofOwner = createMemory((owner) => signatures.listOf(members.ofOwner(owner)));
  const ofAddress = createMemory((address) => signatures.listOf(members.ofAddress(address)));
  return {
    mintOf,
    tokenKey: (number) => Buffer.concat([assetKeys.bytes(mintIndex(mintOf(number))), hashes.bytes(number)]),
    tokensOf: tokens.get,
    signaturesOfOwner: ofOwner.get,
    signaturesOfAddress: ofAddress.get,
    transactionsOfOwner: members.ofOwner,
    extend() {
      members.extend();
      for (const memory of [tokens, ofOwner, ofAddress]) memory.forget();
    },
  };
}

/** Transactions and token accounts of each owner and address; grows with the history. */
function createMembers(history: CompressionHistory) {
  const tokens = new Map<number, Set<number>>();
  const byOwner = new Map<number, Set<number>>();
  const byAddress = new Map<number, Set<number>>();
  let indexed = 0;
  const addTransaction = (number: number) => {
    const { opened = [], closed = [] } = history.transactions[number] ?? {};
    for (const account of [...opened, ...closed]) {
      const { owner, token, address } = history.accounts[account] as CompressedAccount;
      if (token !== null) memberOf(byOwner, owner).add(number);
      if (address !== -1) memberOf(byAddress, address).add(number);
    }
    for (const account of opened) {
      const { owner, token } = history.accounts[account] as CompressedAccount;
      if (token !== null) memberOf(tokens, owner).add(account);
    }
  };
  return {
    extend() {
      for (; indexed < history.transactions.length; indexed += 1) addTransaction(indexed);
    },
    tokensOf: (owner: number) => [...(tokens.get(owner) ?? [])],
    ofOwner: (owner: number) => [...(byOwner.get(owner) ?? [])],
    ofAddress: (address: number) => [...(byAddress.get(address) ?? [])],
  };
}

function memberOf(sets: Map<number, Set<number>>, key: number): Set<number> {
  const set = sets.get(key) ?? new Set<number>();
  sets.set(key, set);
  return set;
}
