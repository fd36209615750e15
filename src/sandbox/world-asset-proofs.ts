import { encodeBase58 } from './base58.ts';
import { createKeyTable } from './key-table.ts';
import { createMerkleTree, type MerkleTree } from './merkle-tree.ts';
import type { WorldAssets } from './world-assets.ts';

/** Depth of the trees that hold the compressed assets: 16,384 leaves each. */
export const assetTreeDepth = 14;
/** Name of the key table of those trees. */
export const assetTreeTable = 'tree';

/** The tree of a compressed asset; assets of other kinds leave an empty leaf there. */
export function treeOf(index: number): number {
  return index >>> assetTreeDepth;
}

/** The leaf of a compressed asset in its tree. */
export function leafIdOf(index: number): number {
  return index & (2 ** assetTreeDepth - 1);
}

/** Name of the key table that all hashes of compressed assets come from. */
export const leafHashTable = 'leaf-hash';

/**
 * The number, in that table, of the first hash of a compressed asset: data hash, creator hash, asset hash.
 * Every rewrite of the leaf gives new hashes.
 */
export function leafHashNumber(index: number, rewrites: number): number {
  return (index * 4 + Math.imul(rewrites, 0x1000_0001)) | 0;
}

/** Proof that a compressed asset is in its tree; `MerkleTree` says how to verify it. */
export interface AssetProof {
  root: string;
  /** From the leaf upward. */
  proof: string[];
  /** Counts the tree's nodes from the root, which is 1: 2 ** proof.length + leaf_id. */
  nodeIndex: number;
  /** The asset hash. */
  leaf: string;
  tree: string;
  burnt: boolean;
}

/** Proofs of the compressed assets as they are now; a burnt one keeps its leaf. */
export interface WorldAssetProofs {
  /** Null for an asset that is not compressed. */
  proof(index: number): AssetProof | null;
  /** Forgets the trees, after leaves changed. */
  tick(): void;
}

export function createWorldAssetProofs(seed: number, assets: WorldAssets): WorldAssetProofs {
  const hashes = createKeyTable(seed, leafHashTable, 0);
  const treeKeys = createKeyTable(seed, assetTreeTable, 0);
  const trees = new Map<number, MerkleTree>();
  const isLeaf = (index: number) =>
    index >= 0 && index < assets.keys.size && assets.traits.kindOf(index) === 'compressed';
  const leafBytes = (index: number) => hashes.bytes(leafHashNumber(index, assets.rewrites(index)) + 2);
  const grow = (tree: number) => {
    const first = tree * 2 ** assetTreeDepth;
    return createMerkleTree(assetTreeDepth, 2 ** assetTreeDepth, (leaf) =>
      isLeaf(first + leaf) ? leafBytes(first + leaf) : null,
    );
  };
  return {
    proof(index) {
      if (!isLeaf(index)) return null;
      const number = treeOf(index);
      const tree = trees.get(number) ?? grow(number);
      trees.set(number, tree);
      return {
        root: encodeBase58(tree.root()),
        proof: tree.proof(leafIdOf(index)).map(encodeBase58),
        nodeIndex: 2 ** assetTreeDepth + leafIdOf(index),
        leaf: encodeBase58(leafBytes(index)),
        tree: treeKeys.text(number),
        burnt: assets.isBurnt(index),
      };
    },
    tick: () => trees.clear(),
  };
}
