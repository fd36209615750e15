/**
 * Finds an API key that an answer repeats: unchanged, in lower or upper case, reversed, in hex, or in base64 at any of its three
 * offsets in a longer text; each also with characters written as `%hh` or `\u00hh`, or with backslashes before them
 * (`\"`, `\\`, `\/`).
 */
export interface KeyEcho {
  /** Whether the bytes contain the key. Splitting a page costs far more (`bench/split.ts`). */
  isIn(bytes: Buffer): boolean;
  /**
   * The bytes as text, with `[key]` for every occurrence.
   * @param isCut whether the text was longer. Its end is then left out, because it may be the first part of a key
   */
  redact(bytes: Buffer, isCut?: boolean): string;
}

/** @param key printable ASCII, 4 characters or more */
export function createKeyEcho(key: string): KeyEcho {
  const spellings = listSpellings(key);
  const find = createFinder(spellings);
  const characters = new Uint8Array(256);
  for (const byte of Buffer.concat(spellings)) characters[byte] = 1;
  const longest = Math.max(...spellings.map(({ length }) => length));
  return {
    isIn(bytes) {
      if (find(bytes, 1).length > 0) return true;
      return holdsEscapeOf(characters, bytes) && find(unescapeBytes(bytes), 1).length > 0;
    },
    redact(bytes, isCut = false) {
      const ends = new Uint32Array(bytes.length);
      const plain = unescapeBytes(bytes, ends);
      const startOf = (n: number) => (n === 0 ? 0 : ends[n - 1]!);
      const found = find(plain).map(({ from, to }) => ({ from: startOf(from), to: startOf(to) }));
      // An escape that is cut has not been read, and takes up to `longestEscape` bytes.
      const end = isCut ? startOf(Math.max(0, plain.length - longest - longestEscape)) : bytes.length;
      return replaceRanges(bytes, [...found, ...find(bytes)], end);
    },
  };
}

/** The bytes up to `end` as text, with one `[key]` for each group of overlapping ranges. */
function replaceRanges(bytes: Buffer, ranges: Range[], end: number): string {
  const parts: string[] = [];
  let copied = 0;
  for (const { from, to } of ranges.sort((a, b) => a.from - b.from)) {
    if (from >= end) break;
    if (from >= copied) parts.push(bytes.toString('utf8', copied, from), '[key]');
    copied = Math.max(copied, to);
  }
  return parts.join('') + bytes.toString('utf8', copied, Math.max(copied, end));
}

// A key of mostly backslashes or escapes is short when these are read, and would be found in any text.
const minReadLength = 8;

/** The texts to look for, in the bytes and in those whose escapes were read. */
function listSpellings(key: string): Buffer[] {
  const bytes = Buffer.from(key);
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The characters at the ends also hold bits of the neighbouring text.
    const last = (offset + bytes.length) % 3 === 0 ? text.length : text.length - 1;
    return text.slice(Math.ceil((offset * 8) / 6), last);
  });
  const urlSafe = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const reversed = [...key].reverse().join('');
  const cases = [key, key.toLowerCase(), key.toUpperCase()];
  const all = [hex, hex.toUpperCase(), ...base64, ...urlSafe, ...cases, reversed];
  // A key may contain backslashes, which reading drops, or something like an escape.
  const unescaped = all.flatMap((text) => [
    text.replaceAll('\\', ''),
    unescapeBytes(Buffer.from(text)).toString('latin1'),
  ]);
  const longEnough = unescaped.filter(({ length }) => length >= Math.min(key.length, minReadLength));
  return [...new Set([...all, ...longEnough])].map((text) => Buffer.from(text, 'latin1'));
}

interface Range {
  from: number;
  to: number;
}

const gram = 4;

/**
 * Finds any of the texts in one pass that reads few bytes. Of the offsets 0, `step`, 2 × `step`, … one lies within each
 * occurrence, at a gram (four bytes) of the text. All grams are in a table, and texts are compared only where it has one.
 * @returns finds the first `limit` occurrences, which may overlap or be the same
 */
function createFinder(texts: readonly Buffer[]): (bytes: Buffer, limit?: number) => Range[] {
  const step = Math.min(...texts.map(({ length }) => length)) - gram + 1;
  const isGram = new Uint8Array(1 << 16);
  const offsetsOf = new Map<number, { text: Buffer; offset: number }[]>();
  for (const text of texts)
    for (let offset = 0; offset + gram <= text.length; offset += 1) {
      const hash = hashGram(text, offset);
      isGram[hash] = 1;
      const offsets = offsetsOf.get(hash) ?? [];
      offsetsOf.set(hash, offsets);
      offsets.push({ text, offset });
    }
  return (bytes, limit = Number.POSITIVE_INFINITY) => {
    const found: Range[] = [];
    for (let i = 0; i + gram <= bytes.length; i += step) {
      const hash = hashGram(bytes, i);
      if (isGram[hash] === 0) continue;
      for (const { text, offset } of offsetsOf.get(hash)!) {
        if (!isAt(bytes, text, i - offset)) continue;
        found.push({ from: i - offset, to: i - offset + text.length });
        if (found.length >= limit) return found;
      }
    }
    return found;
  };
}

function isAt(bytes: Buffer, text: Buffer, from: number): boolean {
  if (from < 0) return false;
  // Beyond the end `bytes` is undefined, which equals no byte.
  for (let n = 0; n < text.length; n += 1) if (bytes[from + n] !== text[n]) return false;
  return true;
}

function hashGram(bytes: Uint8Array, i: number): number {
  const word = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
  return Math.imul(word, 0x9e3779b1) >>> 16;
}

const percent = 0x25;
const backslash = 0x5c;
const slash = 0x2f;
const quote = 0x22;

/** Bytes of `\u00hh` without its backslash. */
const longestEscape = 5;

/** Whether an escape in the bytes means one of the characters. Most pages have no such escape. */
function holdsEscapeOf(characters: Uint8Array, bytes: Buffer): boolean {
  for (const sign of [percent, backslash])
    for (let offset = bytes.indexOf(sign); offset !== -1; ) {
      const { value, end } = readEscape(bytes, offset);
      if (characters[value] === 1) return true;
      offset = bytes[end] === sign ? end : bytes.indexOf(sign, end);
    }
  return false;
}

/**
 * The bytes with `%hh` and `\u00hh` read and all other backslashes dropped, because their number depends on how often a
 * text was quoted.
 * @param ends receives, for each byte of the result, its end in `bytes`
 */
function unescapeBytes(bytes: Buffer, ends?: Uint32Array): Buffer {
  const plain = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let offset = 0; offset < bytes.length; ) {
    let value = bytes[offset]!;
    let end = offset + 1;
    if (value === percent || value === backslash) ({ value, end } = readEscape(bytes, offset));
    offset = end;
    if (value === backslash) continue;
    plain[length] = value;
    if (ends !== undefined) ends[length] = end;
    length += 1;
  }
  return plain.subarray(0, length);
}

/** Reads the `%` or the backslashes at an offset. @returns the byte they mean (themselves without an escape) and its end */
function readEscape(bytes: Buffer, offset: number): { value: number; end: number } {
  let end = offset + 1;
  if (bytes[offset] === percent) {
    const value = readHex(bytes, end);
    return value === -1 ? { value: percent, end } : { value, end: end + 2 };
  }
  while (bytes[end] === backslash) end += 1;
  const next = bytes[end];
  if (next === slash || next === quote) return { value: next, end: end + 1 };
  const isUnicode = next === 0x75 && bytes[end + 1] === 0x30 && bytes[end + 2] === 0x30;
  const value = isUnicode ? readHex(bytes, end + 3) : -1;
  return value === -1 ? { value: backslash, end } : { value, end: end + 5 };
}

/** The byte of two hex digits; -1 for other characters. */
function readHex(bytes: Buffer, offset: number): number {
  const high = hexDigit(bytes[offset]);
  const low = hexDigit(bytes[offset + 1]);
  return high === -1 || low === -1 ? -1 : high * 16 + low;
}

function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
