import { encodeBase58 } from './base58.ts';
import { type CompressionHistory, stateTreeCount } from './compression-history.ts';
import { countBefore, createKeyTable, type KeyTable } from './key-table.ts';
import { createMerkleTree, hashPair, type MerkleTree } from './merkle-tree.ts';

/** Proof that an account is in its state tree; `MerkleTree` says how to verify it. The leaf is the account's hash. */
export interface AccountProof {
  hash: string;
  leafIndex: number;
  merkleTree: string;
  proof: string[];
  root: string;
  rootSeq: number;
}

/** The state trees: a spent account leaves an empty leaf behind. */
export function createStateTrees(history: CompressionHistory, hashes: KeyTable, stateTrees: KeyTable) {
  const trees = new Map<number, MerkleTree>();
  const grow = (tree: number) =>
    createMerkleTree(26, Math.ceil((history.accounts.length - tree) / stateTreeCount), (leaf) => {
      const number = leaf * stateTreeCount + tree;
      return history.accounts[number]?.closedBy === -1 ? hashes.bytes(number) : null;
    });
  return {
    forget: () => trees.clear(),
    prove(number: number): AccountProof {
      const treeNumber = number % stateTreeCount;
      const tree = trees.get(treeNumber) ?? grow(treeNumber);
      trees.set(treeNumber, tree);
      const leafIndex = Math.floor(number / stateTreeCount);
      return {
        hash: hashes.text(number),
        leafIndex,
        merkleTree: stateTrees.text(treeNumber),
        proof: tree.proof(leafIndex).map(encodeBase58),
        root: encodeBase58(tree.root()),
        rootSeq: history.treeSeqs[treeNumber] as number,
      };
    },
  };
}

/** Proof that an address is free, because it lies between two neighbours of the tree. Members as in the spec. */
export interface NewAddressProof {
  address: string;
  higherRangeAddress: string;
  lowerRangeAddress: string;
  lowElementLeafIndex: number;
  nextIndex: number;
  merkleTree: string;
  proof: string[];
  root: string;
  rootSeq: number;
}

/**
 * The trees of the addresses in use, linked in the order of their bytes. The leaf of an element is
 * sha256(its address ‖ the next higher one); leaf 0 is the lowest address (32 zero bytes), leaf 1 the highest
 * (32 bytes of 255, whose next is the lowest), and the others follow in the order they were taken. The
 * proof is the one of the leaf at `lowElementLeafIndex`, sha256(lower ‖ higher range address);
 * `nextIndex` is the leaf of the higher one. `MerkleTree` says how a proof leads to the root.
 */
export interface AddressTrees {
  readonly keys: KeyTable;
  /** Null for an address in use. */
  prove(tree: number, address: Uint8Array): NewAddressProof | null;
  /** Forgets the trees, after addresses were added. */
  tick(): void;
}

const treeCount = 2;
const depth = 26;
const lowest = new Uint8Array(32);
const highest = new Uint8Array(32).fill(255);

/** @param addresses those in use; address n is in tree n modulo 2 */
export function createAddressTrees(seed: number, addresses: KeyTable): AddressTrees {
  const keys = createKeyTable(seed, 'address-tree', treeCount);
  const trees = new Map<number, LinkedTree>();
  return {
    keys,
    prove(number, address) {
      const tree = trees.get(number) ?? linkTree(addresses, number);
      trees.set(number, tree);
      const above = countBefore(tree.values.length, (n) => Buffer.compare(tree.values[n]!, address) < 0);
      const high = tree.values[above] as Uint8Array;
      if (Buffer.compare(high, address) === 0) return null;
      const lowLeaf = tree.leaves[above - 1] as number;
      return {
        address: encodeBase58(address),
        higherRangeAddress: encodeBase58(high),
        lowerRangeAddress: encodeBase58(tree.values[above - 1] as Uint8Array),
        lowElementLeafIndex: lowLeaf,
        nextIndex: tree.leaves[above] as number,
        merkleTree: keys.text(number),
        proof: tree.merkle.proof(lowLeaf).map(encodeBase58),
        root: encodeBase58(tree.merkle.root()),
        rootSeq: tree.values.length,
      };
    },
    tick: () => trees.clear(),
  };
}

interface LinkedTree {
  /** Ascending, with the lowest and the highest. */
  values: Uint8Array[];
  /** The leaf of each. */
  leaves: number[];
  merkle: MerkleTree;
}

function linkTree(addresses: KeyTable, tree: number): LinkedTree {
  const rows = Array.from(addresses.order().filter((row) => row % treeCount === tree));
  const values = [lowest, ...rows.map(addresses.bytes), highest];
  const leaves = [0, ...rows.map((row) => 2 + Math.floor(row / treeCount)), 1];
  const positions = new Map(leaves.map((leaf, position) => [leaf, position]));
  const merkle = createMerkleTree(depth, values.length, (leaf) => {
    const position = positions.get(leaf) as number;
    return hashPair(values[position] as Uint8Array, values[(position + 1) % values.length] as Uint8Array);
  });
  return { values, leaves, merkle };
}
