import { hash } from 'node:crypto';

/**
 * The sandbox's Merkle trees. Their hash is the sandbox's own, not the ledger's: a node is
 * sha256(left ‖ right) of its two children's 32 bytes; an empty leaf is 32 zero bytes. To verify a proof,
 * start with the leaf; for each entry of `proof`, from the leaf upward, the entry is the right neighbour
 * when the current bit of the leaf's index (lowest first) is 0, the left one when it is 1; hash the two; in
 * the end the value is the root. As base58 texts:
 *
 *     let node = leaf;
 *     for (const [level, entry] of proof.entries())
 *       node = (index >> level) & 1 ? sha256(entry ‖ node) : sha256(node ‖ entry);
 *     node === root
 *
 * `index` is `leafIndex` of an account, `lowElementLeafIndex` of a new address, and for an asset
 * `node_index - 2 ** proof.length` (its `leaf_id`).
 */
export interface MerkleTree {
  root(): Uint8Array;
  /** The neighbours of a leaf's path, from the leaf upward: as many as the tree is deep. */
  proof(leaf: number): Uint8Array[];
}

/** Nodes below this level are recomputed for each proof (at most 15 hashes), which saves 15 of 16 nodes' memory. */
const keptFrom = 4;

/**
 * A tree whose nodes are computed on first use and kept. Leaves must not change while it is used.
 * @param leafCount leaves at and above it are empty
 * @param leafAt the 32 bytes of a leaf; null for an empty one
 */
export function createMerkleTree(
  depth: number,
  leafCount: number,
  leafAt: (leaf: number) => Uint8Array | null,
): MerkleTree {
  const kept = Array.from({ length: depth + 1 }, () => new Map<number, Uint8Array>());
  const make = (level: number, position: number): Uint8Array => {
    if (level === 0) return leafAt(position) ?? emptyNode(0);
    return hashPair(node(level - 1, position * 2), node(level - 1, position * 2 + 1));
  };
  const node = (level: number, position: number): Uint8Array => {
    if (position * 2 ** level >= leafCount) return emptyNode(level);
    if (level < keptFrom) return make(level, position);
    const value = kept[level]?.get(position) ?? make(level, position);
    kept[level]?.set(position, value);
    return value;
  };
  return {
    root: () => node(depth, 0),
    proof: (leaf) =>
      Array.from({ length: depth }, (_, level) => node(level, Math.floor(leaf / 2 ** level) ^ 1)),
  };
}

/** sha256 of two times 32 bytes. */
export function hashPair(left: Uint8Array, right: Uint8Array): Uint8Array {
  const both = new Uint8Array(64);
  both.set(left);
  both.set(right, 32);
  return hash('sha256', both, 'buffer');
}

const emptyNodes: Uint8Array[] = [new Uint8Array(32)];

function emptyNode(level: number): Uint8Array {
  const cached = emptyNodes[level];
  if (cached !== undefined) return cached;
  const below = emptyNode(level - 1);
  const node = hashPair(below, below);
  emptyNodes[level] = node;
  return node;
}
