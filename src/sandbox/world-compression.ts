import { mintIndex } from './asset-traits.ts';
import { decodeBase58 } from './base58.ts';
import {
  type CompressedAccountFacts,
  type CompressedNames,
  type CompressionRecords,
  createCompressionRecords,
  describeAccount,
} from './compressed-account-text.ts';
import { type CompressedAccount, CompressionHistory, stateTreeCount } from './compression-history.ts';
import { type CompressionIndexes, createCompressionIndexes } from './compression-indexes.ts';
import {
  type AccountProof,
  type AddressTrees,
  createAddressTrees,
  createStateTrees,
} from './compression-trees.ts';
import { createKeyTable, type KeyTable } from './key-table.ts';
import { rememberTexts } from './memory.ts';
import { hashStream, Random } from './random.ts';
import type { WorldSignatures } from './world-signatures.ts';

/** The compressed accounts, numbered from 0 in the order they were opened, and their transactions. */
export interface WorldCompression extends CompressionRecords, CompressionIndexes {
  readonly hashes: KeyTable;
  readonly addresses: KeyTable;
  readonly stateTrees: KeyTable;
  readonly addressTrees: AddressTrees;
  /** Accounts and transactions by number; transaction n has signature number n. */
  readonly history: CompressionHistory;
  facts(number: number): CompressedAccountFacts;
  isOpen(number: number): boolean;
  /** The number of the open account with this hash or address, or -1. */
  findOpen(by: 'hash' | 'address', text: string): number;
  /** The transaction's bytes in base64: its payer, the owners it touched, the program. */
  transactionText(number: number): string;
  /** The proof of an open account. */
  prove(number: number): AccountProof;
  /** Runs the transactions of the signatures that were added. */
  tick(ticks: number): void;
}

export interface CompressionParts {
  seed: number;
  quirks: boolean;
  owners: KeyTable;
  assetKeys: KeyTable;
  mints: number;
  signatures: WorldSignatures;
}

export function createWorldCompression(parts: CompressionParts): WorldCompression {
  const { seed, owners, signatures } = parts;
  const history = new CompressionHistory({ owners: owners.size, mints: parts.mints, large: parts.quirks });
  const tables = createTables(seed);
  const { hashes, addresses, stateTrees } = tables;
  const names = createNames(parts, tables);
  const addressTrees = createAddressTrees(seed, addresses);
  const tickWords = hashStream(seed, 'compression-tick');
  const proofs = createStateTrees(history, hashes, stateTrees);
  const indexes = createCompressionIndexes(history, { signatures, hashes, assetKeys: parts.assetKeys });
  const isOpen = (number: number) => history.accounts[number]?.closedBy === -1;
  const tick = (ticks: number) => {
    const random = new Random(tickWords(ticks));
    while (history.transactions.length < signatures.size) history.run(random);
    hashes.grow(history.accounts.length - hashes.size);
    addresses.grow(history.holders.length - addresses.size);
    addressTrees.tick();
    proofs.forget();
    indexes.extend();
  };
  tick(0);
  const facts = createDescriber(parts, history, names);
  const transactionText = (number: number) => writeTransaction(number, parts, history);
  const { slotOf } = signatures;
  return {
    ...createCompressionRecords({ history, facts, transactionText, slotOf, quirks: parts.quirks }),
    ...indexes,
    ...tables,
    addressTrees,
    history,
    facts,
    isOpen,
    findOpen(by, text) {
      const number = by === 'hash' ? hashes.find(text) : (history.holders[addresses.find(text)] ?? -1);
      return isOpen(number) ? number : -1;
    },
    transactionText,
    prove: proofs.prove,
    tick,
  };
}

function createTables(seed: number) {
  return {
    hashes: createKeyTable(seed, 'compressed-account', 0),
    addresses: createKeyTable(seed, 'compressed-address', 0),
    stateTrees: createKeyTable(seed, 'state-tree', stateTreeCount),
  };
}

function createNames(parts: CompressionParts, tables: ReturnType<typeof createTables>): CompressedNames {
  const { seed, owners, assetKeys } = parts;
  return {
    hash: tables.hashes.text,
    address: tables.addresses.text,
    tree: rememberTexts(tables.stateTrees.text),
    delegate: rememberTexts(createKeyTable(seed, 'delegate', 0).text),
    owner: { text: rememberTexts(owners.text), bytes: owners.bytes },
    mint: {
      text: rememberTexts((mint) => assetKeys.text(mintIndex(mint))),
      bytes: (mint) => assetKeys.bytes(mintIndex(mint)),
    },
  };
}

function createDescriber(parts: CompressionParts, history: CompressionHistory, names: CompressedNames) {
  const details = hashStream(parts.seed, 'compressed-account-details');
  return (number: number): CompressedAccountFacts => {
    const account = history.accounts[number] as CompressedAccount;
    const slot = parts.signatures.slotOf(account.openedBy);
    return describeAccount(
      number,
      { ...account, slotCreated: slot },
      new Random(details(number), parts.quirks),
      names,
    );
  };
}

const program = decodeBase58('SySTEM1eSU2p4BGQfQpimFEWWSC1XDFeun3Nqzz3rT7', 32) ?? new Uint8Array(32);

function writeTransaction(number: number, parts: CompressionParts, history: CompressionHistory): string {
  const { payer = 0, opened = [], closed = [] } = history.transactions[number] ?? {};
  const touched = [...closed, ...opened].map((account) => history.accounts[account]?.owner as number);
  const wallets = [...new Set([payer, ...touched])];
  return transactionText({
    signature: parts.signatures.keys.bytes(number),
    accountKeys: [...wallets.map(parts.owners.bytes), program],
    recentBlockhash: createKeyTable(parts.seed, 'blockhash', 0).bytes(parts.signatures.slotOf(number)),
    data: Uint8Array.of(closed.length, opened.length),
  });
}

/** The parts of a transaction; keys are 32 bytes, the signature 64. */
export interface TransactionParts {
  signature: Uint8Array;
  /** The fee payer first. */
  accountKeys: Uint8Array[];
  recentBlockhash: Uint8Array;
  data: Uint8Array;
}

/**
 * A transaction in the ledger's own layout (legacy message, one signature, one instruction over all accounts,
 * the last of which is the program), in base64. Lists are below 128 long, so a length is one byte.
 */
export function transactionText(parts: TransactionParts): string {
  const { signature, accountKeys, recentBlockhash, data } = parts;
  const program = accountKeys.length - 1;
  const accounts = accountKeys.slice(0, -1).map((_, position) => position);
  return Buffer.concat([
    Uint8Array.of(1),
    signature,
    Uint8Array.of(1, 0, 1, accountKeys.length),
    ...accountKeys,
    recentBlockhash,
    Uint8Array.of(1, program, accounts.length, ...accounts, data.length),
    data,
  ]).toString('base64');
}
