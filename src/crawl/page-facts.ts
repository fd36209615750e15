import type { LandingRecord } from '../landing/landing-record.ts';
import { hashContent } from '../landing/render-page.ts';
import type { FeedOrder } from '../operations/operation.ts';
import { BoundsIgnored, type TaskStart } from './crawl-task.ts';
import { type ReceivedPage, readSlotNumber, readWhole } from './page.ts';
import type { RequestedCursor } from './page-cursor.ts';
import type { FeedFacts, Overlap, PageFacts } from './paging.ts';
import { isAscending, isKeyPosition, positionAfter } from './position.ts';
import { furthestId, isInOrder, readIds, readPageGroup } from './record-keys.ts';

/** For lists that are no feeds, whose slots have no order. */
const noFeedFacts: FeedFacts = {
  firstTime: null,
  lastSlot: null,
  lastTime: null,
  descends: true,
  freshSlot: null,
};

/**
 * The facts of a page that decide where its crawl continues.
 * @param cursor where the page was requested
 * @throws BoundsIgnored when the page was requested by bounds and does not respect them
 */
export function readFacts({ task, goal }: TaskStart, cursor: RequestedCursor, page: ReceivedPage): PageFacts {
  const { more, slot, records, nulls } = page;
  const { feed, groupBy } = task.operation;
  const feedFacts = feed === undefined ? noFeedFacts : readFeedPage(feed, page, cursor, goal.overlap);
  return {
    ...{ records: records.length, nulls, cursor: page.cursor, more, slot, ...feedFacts },
    content: () => hashContent(records),
    lastKey: readLastKey({ task }, cursor, page),
    group: groupBy === undefined ? null : readPageGroup(groupBy, records, cursor.group),
    page: cursor.page,
    depth: cursor.restart.depth + cursor.position.limit / task.pageSize,
  };
}

/**
 * The id that a page of a keyset list ends at; null where the pages are not in id order, so that the list cannot continue
 * after an id. Reads all ids of a range's first page, because it may show that the source has no ranges.
 * @throws BoundsIgnored when the page was requested by bounds and does not respect them
 */
function readLastKey(
  { task }: Pick<TaskStart, 'task'>,
  { position, page, lastKey, restart }: RequestedCursor,
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

interface FeedRecord {
  slot: number;
  time: number | null;
}

/** With fewer records, an outlier cannot be recognised. */
const minForOutlier = 4;

/** Feeds by time: seconds that a time may be above the one before it. Times of old blocks are estimates that went back. */
const maxRise = 3600;

/** Seconds that a record's time may be ahead of the answer. */
const maxAhead = 3600;

/**
 * Reads the slots of a newest-first page. A record without a slot, with slot 0 (not indexed yet) or with one that cannot
 * be right yet is left out of the order. In feeds by time records without a time are usual; a page of nothing else
 * reaches as far down as the page before.
 */
function readFeedPage(
  order: FeedOrder,
  page: ReceivedPage,
  { reachedSlot: reached, afterFresh }: RequestedCursor,
  overlap: Overlap | undefined,
): FeedFacts {
  const { records, slotCeiling, receivedAt } = page;
  const byTime = order.by === 'time';
  const readable = records.filter((record) => record.refusal === undefined);
  const ceiling = byTime ? receivedAt.getTime() / 1000 + maxAhead : slotCeiling;
  const ordered = readable.flatMap((record) => readRecord(record, order, ceiling) ?? []);
  const needsNoSlot = byTime || readable.length === 0;
  const descends =
    (ordered.length > 0 || needsNoSlot) && isDescending(ordered, reached, byTime ? maxRise : 0);
  const above = byTime && reached !== null ? { slot: reached, time: reached } : null;
  const reachable = byTime ? withoutLast(ordered) : withoutOutlier(ordered);
  const last = descends ? lowestOf(reachable.slice(-1), above) : null;
  return {
    firstTime: byTime && descends ? (lowestOf(ordered.slice(0, 1), above)?.time ?? null) : null,
    lastSlot: last?.slot ?? null,
    lastTime: last?.time ?? null,
    descends,
    freshSlot: overlap === undefined ? null : findFresh(ordered, page, { ...overlap, byTime, afterFresh }),
  };
}

/**
 * The slot from which up a page was read within `overlap` of its slots' own time, by the records' times, or by slots if
 * they have none. Above the newest record, too, one may still be indexed: up to the answer's slot, or to a young record.
 * @param ordered the page's records with a slot, newest first
 */
function findFresh(
  ordered: readonly FeedRecord[],
  { slot, receivedAt }: ReceivedPage,
  { seconds, slots, byTime, afterFresh }: Overlap & { byTime: boolean; afterFresh: boolean },
): number | null {
  const now = receivedAt.getTime() / 1000;
  const youngest = byTime ? Math.ceil(now - seconds) : slot === null ? null : slot - slots;
  const isFresh = (record: FeedRecord) =>
    record.time === null || record.time > now + maxAhead
      ? youngest !== null && record.slot > youngest
      : now - record.time < seconds;
  const settled = ordered.find((record) => !isFresh(record));
  const lowest = ordered.findLast(isFresh);
  const bounds = [
    ...(lowest === undefined ? [] : [lowest.slot]),
    ...(youngest === null || !afterFresh
      ? []
      : [Math.max(youngest, settled === undefined ? 0 : settled.slot + 1)]),
  ];
  return bounds.length === 0 ? null : Math.min(...bounds);
}

function isDescending(records: readonly FeedRecord[], reached: number | null, maxRise: number): boolean {
  let lowest = reached ?? Number.POSITIVE_INFINITY;
  for (const { slot } of records) {
    if (slot > lowest + maxRise) return false;
    lowest = Math.min(lowest, slot);
  }
  return true;
}

/** The lowest record, or `above` where none is lower; of equal ones the last. */
function lowestOf(records: readonly FeedRecord[], above: FeedRecord | null): FeedRecord | null {
  return records.reduce(
    (lowest, record) => (lowest === null || record.slot <= lowest.slot ? record : lowest),
    above,
  );
}

/**
 * Leaves out the last record where it is further below the others than these are apart: one old slot at a page's end
 * would end the feed there, and everything in between would count as covered.
 */
function withoutOutlier(records: readonly FeedRecord[]): readonly FeedRecord[] {
  const [first, before, last] = [records[0], records.at(-2), records.at(-1)];
  if (first === undefined || before === undefined || last === undefined) return records;
  const isOutlier = records.length >= minForOutlier && before.slot - last.slot > first.slot - before.slot + 1;
  return isOutlier ? records.slice(0, -1) : records;
}

/**
 * Leaves out the last of several records of a feed by time: one time that is too low would end the feed there. The next
 * page, which begins with it, shows whether it is.
 */
function withoutLast(records: readonly FeedRecord[]): readonly FeedRecord[] {
  return records.length > 1 ? records.slice(0, -1) : records;
}

function readRecord({ bytes }: LandingRecord, order: FeedOrder, ceiling: number): FeedRecord | null {
  const record = JSON.parse(bytes.toString('utf8')) as Record<string, unknown> | null;
  const time = readWhole(record?.[order.timeMember]);
  const slot = order.by === 'time' ? time || null : readSlotNumber(record?.slot);
  return slot === null || slot > ceiling ? null : { slot, time };
}
