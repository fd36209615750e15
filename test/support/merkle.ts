import { createHash } from 'node:crypto';

const letters = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** The 32 bytes of a base58 text. */
function bytesOf(text: string): Buffer {
  let number = 0n;
  for (const letter of text) {
    const digit = letters.indexOf(letter);
    if (digit === -1) throw new Error(`no base58: ${text}`);
    number = number * 58n + BigInt(digit);
  }
  const hex = number.toString(16).padStart(64, '0');
  if (hex.length !== 64) throw new Error(`more than 32 bytes: ${text}`);
  return Buffer.from(hex, 'hex');
}

function sha256(left: Buffer, right: Buffer): Buffer {
  return createHash('sha256').update(left).update(right).digest();
}

/** The leaf of a new address's range: the hash of its two neighbours. */
export function rangeLeaf(lower: string, higher: string): Buffer {
  return sha256(bytesOf(lower), bytesOf(higher));
}

/** Whether a proof leads from a leaf to the root, by the rule of the sample ledger's trees. */
export function leadsToRoot(
  leaf: string | Buffer,
  index: number,
  proof: readonly string[],
  root: string,
): boolean {
  const start = typeof leaf === 'string' ? bytesOf(leaf) : leaf;
  const top = proof.reduce((node, entry, level) => {
    const isRight = Math.floor(index / 2 ** level) % 2 === 1;
    return isRight ? sha256(bytesOf(entry), node) : sha256(node, bytesOf(entry));
  }, start);
  return index < 2 ** proof.length && top.equals(bytesOf(root));
}
