/**
 * How an API key may come back in an answer: as it is, in lower or upper case, reversed, in hex, or in base64 at any of
 * the three offsets it may have in a longer text; each of them also with characters written as `%hh`, `\u00hh` or `\/`.
 */
export interface KeyEcho {
  /** Whether the bytes hold the key. Costs little beside splitting the page (`bench/split.ts`). */
  isIn(bytes: Buffer): boolean;
  /** The text with `[key]` in every place of the key. */
  redact(text: string): string;
}

/** @param key printable ASCII, 4 characters or more */
export function createKeyEcho(key: string): KeyEcho {
  const spellings = listSpellings(key);
  const search = createSearch(spellings.map((text) => Buffer.from(text)));
  const pattern = new RegExp(spellings.map(patternOf).join('|'), 'g');
  return {
    isIn(bytes) {
      if (search(bytes)) return true;
      const plain = unescapeBytes(bytes);
      return plain !== bytes && search(plain);
    },
    redact: (text) => text.replace(pattern, '[key]'),
  };
}

/** The longest first, because a shorter one may be a part of it. */
function listSpellings(key: string): string[] {
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
  const all = new Set([hex, hex.toUpperCase(), ...base64, ...urlSafe, ...cases, reversed]);
  return [...all].sort((a, b) => b.length - a.length);
}

const gram = 4;

/**
 * Finds any of the texts in one pass that looks at few bytes: whatever holds one of them holds four of its bytes at
 * every `step`th place, and those are in the table. Only around such places the texts themselves are compared.
 */
function createSearch(texts: readonly Buffer[]): (bytes: Buffer) => boolean {
  const lengths = texts.map((text) => text.length);
  const step = Math.min(...lengths) - gram + 1;
  const longest = Math.max(...lengths);
  const isGram = new Uint8Array(1 << 16);
  for (const text of texts) for (let i = 0; i + gram <= text.length; i += 1) isGram[hashGram(text, i)] = 1;
  return (bytes) => {
    for (let i = 0; i + gram <= bytes.length; i += step) {
      if (isGram[hashGram(bytes, i)] === 0) continue;
      const around = bytes.subarray(Math.max(0, i - longest), i + longest);
      if (texts.some((text) => around.includes(text))) return true;
    }
    return false;
  };
}

function hashGram(bytes: Uint8Array, i: number): number {
  const word = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
  return Math.imul(word, 0x9e3779b1) >>> 16;
}

const percent = 0x25;
const backslash = 0x5c;
const slash = 0x2f;

/** The bytes with `%hh`, `\u00hh` and `\/` (also behind several backslashes) read; the same buffer when there is none. */
function unescapeBytes(bytes: Buffer): Buffer {
  const out: Uint8Array[] = [];
  let copied = 0;
  let nextPercent = bytes.indexOf(percent);
  let nextBackslash = bytes.indexOf(backslash);
  while (nextPercent !== -1 || nextBackslash !== -1) {
    const isPercent = nextBackslash === -1 || (nextPercent !== -1 && nextPercent < nextBackslash);
    const at = isPercent ? nextPercent : nextBackslash;
    const { value, end } = isPercent ? readPercent(bytes, at) : readBackslash(bytes, at);
    if (value !== null) {
      out.push(bytes.subarray(copied, at), Uint8Array.of(value));
      copied = end;
    }
    if (isPercent) nextPercent = bytes.indexOf(percent, end);
    else nextBackslash = bytes.indexOf(backslash, end);
  }
  return copied === 0 ? bytes : Buffer.concat([...out, bytes.subarray(copied)]);
}

/** What an escape stands for (null: it is none), and where the bytes go on. */
interface Escape {
  value: number | null;
  end: number;
}

function readPercent(bytes: Buffer, at: number): Escape {
  const value = hexByte(bytes, at + 1);
  return value === null ? { value, end: at + 1 } : { value, end: at + 3 };
}

function readBackslash(bytes: Buffer, at: number): Escape {
  let end = at + 1;
  while (bytes[end] === backslash) end += 1;
  if (bytes[end] === slash) return { value: slash, end: end + 1 };
  const isUnicode = bytes[end] === 0x75 && bytes[end + 1] === 0x30 && bytes[end + 2] === 0x30;
  const value = isUnicode ? hexByte(bytes, end + 3) : null;
  return value === null ? { value, end } : { value, end: end + 5 };
}

function hexByte(bytes: Buffer, at: number): number | null {
  const high = hexDigit(bytes[at]);
  const low = hexDigit(bytes[at + 1]);
  return high === -1 || low === -1 ? null : high * 16 + low;
}

function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** A pattern for a text each of whose characters may be escaped. */
function patternOf(text: string): string {
  return [...text]
    .map((char) => {
      const code = char.charCodeAt(0).toString(16).padStart(2, '0');
      const hex = code.replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`);
      const plain = char === '/' ? '\\\\*\\/' : char.replace(/[^a-zA-Z0-9]/, '\\$&');
      return `(?:${plain}|%${hex}|\\\\+u00${hex})`;
    })
    .join('');
}
