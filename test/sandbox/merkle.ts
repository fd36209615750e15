import { createHash } from 'node:crypto';
import { decodeBase58 } from '../../src/sandbox/base58.ts';

const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
const bytes = (text: string) => decodeBase58(text, 32) as Uint8Array;

/** The leaf of a new address's low element: what the address tree has hashed of its range. */
export function rangeLeaf(lower: string, higher: string): Uint8Array {
  return sha256(bytes(lower), bytes(higher));
}

/** Whether a proof leads from a leaf to the root: written from the rule in merkle-tree.ts, not from its code. */
export function leadsToRoot(
  leaf: string | Uint8Array,
  index: number,
  proof: string[],
  root: string,
): boolean {
  let node: Uint8Array = typeof leaf === 'string' ? bytes(leaf) : leaf;
  let position = index;
  for (const entry of proof) {
    node = position % 2 === 1 ? sha256(bytes(entry), node) : sha256(node, bytes(entry));
    position = Math.floor(position / 2);
  }
  return position === 0 && Buffer.compare(node, bytes(root)) === 0;
}
