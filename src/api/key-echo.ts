/**
 * How an API key may come back in an answer: as it is, in lower or upper case, reversed, in hex, or in base64 at any of
 * the three offsets it may have in a longer text; each of them also with characters written as `%hh` or `\u00hh`, or
 * with backslashes before them (`\"`, `\\`, `\/`).
 */
export interface KeyEcho {
  /** Whether the bytes hold the key. Costs little beside splitting the page (`bench/split.ts`). */
  isIn(bytes: Buffer): boolean;
  /**
   * The bytes as text, with `[key]` in every place of the key.
   * @param isCut whether more followed: the end is left out then, because it may be the first part of a key
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
      // An escape that was cut stands there as its characters.
      const end = isCut ? startOf(Math.max(0, plain.length - longest - longestEscape)) : bytes.length;
      return replaceRanges(bytes, [...found, ...find(bytes)], end);
    },
  };
}

/** The bytes up to `end` as text, with `[key]` for each of the ranges, and one for those that overlap. */
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

// A key that is mostly backslashes or escapes itself is not to be found in every text.
const fewestRead = 8;

/** What to look for, in bytes as they are and in those whose escapes were read. */
function listSpellings(key: string): Buffer[] {
  const bytes = Buffer.from(key);
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The characters at the ends also hold bits of what stands around the key.
    const last = (offset + bytes.length) % 3 === 0 ? text.length : text.length - 1;
    return text.slice(Math.ceil((offset * 8) / 6), last);
  });
  const urlSafe = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const reversed = [...key].reverse().join('');
  const cases = [key, key.toLowerCase(), key.toUpperCase()];
  const all = [hex, hex.toUpperCase(), ...base64, ...urlSafe, ...cases, reversed];
  // A key may itself have backslashes, which reading drops, and what looks like an escape.
  const read = all.flatMap((text) => [
    text.replaceAll('\\', ''),
    unescapeBytes(Buffer.from(text)).toString('latin1'),
  ]);
  const longEnough = read.filter(({ length }) => length >= Math.min(key.length, fewestRead));
  return [...new Set([...all, ...longEnough])].map((text) => Buffer.from(text, 'latin1'));
}

interface Range {
  from: number;
  to: number;
}

const gram = 4;

/**
 * Finds any of the texts in one pass that looks at few bytes: whatever holds one of them holds four of its bytes at
 * every `step`th place, and those are in the table. Only at such places the texts themselves are compared.
 * @returns finds the first `most` places, which may overlap or be the same
 */
function createFinder(texts: readonly Buffer[]): (bytes: Buffer, most?: number) => Range[] {
  const step = Math.min(...texts.map(({ length }) => length)) - gram + 1;
  const isGram = new Uint8Array(1 << 16);
  const placesOf = new Map<number, { text: Buffer; at: number }[]>();
  for (const text of texts)
    for (let at = 0; at + gram <= text.length; at += 1) {
      const hash = hashGram(text, at);
      isGram[hash] = 1;
      const places = placesOf.get(hash) ?? [];
      placesOf.set(hash, places);
      places.push({ text, at });
    }
  return (bytes, most = Number.POSITIVE_INFINITY) => {
    const found: Range[] = [];
    for (let i = 0; i + gram <= bytes.length; i += step) {
      const hash = hashGram(bytes, i);
      if (isGram[hash] === 0) continue;
      for (const { text, at } of placesOf.get(hash)!) {
        if (!standsAt(bytes, text, i - at)) continue;
        found.push({ from: i - at, to: i - at + text.length });
        if (found.length >= most) return found;
      }
    }
    return found;
  };
}

function standsAt(bytes: Buffer, text: Buffer, from: number): boolean {
  if (from < 0) return false;
  // Behind the end there is undefined, which equals no byte.
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

/** Whether an escape in the bytes stands for one of the characters: most pages have others only, if any. */
function holdsEscapeOf(characters: Uint8Array, bytes: Buffer): boolean {
  for (const sign of [percent, backslash])
    for (let at = bytes.indexOf(sign); at !== -1; ) {
      const { value, end } = readEscape(bytes, at);
      if (characters[value] === 1) return true;
      at = bytes[end] === sign ? end : bytes.indexOf(sign, end);
    }
  return false;
}

/**
 * The bytes with `%hh` and `\u00hh` read, and without any other backslash: how many of them stand before a character
 * depends on how often it was quoted.
 * @param ends filled with where each byte of the result ends in `bytes`
 */
function unescapeBytes(bytes: Buffer, ends?: Uint32Array): Buffer {
  const plain = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    let value = bytes[at]!;
    let end = at + 1;
    if (value === percent || value === backslash) ({ value, end } = readEscape(bytes, at));
    at = end;
    if (value === backslash) continue;
    plain[length] = value;
    if (ends !== undefined) ends[length] = end;
    length += 1;
  }
  return plain.subarray(0, length);
}

/** What the `%` or the backslashes at a place stand for (themselves, when they begin no escape), and where that ends. */
function readEscape(bytes: Buffer, at: number): { value: number; end: number } {
  let end = at + 1;
  if (bytes[at] === percent) {
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

/** The byte that two hex digits stand for; -1 when they are none. */
function readHex(bytes: Buffer, at: number): number {
  const high = hexDigit(bytes[at]);
  const low = hexDigit(bytes[at + 1]);
  return high === -1 || low === -1 ? -1 : high * 16 + low;
}

function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
