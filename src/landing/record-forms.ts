/** The kinds of values that a form distinguishes; strings, numbers and booleans are one kind. */
export const OBJECT = 0;
export const ARRAY = 1;
export const NULL = 2;
export const SCALAR = 3;
export type ValueKind = typeof OBJECT | typeof ARRAY | typeof NULL | typeof SCALAR;

/** The node for values whose form is not tracked: every edge from it leads back to it. */
export const UNTRACKED = 0;
/** The node where every record begins. */
export const ROOT = 1;

/** Fields of a node: 0 to 3 are the edges by kind of value, then its first key, and the edge taken when the container closes. */
const KEYS = 4;
const CLOSED = 5;
/** More fields of an array's node: where its elements begin, the end of the last element, and the array's node before that element. */
const ELEMENT = 6;
const LAST = 7;
const BEFORE = 8;
const nodeFields = 9;

/** Fields of a key: its bytes with their quotes, the node where its value begins, and the next key of the same node. */
const BYTES = 0;
const LENGTH = 1;
const VALUE = 2;
const NEXT = 3;
const keyFields = 4;

/** When one of these is reached, the records have too many forms to be worth remembering: the tree is cleared. */
const maxNodes = 1 << 17;
const maxKeys = 1 << 16;
const maxKeyBytes = 1 << 20;
const maxTotalFormLength = 1 << 24;
/** An object with more keys than this at one node has data for keys; so has an array with more forms of elements. */
const maxBranches = 64;

/**
 * A trie of the forms of scanned records. The keys of a record and the kinds of its values are a path from ROOT to the node
 * where the record ends, and records of one form take the same path. An array's element counts only if its form differs
 * from those of the elements before it.
 *
 * This is hot: the scanner calls it at every key and value. A key already seen at a node is found by comparing its bytes,
 * which costs no more than scanning it.
 */
export class RecordForms {
  /** The node where the value of the key begins that `matchKey` or `addKey` was last called for. */
  valueNode = UNTRACKED;
  #nodes = new Int32Array(1024 * nodeFields);
  #nodeCount = 2;
  #keys = new Int32Array(1024 * keyFields);
  #keyCount = 1;
  #bytes = Buffer.alloc(1 << 14);
  #byteCount = 0;
  /** By `node * maxNodes + end`: an array's node after an element that ended at the node `end`. */
  #arrays = new Map<number, number>();
  /** Forms by the node where their records end. */
  #forms = new Map<number, string>();
  /** Characters of all remembered forms. */
  #totalFormLength = 0;
  #full = false;
  /** Keys that the last `matchKey` compared. */
  #keysCompared = 0;

  /** The node after a value of this kind at `node`: inside it for an object or array, else behind it. */
  child(node: number, kind: ValueKind): number {
    return this.#follow(node, kind);
  }

  /** The node behind the object or array that closes at `node`. */
  close(node: number): number {
    return this.#follow(node, CLOSED);
  }

  /** The node where each element of the array begins. */
  element(array: number): number {
    return this.#follow(array, ELEMENT);
  }

  /** The array's node after an element that ended at the node `end`. */
  afterElement(array: number, end: number): number {
    if (end === UNTRACKED) return UNTRACKED;
    if (this.#nodes[array * nodeFields + LAST] === end) return array;
    const cached = this.#arrays.get(array * maxNodes + end);
    return cached ?? this.#addElement(array, end);
  }

  /** The offset behind the key (with its quotes) that begins at `from`, if it was seen at this node; else -1. */
  matchKey(node: number, bytes: Buffer, from: number): number {
    const stored = this.#bytes;
    this.#keysCompared = 0;
    for (let key = this.#nodes[node * nodeFields + KEYS]!; key !== 0; ) {
      const at = key * keyFields;
      const begin = this.#keys[at + BYTES]!;
      const length = this.#keys[at + LENGTH]!;
      let n = from + length <= bytes.length ? 0 : length + 1;
      while (n < length && bytes[from + n] === stored[begin + n]) n++;
      if (n === length) {
        this.valueNode = this.#keys[at + VALUE]!;
        return from + length;
      }
      key = this.#keys[at + NEXT]!;
      this.#keysCompared++;
    }
    return -1;
  }

  /** Remembers a key, with its quotes, that `matchKey` has just not found at this node. */
  addKey(node: number, key: Buffer): void {
    if (this.#keyCount === maxKeys || this.#byteCount + key.length > maxKeyBytes) this.#full = true;
    this.valueNode = node === UNTRACKED || this.#keysCompared === maxBranches ? UNTRACKED : this.#addNode();
    if (this.valueNode === UNTRACKED) return;
    if (this.#keys.length === this.#keyCount * keyFields) this.#keys = grown(this.#keys);
    while (this.#bytes.length < this.#byteCount + key.length)
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)]);
    const at = this.#keyCount * keyFields;
    this.#keys[at + BYTES] = this.#byteCount;
    this.#keys[at + LENGTH] = key.length;
    this.#keys[at + VALUE] = this.valueNode;
    this.#keys[at + NEXT] = this.#nodes[node * nodeFields + KEYS]!;
    this.#nodes[node * nodeFields + KEYS] = this.#keyCount++;
    this.#byteCount += key.copy(this.#bytes, this.#byteCount);
  }

  /** The form of records that end at this node, made once by `describe`; undefined if it is not tracked. */
  formOf(node: number, describe: () => string): string | undefined {
    if (this.#full) this.#clear();
    else if (node !== UNTRACKED) {
      const cached = this.#forms.get(node);
      if (cached !== undefined) return cached;
      const form = describe();
      this.#forms.set(node, form);
      this.#totalFormLength += form.length;
      if (this.#totalFormLength > maxTotalFormLength) this.#full = true;
      return form;
    }
    return undefined;
  }

  #follow(node: number, field: number): number {
    const at = node * nodeFields + field;
    const to = this.#nodes[at]!;
    if (to !== 0 || node === UNTRACKED) return to;
    const added = this.#addNode();
    this.#nodes[at] = added;
    return added;
  }

  #addElement(array: number, end: number): number {
    if (array === UNTRACKED) return UNTRACKED;
    const field = (node: number, name: number) => this.#nodes[node * nodeFields + name]!;
    let to = UNTRACKED;
    let branches = 0;
    for (let node = array; field(node, LAST) !== 0; node = field(node, BEFORE)) {
      if (field(node, LAST) === end) to = array;
      branches++;
    }
    if (branches === maxBranches) return UNTRACKED;
    if (to === UNTRACKED) {
      const element = this.element(array);
      to = this.#addNode();
      if (to === UNTRACKED) return UNTRACKED;
      const at = to * nodeFields;
      this.#nodes[at + ELEMENT] = element;
      this.#nodes[at + LAST] = end;
      this.#nodes[at + BEFORE] = array;
    }
    this.#arrays.set(array * maxNodes + end, to);
    return to;
  }

  #addNode(): number {
    if (this.#nodeCount === maxNodes) this.#full = true;
    if (this.#full) return UNTRACKED;
    if (this.#nodes.length === this.#nodeCount * nodeFields) this.#nodes = grown(this.#nodes);
    return this.#nodeCount++;
  }

  #clear(): void {
    this.#nodes.fill(0);
    this.#nodeCount = 2;
    this.#keyCount = 1;
    this.#byteCount = 0;
    this.#arrays.clear();
    this.#forms.clear();
    this.#totalFormLength = 0;
    this.#full = false;
  }
}

function grown(fields: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const wider = new Int32Array(fields.length * 2);
  wider.set(fields);
  return wider;
}
