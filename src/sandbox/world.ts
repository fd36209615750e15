import { createAssetWriter } from './asset-text.ts';
import { creatorCount, startSlot } from './asset-traits.ts';
import { createKeyTable } from './key-table.ts';
import { rememberTexts } from './memory.ts';
import { hashStream } from './random.ts';
import { createWorldAssetProofs } from './world-asset-proofs.ts';
import { createWorldAssets } from './world-assets.ts';
import { createWorldCompression } from './world-compression.ts';
import { createWorldSignatures } from './world-signatures.ts';
import type { WorldState } from './world-state.ts';
import { createWorldTokenAccounts } from './world-token-accounts.ts';
import { createTruth, type Truth } from './world-truth.ts';
import { createWorldWallets } from './world-wallets.ts';

/** Size and content of the generated ledger; the defaults are the sandbox's. */
export interface WorldOptions {
  seed?: number;
  assets?: number;
  owners?: number;
  collections?: number;
  /** Off: no record has odd types, odd texts or odd numbers, and no page is short. */
  quirks?: boolean;
}

/** A generated ledger that can be moved. */
export interface World extends WorldState {
  /** The expected content of the API's answers, for oracles. */
  truth(): Truth;
  /** Advances the ledger by 1 or 2 slots without changing content. Returns the new slot. */
  advanceSlot(): number;
  /** Changes content, at slots above every slot answered so far. */
  tick(): void;
}

/** Slots of one tick; its changes are spread over them. */
const tickSlots = 64;

export function createWorld(options: WorldOptions = {}): World {
  const { seed = 1, quirks = true } = options;
  const content = generateContent({ ...options, seed, quirks });
  const steps = hashStream(seed, 'slot-step');
  let slot = startSlot;
  let ticks = 0;
  let advances = 0;
  const world: World = {
    seed,
    quirks,
    ...content,
    get slot() {
      return slot;
    },
    get ticks() {
      return ticks;
    },
    truth: () => createTruth(world),
    advanceSlot() {
      advances += 1;
      slot += 1 + (steps(advances) & 1);
      return slot;
    },
    tick() {
      const from = slot + 1;
      slot += tickSlots;
      ticks += 1;
      // Signatures come before the compressed accounts, which change with the added ones.
      const { assets, assetProofs, tokenAccounts, signatures, compression, wallets } = content;
      for (const part of [assets, assetProofs, tokenAccounts, signatures, compression, wallets]) {
        part.tick(ticks, (random) => from + random.below(tickSlots));
      }
    },
  };
  return world;
}

function generateContent(options: WorldOptions & { seed: number; quirks: boolean }) {
  const { seed, quirks, assets: assetCount = 30_000, owners: ownerCount = 5000, collections = 3 } = options;
  const counts = { assets: assetCount, owners: ownerCount, collections, creators: creatorCount, quirks };
  const owners = createKeyTable(seed, 'owner', ownerCount);
  const owner = rememberTexts(owners.text);
  const assets = createWorldAssets(seed, counts);
  const names = { owner, asset: rememberTexts(assets.keys.text) };
  const tokenAccounts = createWorldTokenAccounts(seed, counts, names);
  const signatures = createWorldSignatures(seed, Math.max(2000, Math.ceil(ownerCount * 0.4)));
  const assetKeys = assets.keys;
  const mints = tokenAccounts.mintCount;
  const compression = createWorldCompression({ seed, quirks, owners, assetKeys, mints, signatures });
  return {
    owners,
    assets,
    assetWriter: createAssetWriter(seed, assets, owner),
    assetProofs: createWorldAssetProofs(seed, assets),
    tokenAccounts,
    signatures,
    compression,
    wallets: createWorldWallets({ seed, quirks, owners, assets, tokenAccounts, signatures, compression }),
  };
}
