import { LandingRecord } from '../landing/landing-record.ts';
import { type SplitPage, sliceEnvelope } from '../landing/split.ts';
import type { Operation } from '../operations/operation.ts';
import { BrokenCursor } from './crawl-task.ts';

/** What the crawl reads from an answer; the records themselves stay bytes. */
export interface PageAnswer {
  records: LandingRecord[];
  /** Records that are `null`: in a batch, ids the source does not know; in a list, rows that it could not give. */
  nulls: number;
  /** Slot the answer reflects; null where it names none. */
  slot: number | null;
  cursor: string | null;
  /** Whether the answer says that there are more records; null where it says neither. */
  more: boolean | null;
  /** The answer's text without its records. */
  envelope: string;
  /** Whether this replaces an error that meant "there is nothing". */
  isNoData?: true;
}

/** An answer, when it was received, and how high a slot could be then. */
export interface ReceivedPage extends PageAnswer {
  receivedAt: Date;
  slotCeiling: number;
}

/** Servers take no longer URL, and real cursors have some hundred characters. A page's line holds it three times. */
const maxCursorLength = 16_384;

const nullRecord = Buffer.from('null');

/**
 * Reads the envelope of one answer: slot, cursor, refused ids.
 * An `errors` entry replaces a record, so it lands as a record that is quarantined. So does a null among a list's
 * records, which may be any row. In a batch, or as the only record, a null means "unknown".
 */
export function receivePage(operation: Operation, page: SplitPage): PageAnswer {
  const result = resultOf(page);
  const present = page.records.filter((record) => !isNull(record));
  const nulls = page.records.length - present.length;
  const isList = !['batch', 'none'].includes(operation.paging);
  const records = isList && nulls > 0 ? page.records.map(refuseNull) : present;
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

function refused(bytes: Buffer, refusal: LandingRecord['refusal']): LandingRecord {
  const record = new LandingRecord(bytes);
  record.refusal = refusal;
  return record;
}

/** The slot an answer reflects; null where it names none, or one of 0 or below. */
export function readSlot(operation: Operation, page: SplitPage): number | null {
  return firstSlot(resultOf(page), operation.slotAt);
}

function resultOf({ enveloped, envelope }: SplitPage): unknown {
  return enveloped ? (envelope as { result: unknown }).result : envelope;
}

/** The page of an error that means "there is nothing", such as a wallet's 404. */
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

/** A slot, also as text; null for anything else, and for 0, which means "not indexed yet". */
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
 * @throws BrokenCursor for anything else, also for text that cannot be sent: half a surrogate pair, or too long
 */
function readCursor(page: SplitPage, value: unknown, path: readonly string[]): string | null {
  const cursor = readCursorText(page, value, path);
  // No TooBigAnswer: a smaller page would not make the cursor shorter.
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
