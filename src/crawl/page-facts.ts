import type { LandingRecord } from '../landing/landing-record.ts';
import { hashContent } from '../landing/render-page.ts';
import type { FeedOrder } from '../operations/operation.ts';
import { BoundsIgnored } from './crawl-failures.ts';
import type { TaskStart } from './crawl-task.ts';
import { furthestId, isInOrder, readIds } from './id-order.ts';
import { type ReceivedPage, readSlotNumber, readWhole } from './page.ts';
import type { AskedCursor } from './page-cursor.ts';
import type { PageFacts } from './paging.ts';
import { isAscending, isKeyPosition, positionAfter } from './position.ts';
import { readPageGroup } from './record-groups.ts';

/** Lists that are no feeds have no order of slots. */
const notInFeed: FeedPage = {
  firstTime: null,
  lastSlot: null,
  lastTime: null,
  descends: true,
  coveredTime: null,
};

/**
 * What a page says of how to go on after it, and where it stands in its list.
 * @param cursor where it was asked for
 * @param now when it came, Unix ms
 * @throws BoundsIgnored when the page was asked for by bounds and does not keep them
 */
export function readFacts(
  { task, goal }: TaskStart,
  cursor: AskedCursor,
  page: ReceivedPage,
  now: number,
): PageFacts {
  const { more, slot, records, nulls } = page;
  const { feed, groupBy } = task.operation;
  const around = { reached: cursor.reachedSlot, coveredSlot: goal.coveredSlot, now };
  const inFeed = feed === undefined ? notInFeed : readFeedPage(feed, page, around);
  return {
    ...{ records: records.length, nulls, cursor: page.cursor, more, slot, ...inFeed },
    coveredTime: cursor.coveredTime ?? inFeed.coveredTime,
    content: () => hashContent(records),
    lastKey: readLastKey({ task }, cursor, page),
    group: groupBy === undefined ? null : readPageGroup(groupBy, records, cursor.group),
    page: cursor.page,
    depth: cursor.restart.depth + cursor.position.limit / task.pageSize,
  };
}

/**
 * The id a page of a keyset list ends at; null where its pages are not in the order of their ids, so that none can be
 * gone on after. All ids of a range's first page are looked at, because nobody knows yet whether the source has ranges.
 * @throws BoundsIgnored when the page was asked for by bounds and does not keep them
 */
function readLastKey(
  { task }: Pick<TaskStart, 'task'>,
  { position, page, lastKey, restart }: AskedCursor,
  { records }: ReceivedPage,
): string | null {
  const { idMember } = task.operation;
  if (idMember === undefined || position.page !== undefined) return null;
  const byKey = isKeyPosition(position);
  const ascending = isAscending(task.params);
  const ids = readIds(records, idMember, byKey && page === 1 ? 'all' : 'ends');
  const bounds = byKey || lastKey === null ? position : positionAfter(lastKey, { limit: 0 }, ascending);
  const inOrder = isInOrder(ids.listed, ascending, bounds);
  if (byKey && !inOrder)
    throw new BoundsIgnored(ascending && isInOrder(ids.listed, ascending, { after: position.after }));
  if (!byKey && (!inOrder || (lastKey === null && restart.depth > 0))) return null;
  return furthestId(ids, ascending) ?? (byKey ? null : lastKey);
}

/** What the records of a feed's page say of their place in the ledger. In feeds that go by time, slots are Unix times. */
interface FeedPage {
  /** By time: of its newest record; null where none is known, and in other feeds. */
  firstTime: number | null;
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

/** By time: how many seconds a time may be above one before it, since those of old blocks are estimates that went back, … */
const maxRise = 3600;
/** … and ahead of the answer. */
const maxAhead = 3600;

/** What is known where a feed's page came. */
interface FeedBounds {
  /** The lowest slot that the crawl has come down to; null at the head. */
  reached: number | null;
  /** Newest slot that is covered, or null. */
  coveredSlot: number | null;
  /** When the page came, Unix ms. */
  now: number;
}

/**
 * Reads the places of a newest-first page. A record that is not indexed yet (slot 0, or none), or says what cannot be right
 * yet, has no place in the order. By time, records that say none are usual, and a page of nothing else reaches as far down
 * as the one above it.
 */
function readFeedPage(
  order: FeedOrder,
  { records, slotCeiling }: Pick<ReceivedPage, 'records' | 'slotCeiling'>,
  { reached, coveredSlot, now }: FeedBounds,
): FeedPage {
  const byTime = order.by === 'time';
  const readable = records.filter((record) => record.refusal === undefined);
  const ceiling = byTime ? now / 1000 + maxAhead : slotCeiling;
  const placed = readable.flatMap((record) => readRecord(record, order, ceiling) ?? []);
  const mayHaveNone = byTime || readable.length === 0;
  const descends = (placed.length > 0 || mayHaveNone) && isDescending(placed, reached, byTime ? maxRise : 0);
  const above = byTime && reached !== null ? { slot: reached, time: reached } : null;
  const last = descends ? lowestOf(withoutApart(placed), above) : null;
  const covered = placed.find(
    ({ slot, time }) => time !== null && coveredSlot !== null && slot <= coveredSlot,
  );
  return {
    firstTime: byTime && descends ? (lowestOf(placed.slice(0, 1), above)?.time ?? null) : null,
    lastSlot: last?.slot ?? null,
    lastTime: last?.time ?? null,
    descends,
    coveredTime: covered?.time ?? null,
  };
}

function isDescending(records: readonly FeedRecord[], reached: number | null, maxRise: number): boolean {
  let lowest = reached ?? Number.POSITIVE_INFINITY;
  for (const { slot } of records) {
    if (slot > lowest + maxRise) return false;
    lowest = Math.min(lowest, slot);
  }
  return true;
}

/** Of equal ones the last. @param above what stands above all of them */
function lowestOf(records: readonly FeedRecord[], above: FeedRecord | null): FeedRecord | null {
  return records.reduce((lowest, one) => (lowest === null || one.slot <= lowest.slot ? one : lowest), above);
}

/**
 * Without the last record, where it lies further below the others than these are apart. One old slot at a page's end would
 * end the feed there, and all that is left out would count as covered.
 */
function withoutApart(records: readonly FeedRecord[]): readonly FeedRecord[] {
  const [first, before, last] = [records[0], records.at(-2), records.at(-1)];
  if (first === undefined || before === undefined || last === undefined) return records;
  const isApart = records.length >= fewRecords && before.slot - last.slot > first.slot - before.slot + 1;
  return isApart ? records.slice(0, -1) : records;
}

function readRecord({ bytes }: LandingRecord, order: FeedOrder, ceiling: number): FeedRecord | null {
  const record = JSON.parse(bytes.toString('utf8')) as Record<string, unknown> | null;
  const time = readWhole(record?.[order.timeMember]);
  const slot = order.by === 'time' ? time || null : readSlotNumber(record?.slot);
  return slot === null || slot > ceiling ? null : { slot, time };
}
