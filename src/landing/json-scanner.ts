import { isUtf8 } from 'node:buffer';
import { ARRAY, NULL, OBJECT, type RecordForms, SCALAR, UNTRACKED } from './record-forms.ts';

/** The bytes are not one valid JSON document (RFC 8259), or an ambiguous one. */
export class MalformedPage extends Error {
  /** Byte offset into the body. */
  readonly offset: number;

  constructor(what: string, offset: number) {
    super(`malformed answer: ${what} at byte ${offset}`);
    this.name = 'MalformedPage';
    this.offset = offset;
  }
}

export const OPEN_OBJECT = 0x7b;
export const OPEN_ARRAY = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_ARRAY = 0x5d;
const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const LOWER_E = 0x65;
const SPACE = 0x20;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
export const LOWER_N = 0x6e;
const LOWER_U = 0x75;

/** 1 for every byte that stands for itself inside a string: all but `"`, `\` and control characters. */
const plain = new Uint8Array(256).fill(1).fill(0, 0, SPACE);
plain[QUOTE] = 0;
plain[BACKSLASH] = 0;

const escapable = new Uint8Array(256);
for (const char of '"\\/bfnrt') escapable[char.charCodeAt(0)] = 1;

const literals = ['true', 'false', 'null'].map((word) => Buffer.from(word));

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

/**
 * Finds the bytes of values in a JSON document and validates it against RFC 8259, in one pass. It builds no values, because
 * JSON.parse would corrupt integers above 2^53. Three fields describe the skipped value; the caller resets them (`takeRecord`
 * in split.ts).
 *
 * `pos` is the current offset. Methods that take an offset and return one are the hot inner parts: they keep it in a
 * register instead of the field. An explicit comparison avoids reads past the end, because one such read would make V8
 * compile every later one slower.
 */
export class JsonScanner {
  pos = 0;
  /** Deepest nesting of arrays and objects inside one skipped value. */
  depth = 0;
  /** There was a raw newline or carriage return between tokens. */
  brokenLine = false;
  /** There was a `\u` escape of one half of a surrogate pair without the other. */
  loneSurrogate = false;

  readonly bytes: Buffer;
  /** Per open container inside `skip`: -1 for an object, else the array's node in the form tree. */
  #open = new Int32Array(256);
  readonly #forms: RecordForms;

  /**
   * Begins at the first token, behind a byte order mark.
   * @throws MalformedPage unless the bytes are UTF-8
   * @param forms remembers the forms of the records that are skipped
   */
  constructor(bytes: Buffer, forms: RecordForms) {
    this.bytes = bytes;
    this.#forms = forms;
    if (!isUtf8(bytes)) {
      const repaired = Buffer.from(bytes.toString());
      throw new MalformedPage(
        'not UTF-8',
        bytes.findIndex((byte, i) => byte !== repaired[i]),
      );
    }
    const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    this.pos = this.#space(marked ? 3 : 0);
  }

  /** The byte at `pos`, 0 at the end (a NUL is never a token). */
  peek(): number {
    return this.#at(this.pos);
  }

  /** Throws MalformedPage unless only whitespace is left. */
  end(): void {
    this.pos = this.#space(this.pos);
    if (this.pos < this.bytes.length) throw this.#unexpected(this.pos);
  }

  /** At an object: calls `visit` at each member's value, with the decoded key. `visit` must consume the value. */
  members(visit: (key: string) => void): void {
    let i = this.#space(this.pos + 1);
    let first = true;
    while (this.#at(i) !== CLOSE_OBJECT) {
      if (!first) i = this.#space(this.#expect(COMMA, i));
      first = false;
      const end = this.#string(this.#expect(QUOTE, i));
      const raw = this.bytes.subarray(i, end);
      const key: string = raw.includes(BACKSLASH)
        ? JSON.parse(raw.toString())
        : raw.toString('utf8', 1, raw.length - 1);
      this.pos = this.#space(this.#expect(COLON, this.#space(end)));
      visit(key);
      i = this.#space(this.pos);
    }
    this.pos = i + 1;
  }

  /** At an array: calls `visit` at each element, which `visit` must consume (`skip`, `members` or `elements`). */
  elements(visit: () => void): void {
    let i = this.#space(this.pos + 1);
    let first = true;
    while (this.#at(i) !== CLOSE_ARRAY) {
      if (!first) i = this.#space(this.#expect(COMMA, i));
      first = false;
      this.pos = i;
      visit();
      i = this.#space(this.pos);
    }
    this.pos = i + 1;
  }

  /**
   * Consumes one value of any depth: open containers are in an array, not on the call stack.
   * It is one function although long, because split in two the offset and the state would leave their registers.
   * @param root the form node to begin at: ROOT for a record
   * @returns the form node where the value ends
   */
  skip(root: number = UNTRACKED): number {
    const bytes = this.bytes;
    const length = bytes.length;
    const forms = this.#forms;
    let node = root;
    let i = this.pos;
    let depth = 0;
    let inObject = false;
    for (;;) {
      // A value begins here.
      let byte = i < length ? bytes[i]! : 0;
      if (byte === QUOTE) {
        i = this.#string(i + 1);
        node = forms.child(node, SCALAR);
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        inObject = byte === OPEN_OBJECT;
        node = forms.child(node, inObject ? OBJECT : ARRAY);
        if (depth === this.#open.length) this.#grow();
        this.#open[depth++] = inObject ? -1 : node;
        if (depth > this.depth) this.depth = depth;
        i = this.#space(i + 1);
        byte = i < length ? bytes[i]! : 0;
        if (byte !== (inObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
          if (inObject) {
            i = this.#key(i, node);
            node = forms.valueNode;
          } else {
            node = forms.element(node);
          }
          continue;
        }
      } else {
        i = this.#scalar(i, byte);
        node = forms.child(node, byte === LOWER_N ? NULL : SCALAR);
      }
      // A value ended before i, or the container just opened is empty and closes at i.
      for (;;) {
        if (depth === 0) {
          this.pos = i;
          return node;
        }
        byte = i < length ? bytes[i]! : 0;
        if (byte <= SPACE) {
          i = this.#space(i);
          byte = this.#at(i);
        }
        // An element of the array ended (nothing ended if the array is empty).
        const array = this.#open[depth - 1]!;
        if (!inObject && node !== array) node = this.#open[depth - 1] = forms.afterElement(array, node);
        if (byte === COMMA) {
          i++;
          if (inObject) {
            i = this.#key(i, node);
            node = forms.valueNode;
          } else {
            i = this.#space(i);
            node = forms.element(node);
          }
          break;
        }
        if (byte !== (inObject ? CLOSE_OBJECT : CLOSE_ARRAY)) throw this.#unexpected(i);
        i++;
        depth--;
        node = forms.close(node);
        inObject = depth > 0 && this.#open[depth - 1] === -1;
      }
    }
  }

  /** From before a key to its value. */
  #key(from: number, node: number): number {
    const bytes = this.bytes;
    let i = from;
    if (i < bytes.length && bytes[i]! !== QUOTE) i = this.#space(i);
    const keyEnd = this.#forms.matchKey(node, bytes, i);
    if (keyEnd >= 0) {
      i = keyEnd;
    } else {
      const begin = i;
      i = this.#string(this.#expect(QUOTE, i));
      // A key with an escape is not remembered: two spellings may be the same key.
      const key = bytes.subarray(begin, i);
      this.#forms.addKey(key.includes(BACKSLASH) ? UNTRACKED : node, key);
    }
    if (i < bytes.length && bytes[i]! !== COLON) i = this.#space(i);
    i = this.#expect(COLON, i);
    return i < bytes.length && bytes[i]! <= SPACE ? this.#space(i) : i;
  }

  /**
   * From behind the opening quote to behind the closing one. Four bytes a step make a page of assets a fifth
   * faster; `indexOf` finds the quote sooner still, but every byte has to be looked at: it may be a control.
   */
  #string(from: number): number {
    const bytes = this.bytes;
    const length = bytes.length;
    let i = from;
    for (;;) {
      for (; i + 4 <= length; i += 4) {
        const four =
          plain[bytes[i]!]! & plain[bytes[i + 1]!]! & plain[bytes[i + 2]!]! & plain[bytes[i + 3]!]!;
        if (four === 0) break;
      }
      while (i < length && plain[bytes[i]!] === 1) i++;
      if (i >= length) throw this.#unexpected(i);
      const byte = bytes[i]!;
      if (byte === QUOTE) return i + 1;
      if (byte !== BACKSLASH) throw this.#unexpected(i);
      i = this.#escape(i);
    }
  }

  /** From a backslash to behind its escape; of a surrogate pair, behind both. */
  #escape(at: number): number {
    const byte = this.#at(at + 1);
    if (byte !== LOWER_U) {
      if (escapable[byte] !== 1) throw this.#unexpected(at + 1);
      return at + 2;
    }
    const unit = this.#hex(at + 2);
    if (unit < 0xd800 || unit > 0xdfff) return at + 6;
    if (unit < 0xdc00 && this.#at(at + 6) === BACKSLASH && this.#at(at + 7) === LOWER_U) {
      const next = this.#hex(at + 8);
      if (next >= 0xdc00 && next <= 0xdfff) return at + 12;
    }
    this.loneSurrogate = true;
    return at + 6;
  }

  #hex(at: number): number {
    let unit = 0;
    for (let i = at; i < at + 4; i++) {
      const byte = this.#at(i);
      const letter = byte | 0x20;
      if (isDigit(byte)) unit = unit * 16 + byte - 0x30;
      else if (letter >= 0x61 && letter <= 0x66) unit = unit * 16 + letter - 0x57;
      else throw this.#unexpected(i);
    }
    return unit;
  }

  /** From a number or literal, whose first byte is given, to behind it. */
  #scalar(from: number, first: number): number {
    if (first === MINUS || isDigit(first)) return this.#number(from);
    for (const word of literals) {
      if (word[0] !== first) continue;
      for (let k = 1; k < word.length; k++)
        if (this.#at(from + k) !== word[k]) throw this.#unexpected(from + k);
      return from + word.length;
    }
    throw this.#unexpected(from);
  }

  #number(from: number): number {
    let i = this.#at(from) === MINUS ? from + 1 : from;
    i = this.#at(i) === 0x30 ? i + 1 : this.#digits(i);
    if (this.#at(i) === DOT) i = this.#digits(i + 1);
    if ((this.#at(i) | 0x20) === LOWER_E) {
      const sign = this.#at(i + 1);
      i = this.#digits(sign === MINUS || sign === PLUS ? i + 2 : i + 1);
    }
    return i;
  }

  /** Past one digit at least. */
  #digits(from: number): number {
    const bytes = this.bytes;
    const length = bytes.length;
    let i = from;
    while (i < length && isDigit(bytes[i]!)) i++;
    if (i === from) throw this.#unexpected(i);
    return i;
  }

  #space(from: number): number {
    const bytes = this.bytes;
    const length = bytes.length;
    let i = from;
    for (; i < length; i++) {
      const byte = bytes[i]!;
      if (byte > SPACE) break;
      if (byte === NEWLINE || byte === RETURN) this.brokenLine = true;
      else if (byte !== SPACE && byte !== 0x09) break;
    }
    return i;
  }

  #expect(byte: number, at: number): number {
    if (this.#at(at) !== byte) throw this.#unexpected(at);
    return at + 1;
  }

  #at(i: number): number {
    return i < this.bytes.length ? this.bytes[i]! : 0;
  }

  #grow(): void {
    const wider = new Int32Array(this.#open.length * 2);
    wider.set(this.#open);
    this.#open = wider;
  }

  #unexpected(at: number): MalformedPage {
    return new MalformedPage(at < this.bytes.length ? 'unexpected byte' : 'unexpected end', at);
  }
}
