import type { LandingRecord } from '../landing/landing-record.ts';
import { type ReceivedPage, readSlotNumber, readWhole } from './page.ts';

/** What the records of a feed's page say of their place in the ledger. */
export interface FeedPage {
  /** Slot and Unix time of the record that the page reaches down to; null where none is known, or the page does not descend. */
  lastSlot: number | null;
  lastTime: number | null;
  /** Whether its slots go down, from those of the page before it. */
  descends: boolean;
  /** Unix time of its newest record at or below what is covered; null where it has none. */
  coveredTime: number | null;
}

interface FeedRecord {
  slot: number;
  time: number | null;
}

/** With fewer records, one that lies apart says nothing of the others. */
const fewRecords = 4;

/**
 * Reads the slots of a newest-first page. A record that is not indexed yet (slot 0, or none), or says a slot that cannot be
 * right yet, has no place in the order.
 * @param reached the lowest slot that the crawl has come down to; null at the head
 * @param coveredSlot newest slot that is covered, or null
 */
export function readFeedPage(
  { records, slotCeiling }: Pick<ReceivedPage, 'records' | 'slotCeiling'>,
  reached: number | null,
  coveredSlot: number | null,
): FeedPage {
  const readable = records.filter((record) => record.refusal === undefined);
  const placed = readable.flatMap((record) => readRecord(record, slotCeiling) ?? []);
  const last = lastOf(placed);
  const descends = readable.length === 0 || (last !== null && isDescending(placed, reached));
  const covered = placed.find(
    ({ slot, time }) => time !== null && coveredSlot !== null && slot <= coveredSlot,
  );
  return {
    lastSlot: descends && last !== null ? last.slot : null,
    lastTime: descends && last !== null ? last.time : null,
    descends,
    coveredTime: covered?.time ?? null,
  };
}

function isDescending(records: readonly FeedRecord[], reached: number | null): boolean {
  let above = reached ?? Number.POSITIVE_INFINITY;
  for (const { slot } of records) {
    if (slot > above) return false;
    above = slot;
  }
  return true;
}

/**
 * The record that a page reaches down to: its last, unless that lies further below the others than these are apart. One
 * old slot at a page's end would end the feed there, and all that is left out would count as covered.
 */
function lastOf(records: readonly FeedRecord[]): FeedRecord | null {
  const [first, before, last] = [records[0], records.at(-2), records.at(-1)];
  if (first === undefined || before === undefined || last === undefined) return last ?? null;
  const isApart = records.length >= fewRecords && before.slot - last.slot > first.slot - before.slot + 1;
  return isApart ? before : last;
}

function readRecord({ bytes }: LandingRecord, slotCeiling: number): FeedRecord | null {
  const record = JSON.parse(bytes.toString('utf8')) as { slot?: unknown; blockTime?: unknown } | null;
  const slot = readSlotNumber(record?.slot);
  return slot === null || slot > slotCeiling ? null : { slot, time: readWhole(record?.blockTime) };
}
