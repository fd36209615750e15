import { decodeBase58 } from './base58.ts';
import { accountText, type CompressedAccountFacts } from './compressed-account-text.ts';
import type { CompressedAccount, CompressionTransaction } from './compression-history.ts';
import type { AccountProof, NewAddressProof } from './compression-trees.ts';
import type { SignatureItem, SignatureList } from './world-signatures.ts';
import type { WorldState } from './world-state.ts';

/** A compressed account as the ledger has it now; u64 are bigint. */
export interface CompressedAccountTruth extends CompressedAccountFacts {
  /** Signatures of the transactions that opened it and, null while it is open, spent it. */
  openedBy: string;
  spentBy: string | null;
  /** The account record on one line, numbers exact. */
  record: string;
  /** `{account, tokenData}` on one line; null for an account without tokens. */
  tokenRecord: string | null;
}

export interface CompressionTransactionTruth extends SignatureItem {
  /** Hashes of the accounts it opened and closed. */
  opened: string[];
  closed: string[];
  /** The transaction's bytes in base64. */
  transaction: string;
  /** The whole answer on one line. */
  record: string;
}

/** Everything about the compressed accounts. */
export interface CompressionTruth {
  /** Every account that was ever opened, the spent ones included. */
  compressedAccounts(): Iterable<CompressedAccountTruth>;
  /** One of them by its hash, also a spent one; undefined for an unknown hash. */
  compressedAccount(hash: string): CompressedAccountTruth | undefined;
  /** Hashes of an owner's open token accounts, in the order of the list. */
  compressedTokenHashes(owner: string): string[];
  /** Newest first, as in the lists. */
  tokenOwnerSignatures(owner: string): SignatureItem[];
  addressSignatures(address: string): SignatureItem[];
  compressionTransactions(): Iterable<CompressionTransactionTruth>;
  /** Null for an unknown or spent account. */
  accountProof(hash: string): AccountProof | null;
  stateTrees(): string[];
  /** The trees that getMultipleNewAddressProofsV2 and getValidityProof know. */
  addressTrees(): string[];
  /** Null for a taken address. */
  newAddressProof(address: string, tree: string): NewAddressProof | null;
}

export function createCompressionTruth(world: WorldState): CompressionTruth {
  const { compression, signatures, owners } = world;
  const { history, hashes, addresses, stateTrees, addressTrees } = compression;
  const texts = (keys: { size: number; text(index: number): string }) =>
    Array.from({ length: keys.size }, (_, index) => keys.text(index));
  return {
    *compressedAccounts() {
      for (let n = 0; n < history.accounts.length; n += 1) yield accountTruth(world, n);
    },
    compressedAccount(hash) {
      const number = hashes.find(hash);
      return number === -1 ? undefined : accountTruth(world, number);
    },
    compressedTokenHashes: (owner) => compression.tokensOf(owners.find(owner)).map(hashes.text),
    tokenOwnerSignatures: (owner) => newestFirst(compression.signaturesOfOwner(owners.find(owner))),
    addressSignatures: (address) => newestFirst(compression.signaturesOfAddress(addresses.find(address))),
    *compressionTransactions() {
      for (let n = 0; n < signatures.size; n += 1) yield transactionTruth(world, n);
    },
    accountProof(hash) {
      const number = compression.findOpen('hash', hash);
      return number === -1 ? null : compression.prove(number);
    },
    stateTrees: () => texts(stateTrees),
    addressTrees: () => texts(addressTrees.keys),
    newAddressProof: (address, tree) =>
      addressTrees.prove(addressTrees.keys.find(tree), decodeBase58(address, 32) ?? new Uint8Array(32)),
  };
}

function accountTruth(world: WorldState, number: number): CompressedAccountTruth {
  const { compression, signatures } = world;
  const { openedBy, closedBy, token } = compression.history.accounts[number] as CompressedAccount;
  const facts = compression.facts(number);
  return {
    ...facts,
    openedBy: signatures.keys.text(openedBy),
    spentBy: closedBy === -1 ? null : signatures.keys.text(closedBy),
    record: accountText(facts),
    tokenRecord: token === null ? null : compression.tokenAccountText(number, facts),
  };
}

function transactionTruth(world: WorldState, number: number): CompressionTransactionTruth {
  const { compression, signatures } = world;
  const { opened, closed } = compression.history.transactions[number] as CompressionTransaction;
  return {
    ...signatures.item(number),
    opened: opened.map(compression.hashes.text),
    closed: closed.map(compression.hashes.text),
    transaction: compression.transactionText(number),
    record: compression.transactionRecord(number),
  };
}

function newestFirst(list: SignatureList): SignatureItem[] {
  return Array.from({ length: list.size }, (_, n) => list.at(list.size - 1 - n));
}
