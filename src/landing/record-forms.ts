/** What a value is, as far as a form tells: strings, numbers and booleans are alike. */
export const OBJECT = 0;
export const ARRAY = 1;
export const NULL = 2;
export const SCALAR = 3;
export type ValueKind = typeof OBJECT | typeof ARRAY | typeof NULL | typeof SCALAR;

/** The place that every way from leads back to: what is passed over there has no form. */
export const NOWHERE = 0;
/** The place where every record begins. */
export const ROOT = 1;

/** Of a place: where each kind of value leads (0 to 3), its first key, and what follows the object or list. */
const KEYS = 4;
const CLOSED = 5;
/** Of a list's place besides: where its elements begin, the end of the element before it, and the place before that. */
const ELEMENT = 6;
const LAST = 7;
const BEFORE = 8;
const placeFields = 9;

/** Of a key: its bytes, quotes included, where its value begins, and the next key of the same place. */
const BYTES = 0;
const LENGTH = 1;
const VALUE = 2;
const NEXT = 3;
const keyFields = 4;

/** Lists whose records fill these are of too many forms for it to be worth knowing them: it begins anew. */
const maxPlaces = 1 << 17;
const maxKeys = 1 << 16;
const maxKeyBytes = 1 << 20;
const maxTold = 1 << 24;
/** A place with more keys than this is an object whose keys are data; a list likewise with more forms of elements. */
const maxBranches = 64;

/**
 * Remembers the forms of the records that a scanner passed over. It is a tree: the keys of a record and the kinds of
 * its values are a way from ROOT to the place where it ends, and records of one form take the same way. Of a list's
 * elements only those count that differ in form from those before them.
 *
 * Hot: the scanner asks at every key and value. A key that was seen at a place is found by comparing its bytes, which
 * costs what passing over it would.
 */
export class RecordForms {
  /** Where the value begins of the key that `passKey` passed. */
  value = NOWHERE;
  #places = new Int32Array(1024 * placeFields);
  #placeCount = 2;
  #keys = new Int32Array(1024 * keyFields);
  #keyCount = 1;
  #bytes = Buffer.alloc(1 << 14);
  #byteCount = 0;
  /** By `place * maxPlaces + end`: a list's place after an element that ended there. */
  #lists = new Map<number, number>();
  /** By the place where they end. */
  #forms = new Map<number, string>();
  /** Characters of all forms. */
  #told = 0;
  #full = false;
  /** Keys that `passKey` looked at last. */
  #looked = 0;

  /** Where a value that stands at `place` leads: into an object or a list, or behind anything else. */
  enter(place: number, kind: ValueKind): number {
    return this.#follow(place, kind);
  }

  /** From the end of an object or a list to behind it. */
  leave(place: number): number {
    return this.#follow(place, CLOSED);
  }

  /** Where the elements of the list begin. */
  element(list: number): number {
    return this.#follow(list, ELEMENT);
  }

  /** The list after an element that ended at `end`. */
  endElement(list: number, end: number): number {
    if (end === NOWHERE) return NOWHERE;
    if (this.#places[list * placeFields + LAST] === end) return list;
    const known = this.#lists.get(list * maxPlaces + end);
    return known ?? this.#addElement(list, end);
  }

  /** Where in `bytes` the key ends that begins there, quote included, if it was seen at `place`; else -1. */
  passKey(place: number, bytes: Buffer, from: number): number {
    const known = this.#bytes;
    this.#looked = 0;
    for (let key = this.#places[place * placeFields + KEYS]!; key !== 0; ) {
      const at = key * keyFields;
      const begin = this.#keys[at + BYTES]!;
      const length = this.#keys[at + LENGTH]!;
      let n = from + length <= bytes.length ? 0 : length + 1;
      while (n < length && bytes[from + n] === known[begin + n]) n++;
      if (n === length) {
        this.value = this.#keys[at + VALUE]!;
        return from + length;
      }
      key = this.#keys[at + NEXT]!;
      this.#looked++;
    }
    return -1;
  }

  /** Remembers that this key, quotes included, was seen at `place`, where `passKey` did not find it. */
  addKey(place: number, key: Buffer): void {
    if (this.#keyCount === maxKeys || this.#byteCount + key.length > maxKeyBytes) this.#full = true;
    this.value = place === NOWHERE || this.#looked === maxBranches ? NOWHERE : this.#addPlace();
    if (this.value === NOWHERE) return;
    if (this.#keys.length === this.#keyCount * keyFields) this.#keys = grown(this.#keys);
    while (this.#bytes.length < this.#byteCount + key.length)
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)]);
    const at = this.#keyCount * keyFields;
    this.#keys[at + BYTES] = this.#byteCount;
    this.#keys[at + LENGTH] = key.length;
    this.#keys[at + VALUE] = this.value;
    this.#keys[at + NEXT] = this.#places[place * placeFields + KEYS]!;
    this.#places[place * placeFields + KEYS] = this.#keyCount++;
    this.#byteCount += key.copy(this.#bytes, this.#byteCount);
  }

  /** The form of the records that end at `place`, told once by `tell`; undefined where there is none. */
  formAt(place: number, tell: () => string): string | undefined {
    if (this.#full) this.#beginAnew();
    else if (place !== NOWHERE) {
      const known = this.#forms.get(place);
      if (known !== undefined) return known;
      const form = tell();
      this.#forms.set(place, form);
      this.#told += form.length;
      if (this.#told > maxTold) this.#full = true;
      return form;
    }
    return undefined;
  }

  #follow(place: number, field: number): number {
    const at = place * placeFields + field;
    const to = this.#places[at]!;
    if (to !== 0 || place === NOWHERE) return to;
    const added = this.#addPlace();
    this.#places[at] = added;
    return added;
  }

  #addElement(list: number, end: number): number {
    if (list === NOWHERE) return NOWHERE;
    const field = (place: number, name: number) => this.#places[place * placeFields + name]!;
    let to = NOWHERE;
    let branches = 0;
    for (let one = list; field(one, LAST) !== 0; one = field(one, BEFORE)) {
      if (field(one, LAST) === end) to = list;
      branches++;
    }
    if (branches === maxBranches) return NOWHERE;
    if (to === NOWHERE) {
      const element = this.element(list);
      to = this.#addPlace();
      if (to === NOWHERE) return NOWHERE;
      const at = to * placeFields;
      this.#places[at + ELEMENT] = element;
      this.#places[at + LAST] = end;
      this.#places[at + BEFORE] = list;
    }
    this.#lists.set(list * maxPlaces + end, to);
    return to;
  }

  #addPlace(): number {
    if (this.#placeCount === maxPlaces) this.#full = true;
    if (this.#full) return NOWHERE;
    if (this.#places.length === this.#placeCount * placeFields) this.#places = grown(this.#places);
    return this.#placeCount++;
  }

  #beginAnew(): void {
    this.#places.fill(0);
    this.#placeCount = 2;
    this.#keyCount = 1;
    this.#byteCount = 0;
    this.#lists.clear();
    this.#forms.clear();
    this.#told = 0;
    this.#full = false;
  }
}

function grown(fields: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const wider = new Int32Array(fields.length * 2);
  wider.set(fields);
  return wider;
}
