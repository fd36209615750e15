import { mintIndex } from './asset-traits.ts';
import { type FeeLevels, feeLevels } from './priority-fees.ts';
import { type CompressionTruth, createCompressionTruth } from './truth-compression.ts';
import { createWalletTruth, type WalletTruth } from './truth-wallets.ts';
import type { AssetProof } from './world-asset-proofs.ts';
import type { SignatureItem } from './world-signatures.ts';
import type { WorldState } from './world-state.ts';

/** An asset's current state. */
export interface AssetTruth {
  id: string;
  collection: string;
  /** '' where the record names none: fungible assets, some burnt ones. */
  owner: string;
  burnt: boolean;
  /** Slot of its last change; getAssetBatch gives it as `content.last_indexed_slot`. */
  slot: number;
  /** Whether the list operations leave its content out (`{}`). */
  contentHiddenInLists: boolean;
  /** The full record on one line, numbers exact, without `last_indexed_slot`. */
  record: string;
}

/** A token account's current state. */
export interface TokenAccountTruth {
  address: string;
  mint: string;
  owner: string;
  amount: bigint;
  delegatedAmount: bigint;
  /** The record on one line, numbers exact. */
  record: string;
}

/**
 * The whole ledger, read without the API: what a complete crawl of quiet content must equal. The iterators make each
 * record on demand, in the order of the numbers, from the world's state at that moment.
 */
export interface Truth extends CompressionTruth, WalletTruth {
  readonly slot: number;
  readonly ticks: number;
  /** Collection addresses, the values of getAssetsByGroup's groupValue. */
  collections(): string[];
  creators(): string[];
  owners(): Iterable<string>;
  /** Mints of token accounts. */
  mints(): string[];
  /** Every asset that ever existed, with the burnt ones (which getAssetBatch shows, and no list). */
  assets(): Iterable<AssetTruth>;
  /** One asset; undefined for an unknown id. */
  asset(id: string): AssetTruth | undefined;
  /** The proof of a compressed asset; null for others and unknown ids. */
  assetProof(id: string): AssetProof | null;
  /** Ids of the assets that a list of this collection or creator must give, ascending by bytes. */
  idsInCollection(address: string): string[];
  idsByCreator(address: string, onlyVerified?: boolean): string[];
  /** Every open token account, with the empty ones (hidden without showZeroBalance). */
  tokenAccounts(): Iterable<TokenAccountTruth>;
  /** The current answer of getPriorityFeeEstimate for these account keys (or one transaction text). */
  priorityFees(accounts: readonly string[], lookbackSlots?: number): FeeLevels;
  /** Every signature, newest first as in the feed. */
  signatures(): Iterable<SignatureItem>;
}

export function createTruth(world: WorldState): Truth {
  const { assets, owners } = world;
  const texts = (keys: { size: number; text(index: number): string }) =>
    Array.from({ length: keys.size }, (_, index) => keys.text(index));
  const liveIds = (rows: Uint32Array) => {
    const live = Array.from(rows).filter((index) => !assets.isBurnt(index));
    return live.map((index) => assets.keys.text(index));
  };
  return {
    ...createCompressionTruth(world),
    ...createWalletTruth(world),
    get slot() {
      return world.slot;
    },
    get ticks() {
      return world.ticks;
    },
    collections: () => texts(assets.collectionKeys),
    creators: () => texts(assets.creatorKeys),
    owners: () => texts(owners),
    mints: () => Array.from({ length: world.tokenAccounts.mintCount }, (_, mint) => mintText(world, mint)),
    assets: () => allAssets(world),
    asset(id) {
      const index = assets.keys.find(id);
      return index === -1 ? undefined : assetTruth(world, index);
    },
    assetProof: (id) => world.assetProofs.proof(assets.keys.find(id)),
    idsInCollection: (address) => liveIds(assets.inCollection(assets.collectionKeys.find(address))),
    idsByCreator: (address, onlyVerified = false) =>
      liveIds(assets.byCreator(assets.creatorKeys.find(address), onlyVerified)),
    tokenAccounts: () => allTokenAccounts(world),
    priorityFees: (accounts, lookbackSlots = 150) => feeLevels(world, accounts, lookbackSlots),
    signatures: () => allSignatures(world),
  };
}

function mintText(world: WorldState, mint: number): string {
  return world.assets.keys.text(mintIndex(mint));
}

function assetTruth(world: WorldState, index: number): AssetTruth {
  const { assets } = world;
  const state = assets.state(index);
  const record = world.assetWriter.write(index, { content: 'full' });
  return {
    id: assets.keys.text(index),
    collection: assets.collectionKeys.text(state.collection),
    owner: state.owner === null ? '' : world.owners.text(state.owner),
    burnt: state.burnt,
    slot: state.updatedSlot,
    contentHiddenInLists: assets.traits.hidesContent(index),
    record,
  };
}

function* allAssets(world: WorldState): Generator<AssetTruth> {
  for (let index = 0; index < world.assets.keys.size; index += 1) yield assetTruth(world, index);
}

function* allTokenAccounts(world: WorldState): Generator<TokenAccountTruth> {
  const { tokenAccounts } = world;
  for (let index = 0; index < tokenAccounts.keys.size; index += 1) {
    if (tokenAccounts.isClosed(index)) continue;
    const { mint, owner, amount, delegatedAmount } = tokenAccounts.state(index);
    yield {
      address: tokenAccounts.keys.text(index),
      mint: mintText(world, mint),
      owner: world.owners.text(owner),
      amount,
      delegatedAmount,
      record: tokenAccounts.write(index),
    };
  }
}

function* allSignatures(world: WorldState): Generator<SignatureItem> {
  for (let n = world.signatures.size - 1; n >= 0; n -= 1) yield world.signatures.at(n);
}
