const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const digitOf = new Map([...alphabet].map((letter, digit) => [letter, digit]));

/** Digits are made five at a time: 58^5 × 2^16 still fits a double exactly. */
const digitsAtOnce = 5;
const chunkBase = 58 ** digitsAtOnce;

/** All five-digit tails would be 656 million; pairs are enough to halve the work. */
const pairs = Array.from(
  { length: 58 * 58 },
  (_, n) => alphabet.charAt(Math.floor(n / 58)) + alphabet.charAt(n % 58),
);

function chunkText(chunk: number): string {
  const low = chunk % 3364;
  const rest = Math.floor(chunk / 3364);
  return alphabet.charAt(Math.floor(rest / 3364)) + (pairs[rest % 3364] as string) + (pairs[low] as string);
}

/** Divides the big-endian number in `limbs` (16 bits each) by 58^5 in place; returns the remainder. */
function divideByChunk(limbs: number[], from: number): number {
  let remainder = 0;
  for (let i = from; i < limbs.length; i += 1) {
    const value = remainder * 65536 + (limbs[i] as number);
    const quotient = Math.floor(value / chunkBase);
    limbs[i] = quotient;
    remainder = value - quotient * chunkBase;
  }
  return remainder;
}

/** Base58 (the ledger's alphabet) of any bytes of even length: 32 for addresses, 64 for signatures. */
export function encodeBase58(bytes: Uint8Array): string {
  const limbs: number[] = [];
  for (let i = 0; i < bytes.length; i += 2) limbs.push((bytes[i] as number) * 256 + (bytes[i + 1] as number));
  let text = '';
  let from = 0;
  while (from < limbs.length) {
    if (limbs[from] === 0) from += 1;
    else text = chunkText(divideByChunk(limbs, from)) + text;
  }
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1;
  let first = 0;
  while (text.charAt(first) === '1') first += 1;
  return '1'.repeat(zeros) + text.slice(first);
}

/** The bytes of a base58 text, or null when it is no base58 or not exactly `length` bytes long. */
export function decodeBase58(text: string, length: number): Uint8Array | null {
  if (text.length === 0 || text.length > length * 2) return null;
  const bytes = new Uint8Array(length);
  for (const letter of text) {
    let carry = digitOf.get(letter);
    if (carry === undefined) return null;
    for (let i = length - 1; i >= 0; i -= 1) {
      carry += (bytes[i] as number) * 58;
      bytes[i] = carry & 255;
      carry >>>= 8;
    }
    if (carry > 0) return null;
  }
  return encodeBase58(bytes) === text ? bytes : null;
}
