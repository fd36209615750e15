import { encodeBase58 } from './base58.ts';
import { type CompressionHistory, stateTreeCount } from './compression-history.ts';
import type { KeyTable } from './key-table.ts';
import { createMerkleTree, type MerkleTree } from './merkle-tree.ts';

/** That an account is in its state tree; `MerkleTree` says how to verify it. The leaf is the account's hash. */
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
  const made = new Map<number, MerkleTree>();
  const grow = (tree: number) =>
    createMerkleTree(26, Math.ceil((history.accounts.length - tree) / stateTreeCount), (leaf) => {
      const number = leaf * stateTreeCount + tree;
      return history.accounts[number]?.closedBy === -1 ? hashes.bytes(number) : null;
    });
  return {
    forget: () => made.clear(),
    prove(number: number): AccountProof {
      const at = number % stateTreeCount;
      const tree = made.get(at) ?? grow(at);
      made.set(at, tree);
      const leafIndex = Math.floor(number / stateTreeCount);
      return {
        hash: hashes.text(number),
        leafIndex,
        merkleTree: stateTrees.text(at),
        proof: tree.proof(leafIndex).map(encodeBase58),
        root: encodeBase58(tree.root()),
        rootSeq: history.treeSeqs[at] as number,
      };
    },
  };
}
