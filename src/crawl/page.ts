import { LandingRecord } from '../landing/landing-record.ts';
import { type SplitPage, sliceEnvelope } from '../landing/split.ts';
import type { Operation } from '../operations/operation.ts';
import { BrokenCursor } from './crawl-failures.ts';

/** What the crawl reads from an answer; the records themselves stay bytes. */
export interface PageAnswer {
  records: LandingRecord[];
  /** `null` answers: of a batch, ids the source does not know; of a list, rows that it could not give. */
  nulls: number;
  /** Slot the answer says it reflects; null where it says none. */
  slot: number | null;
  cursor: string | null;
  /** Whether the answer says that there are more; null where it says nothing. */
  more: boolean | null;
  /** The answer without its records, in the text it came as. */
  envelope: string;
  /** Whether it stands for the word that there is nothing. */
  isNoData?: true;
}

/** An answer that came when slots could be this high. */
export interface ReceivedPage extends PageAnswer {
  slotCeiling: number;
}

/** A server takes no longer URL; cursors are ids, or some hundred characters. It stands in a page's line three times. */
const maxCursorLength = 16_384;

const nullRecord = Buffer.from('null');

/**
 * Reads the envelope of one answer: slot, cursor, refused ids.
 * An `errors` entry takes the place of a record (API notes, "Lists"), so it lands as a record that is quarantined. So
 * does a null among a list's records: it may be any row. In a batch, or as the one answer, it is the answer "unknown".
 */
export function receivePage(operation: Operation, page: SplitPage): PageAnswer {
  const result = resultOf(page);
  const known = page.records.filter((record) => !isNull(record));
  const nulls = page.records.length - known.length;
  const isList = !['batch', 'none'].includes(operation.paging);
  const records = isList && nulls > 0 ? page.records.map(refuseNull) : known;
  if (Array.isArray(memberAt(result, ['errors']))) {
    for (const bytes of sliceEnvelope(page.envelopeText, { path: ['errors'], form: 'array' }))
      records.push(refused(bytes, 'the answer had an error in its place'));
  }
  return {
    records,
    nulls,
    slot: readSlot(operation, page),
    cursor:
      operation.cursorAt === undefined
        ? null
        : readCursor(page, memberAt(result, operation.cursorAt), operation.cursorAt),
    more: operation.moreAt === undefined ? null : readFlag(memberAt(result, operation.moreAt)),
    envelope: page.envelopeText,
  };
}

export function isNull(record: LandingRecord): boolean {
  return record.length === nullRecord.length && record.bytes.equals(nullRecord);
}

function refuseNull(record: LandingRecord): LandingRecord {
  return isNull(record) ? refused(nullRecord, 'the answer had null in its place') : record;
}

function refused(bytes: Buffer, refusal: string): LandingRecord {
  const record = new LandingRecord(bytes);
  record.refusal = refusal;
  return record;
}

/** The slot an answer says it reflects; null where it says none. A negative one is none, and 0. */
export function readSlot(operation: Operation, page: SplitPage): number | null {
  return firstSlot(resultOf(page), operation.slotAt);
}

function resultOf({ enveloped, envelope }: SplitPage): unknown {
  return enveloped ? (envelope as { result: unknown }).result : envelope;
}

/** A wallet's 404 and the like, where there may be nothing: the answer is that there is nothing. */
export const noData: PageAnswer = {
  records: [],
  nulls: 1,
  slot: null,
  cursor: null,
  more: null,
  envelope: 'null',
  isNoData: true,
};

/** The member of a parsed value that a path leads to. */
export function memberAt(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (current === null || typeof current !== 'object' || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

function firstSlot(result: unknown, paths: readonly (readonly string[])[]): number | null {
  for (const path of paths) {
    const slot = readSlotNumber(memberAt(result, path));
    if (slot !== null) return slot;
  }
  return null;
}

/** A slot, also as text; null for anything else, and for 0, which says "not indexed yet". */
export function readSlotNumber(value: unknown): number | null {
  return readWhole(value) || null;
}

/** A whole number from 0 that a double holds, also as text; null for anything else. */
export function readWhole(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : null;
}

function readFlag(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

/**
 * Cursors are opaque; a number is sent back as the text it came as. Empty counts as none.
 * @throws BrokenCursor for anything else, also for text that cannot be sent: half a surrogate pair, or too much
 */
function readCursor(page: SplitPage, value: unknown, path: readonly string[]): string | null {
  const cursor = readCursorText(page, value, path);
  // Asking for less would not make it shorter.
  if (cursor !== null && cursor.length > maxCursorLength)
    throw new BrokenCursor(
      `the answer's cursor has ${cursor.length} characters, at most ${maxCursorLength} are taken`,
    );
  return cursor;
}

function readCursorText({ envelopeText }: SplitPage, value: unknown, path: readonly string[]): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string' && Buffer.from(value).toString() === value) return value;
  if (typeof value !== 'number') throw new BrokenCursor("the answer's cursor is neither text nor a number");
  return sliceEnvelope(envelopeText, { path, form: 'single' })[0]?.toString() ?? null;
}
