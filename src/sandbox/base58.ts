import { base58 } from '@scure/base';

/** Base58 (the ledger's alphabet): of 32 bytes for addresses, of 64 for signatures. */
export const encodeBase58 = base58.encode;

/** The bytes of a base58 text, or null when it is no base58 or not exactly `length` bytes long. */
export function decodeBase58(text: string, length: number): Uint8Array | null {
  // Longer texts are not worth decoding, which takes the square of their length.
  if (text.length === 0 || text.length > length * 2) return null;
  try {
    const bytes = base58.decode(text);
    return bytes.length === length ? bytes : null;
  } catch {
    return null;
  }
}
