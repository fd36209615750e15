import { type AddressTrees, createAddressTrees } from './address-trees.ts';
import { mintIndex } from './asset-traits.ts';
import { decodeBase58 } from './base58.ts';
import {
  type CompressedAccountFacts,
  type CompressedNames,
  describeAccount,
} from './compressed-account-text.ts';
import { type CompressedAccount, CompressionHistory, stateTreeCount } from './compression-history.ts';
import { type CompressionIndexes, createCompressionIndexes } from './compression-indexes.ts';
import { type CompressionRecords, createCompressionRecords } from './compression-records.ts';
import { createKeyTable, type KeyTable, rememberTexts } from './key-table.ts';
import { hashStream, Random } from './random.ts';
import { type AccountProof, createStateTrees } from './state-trees.ts';
import { transactionText } from './transaction-bytes.ts';
import type { WorldSignatures } from './world-signatures.ts';

/** The compressed accounts, numbered from 0 in the order they were opened, and what led to them. */
export interface WorldCompression extends CompressionRecords, CompressionIndexes {
  readonly hashes: KeyTable;
  readonly addresses: KeyTable;
  readonly stateTrees: KeyTable;
  readonly addressTrees: AddressTrees;
  /** What happened, by numbers; transaction n has signature number n. */
  readonly history: CompressionHistory;
  facts(number: number): CompressedAccountFacts;
  isOpen(number: number): boolean;
  /** The number of the open account with this hash or address, or -1. */
  findOpen(by: 'hash' | 'address', text: string): number;
  /** The transaction's bytes in base64: its payer, the owners it touched, the program. */
  transactionText(number: number): string;
  /** For an open account. */
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
      new Random(details(number)),
      names,
      parts.quirks,
    );
  };
}

const program = decodeBase58('SySTEM1eSU2p4BGQfQpimFEWWSC1XDFeun3Nqzz3rT7', 32) ?? new Uint8Array(32);

function writeTransaction(number: number, parts: CompressionParts, history: CompressionHistory): string {
  const { payer = 0, opened = [], closed = [] } = history.transactions[number] ?? {};
  const touched = [...closed, ...opened].map((at) => history.accounts[at]?.owner as number);
  const people = [...new Set([payer, ...touched])];
  return transactionText({
    signature: parts.signatures.keys.bytes(number),
    accountKeys: [...people.map(parts.owners.bytes), program],
    recentBlockhash: createKeyTable(parts.seed, 'blockhash', 0).bytes(parts.signatures.slotOf(number)),
    data: Uint8Array.of(closed.length, opened.length),
  });
}
