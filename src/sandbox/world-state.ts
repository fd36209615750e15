import type { AssetWriter } from './asset-text.ts';
import type { KeyTable } from './key-table.ts';
import type { WorldAssetProofs } from './world-asset-proofs.ts';
import type { WorldAssets } from './world-assets.ts';
import type { WorldCompression } from './world-compression.ts';
import type { WorldSignatures } from './world-signatures.ts';
import type { WorldTokenAccounts } from './world-token-accounts.ts';
import type { WorldWallets } from './world-wallets.ts';

/** A generated ledger: a function of its options, the ticks so far and (slots only) the requests so far. */
export interface WorldState {
  readonly seed: number;
  readonly quirks: boolean;
  /** The slot that all content is indexed to. */
  readonly slot: number;
  readonly ticks: number;
  readonly owners: KeyTable;
  readonly assets: WorldAssets;
  readonly assetWriter: AssetWriter;
  readonly assetProofs: WorldAssetProofs;
  readonly tokenAccounts: WorldTokenAccounts;
  readonly signatures: WorldSignatures;
  readonly compression: WorldCompression;
  readonly wallets: WorldWallets;
}
