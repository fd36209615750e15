// The records of the bench's pages: those of the sandbox, two thousand of them, with what is a record's own written
// over for every copy (ids, hashes, links, owners), so that nothing compresses better than real rows do.
import { createWorld } from '../src/sandbox/world.ts';

export type Kind = 'asset' | 'token_account';

/** One list the server has: the assets of a collection, the accounts of a mint. */
export interface Target {
  name: string;
  kind: Kind;
  /** Number of the target among its kind: where its records' random letters begin. */
  number: number;
  records: number;
}

/** A record's text, and where its own parts stand in it. */
interface Template {
  bytes: Buffer;
  own: { offset: number; length: number; part: 'id' | 'target' | 'owner' | number }[];
}

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const keyLength = 44;
const templateCount = 2000;
/** The first assets of the sandbox are specimens: each odd in its way, and rare in reality. */
const firstTemplate = 1000;
/** Distinct owners: the sandbox's 6 assets an owner, at a million assets. */
const ownerCount = 166_667;

/** What stands in a template for the id, the list the record belongs to, and its owner: nothing else looks like it. */
const marks = { id: 'I'.repeat(keyLength), target: 'T'.repeat(keyLength), owner: 'O'.repeat(keyLength) };

export function createTemplates(): Record<Kind, Template[]> {
  const world = createWorld({ assets: templateCount * 10, owners: templateCount });
  const numbers = Array.from({ length: templateCount }, (_, n) => n);
  return {
    asset: numbers.map((n) => parseTemplate(world.assetWriter.write(firstTemplate + n, { content: 'full' }))),
    token_account: numbers.map((n) => parseTemplate(world.tokenAccounts.write(firstTemplate + n))),
  };
}

function parseTemplate(record: string): Template {
  const text = record
    .replace(/^(\{"interface":"\w+","id":|\{"address":)"\w+"/, `$1"${marks.id}"`)
    .replace(/("group_key":"collection","group_value":|"mint":)"\w+"/, `$1"${marks.target}"`)
    .replace(/"owner":"\w+"/, `"owner":"${marks.owner}"`);
  const own: Template['own'] = [];
  const letters: string[] = [];
  const add = (index: number, length: number, part: Template['own'][number]['part']) =>
    own.push({ offset: Buffer.byteLength(text.slice(0, index)), length, part });
  for (const [part, mark] of Object.entries(marks) as ['id' | 'target' | 'owner', string][]) {
    const index = text.indexOf(mark);
    if (index >= 0) add(index, keyLength, part);
  }
  const pattern = /(?<=arweave\.net\/|\/img\/|_hash":")[\w-]{24,}/g;
  for (const { 0: found, index } of text.matchAll(pattern)) {
    // One link may stand in a record twice; it stays the same one.
    if (!letters.includes(found)) letters.push(found);
    add(index, found.length, letters.indexOf(found));
  }
  return { bytes: Buffer.from(text), own };
}

/**
 * The records `from` to `to` of a target, with commas between. Ids descend, evenly over all there could be.
 * @param changes nights in which one record in a hundred, another one each time, got another owner
 */
export function renderRecords(
  templates: readonly Template[],
  target: Target,
  from: number,
  to: number,
  changes = 0,
): Buffer {
  const chosen = Array.from(
    { length: to - from },
    (_, n) => templates[(target.number * 7 + from + n) % templateCount]!,
  );
  const commas = Math.max(0, chosen.length - 1);
  const page = Buffer.allocUnsafe(chosen.reduce((sum, { bytes }) => sum + bytes.length, commas));
  let at = 0;
  for (const [n, { bytes, own }] of chosen.entries()) {
    if (n > 0) at += page.write(',', at);
    bytes.copy(page, at);
    const seed = mix(target.number * 0x9e3779b1 + from + n + 1);
    const sales = Math.floor((changes + (seed % 100)) / 100);
    for (const { offset, length, part } of own) {
      if (part === 'target') page.write(target.name, at + offset, 'latin1');
      else if (part === 'owner')
        writeLetters(page, at + offset, length, ((seed + sales) % ownerCount) * 0x2545f491);
      else writeLetters(page, at + offset, length, seed + (part === 'id' ? 0 : part + 1));
      if (part === 'id')
        writeRank(page, at + offset, (target.records - from - n - seed / 2 ** 32) / target.records);
    }
    at += bytes.length;
  }
  return page;
}

/** The first letters of an id: a share of the numbers 32 bytes can hold (44 digits, the first at most `H`). */
function writeRank(page: Buffer, at: number, share: number): void {
  let rest = share * 15;
  for (let digit = 0; digit < 6; digit += 1) {
    page[at + digit] = base58.charCodeAt(Math.floor(rest) + (digit === 0 ? 1 : 0));
    rest = (rest % 1) * 58;
  }
}

function writeLetters(page: Buffer, at: number, length: number, seed: number): void {
  let word = seed;
  for (let n = 0; n < length; n += 1) {
    if (n % 4 === 0) word = mix(word + n + 1);
    page[at + n] = base58.charCodeAt(((word >>> ((n % 4) * 8)) & 255) % 58);
  }
}

/** A 32-bit hash (murmur3's finalizer). */
function mix(value: number): number {
  let word = value | 0;
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return (word ^ (word >>> 16)) >>> 0;
}

/** Targets `from` to `to` of a kind, the same in every process. */
export function listTargets(kind: Kind, from: number, to: number, records: number): Target[] {
  return Array.from({ length: to - from }, (_, n) => {
    const name = Buffer.alloc(keyLength);
    writeLetters(name, 0, keyLength, mix((from + n) * 2 + (kind === 'asset' ? 0 : 1) + 0x5eed));
    name[0] = base58.charCodeAt(((from + n) % 14) + 1);
    return { name: name.toString('latin1'), kind, number: from + n, records };
  });
}
