/** Depth of the trees that hold the compressed assets: 16,384 leaves each. */
export const assetTreeDepth = 14;
/** Name of the key table of those trees. */
export const assetTreeTable = 'tree';

/** Which tree a compressed asset is in; assets of other kinds leave their place in it empty. */
export function treeOf(index: number): number {
  return index >>> assetTreeDepth;
}

/** The place of a compressed asset in its tree. */
export function leafIdOf(index: number): number {
  return index & (2 ** assetTreeDepth - 1);
}

/** Name of the key table that all hashes of compressed assets come from. */
export const leafHashTable = 'leaf-hash';

/**
 * The number, in that table, of the first hash of a compressed asset: data hash, creator hash, asset hash.
 * Hashes follow the leaf: every rewrite gives new ones.
 */
export function leafHashNumber(index: number, rewrites: number): number {
  return (index * 4 + Math.imul(rewrites, 0x1000_0001)) | 0;
}
