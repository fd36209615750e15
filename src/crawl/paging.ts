import type { Since } from '../jobs/job.ts';
import type { Task } from '../jobs/task.ts';
import type { EndReason, PageGroup, Position } from '../landing/page-line.ts';
import type { Operation } from '../operations/operation.ts';
import { isKeyPosition, isShort, positionAfter } from './position.ts';
import type { ShortPages } from './short-pages.ts';

/** What one page tells about how to go on. */
export interface PageFacts {
  records: number;
  /** Records that are null. */
  nulls: number;
  cursor: string | null;
  more: boolean | null;
  slot: number | null;
  /** Digest of its records. Asked for only where it may decide. */
  content(): string;
  /** Feeds: what its records say of their place (page-facts.ts), `coveredTime` with what the pages before it said. */
  firstTime: number | null;
  lastSlot: number | null;
  lastTime: number | null;
  descends: boolean;
  coveredTime: number | null;
  /** Keyset operations: the id that the page ends at; null where none can be gone on after. */
  lastKey: string | null;
  /** The group that its records end in; null where they have none. */
  group: PageGroup | null;
  /** Number of the page in its crawl, from 1. */
  page: number;
  /**
   * Whole pages since the crawl began at the start of the list, this one included: less than `page` after a restart, and
   * where some asked for less.
   */
  depth: number;
}

/** What the crawl knew before it began. */
export interface PagingGoal {
  /** Slot of the last complete crawl of this task: a source that is no newer has nothing new, … */
  lastCompleteSlot: number | null;
  /** … unless its slot is stuck: the digest of that crawl's first page, which then is another. Null: not known. */
  firstContent: string | null;
  /** Newest slot that crawl saw: an answer from below it comes from a replica that is behind. */
  seenSlot: number | null;
  /** Feeds: newest slot that is already covered. */
  coveredSlot: number | null;
  /** Feeds: whether the last complete crawl had records, which a feed that ends now has still to have. */
  hadRecords?: true;
  /** Feeds: how far below that slot is read again; without it, not at all. */
  overlap?: Overlap;
  since: Since | null;
  /** Whether ids ascend; they descend unless the job asks for it. */
  ascending: boolean;
  /** Unix milliseconds, for `since: 1d`. */
  now: number;
}

/** What a feed reads again because it may have been indexed late: a time, and the slots it takes the ledger. */
export interface Overlap {
  seconds: number;
  slots: number;
}

export interface NextStep {
  next: Position | null;
  end: EndReason | null;
}

/**
 * How a crawl goes on after a page, as `nextStep`; but a list that would go on after a short page ends with it at a provider
 * where that is its end.
 */
export function decideStep(
  { operation, incremental }: Task,
  position: Position,
  page: PageFacts,
  goal: PagingGoal,
  shortPages: Pick<ShortPages, 'isEnd'>,
): NextStep {
  const step = nextStep(operation, position, page, goal);
  if (operation.paging !== 'keyset' || incremental || step.end !== null) return step;
  if (!isShort(page.records, position) || !shortPages.isEnd(operation)) return step;
  return { next: null, end: 'short' };
}

/**
 * How a crawl goes on after a page. The end is no cursor where the list goes by cursor, an answer that says there is no more,
 * or an empty page; never a short page, and never `total` (API notes: rows are dropped after LIMIT, and total is the page's own count).
 */
export function nextStep(
  operation: Operation,
  position: Position,
  page: PageFacts,
  goal: PagingGoal,
): NextStep {
  const end = endReason(operation, position, page, goal);
  // What lies below is covered only if the crawl relied on goes down to there: should it fail, this cursor is the way.
  if (end === 'covered' && page.cursor !== null && promisesBelow(page, goal))
    return { next: { limit: position.limit, cursor: page.cursor }, end };
  if (end !== null) return { next: null, end };
  if (isKeyPosition(position))
    return {
      next: page.lastKey === null ? null : positionAfter(page.lastKey, position, goal.ascending),
      end: null,
    };
  if (page.cursor !== null && position.page === undefined)
    return { next: { limit: position.limit, cursor: page.cursor }, end: null };
  return { next: { limit: position.limit, page: (position.page ?? 1) + 1 }, end: null };
}

function endReason(
  operation: Operation,
  position: Position,
  page: PageFacts,
  goal: PagingGoal,
): EndReason | null {
  // A filtered history may give an empty page, a cursor and the word that there is more: that is no end. Nor is a page of
  // records that are all null, with a cursor.
  const isEmpty = page.records === 0 && (page.cursor === null || (page.more !== true && page.nulls === 0));
  if (operation.paging === 'none' || isEmpty || page.more === false) return 'exhausted';
  if (operation.paging === 'pages') return null;
  const goesByCursor = operation.paging !== 'keyset' || position.cursor !== undefined;
  if (goesByCursor && page.cursor === null) return 'exhausted';
  if (operation.paging === 'feed')
    return isHeadBehind(position, page, goal) ? 'unchanged' : feedEnd(page, goal);
  return hasNothingNew(page, goal) ? 'unchanged' : null;
}

/**
 * An answer from below what the source was seen at proves nothing: the replica is behind. Nor does a slot by itself, which
 * may be stuck while the content moves.
 */
function hasNothingNew(
  { page, slot, content }: PageFacts,
  { lastCompleteSlot, firstContent, seenSlot }: PagingGoal,
): boolean {
  if (page !== 1 || slot === null || lastCompleteSlot === null || firstContent === null) return false;
  return slot <= lastCompleteSlot && slot >= (seenSlot ?? slot) && content() === firstContent;
}

/** A feed's head from below what is covered has nothing new; going down from there would leave what lies between. */
function isHeadBehind(
  position: Position,
  { slot, firstTime }: PageFacts,
  { coveredSlot }: PagingGoal,
): boolean {
  const head = slot ?? firstTime;
  return position.cursor === undefined && head !== null && coveredSlot !== null && head < coveredSlot;
}

/**
 * A feed is crawled down to the newest covered slot inclusive: signatures share slots, so the page that ends in
 * the middle of that slot is not the last. What may have been indexed late below it is read once more. `since` bounds it
 * only where nothing below is covered.
 */
function feedEnd(page: PageFacts, goal: PagingGoal): EndReason | null {
  if (goal.coveredSlot === null) return sinceEnd(page, goal);
  const isBelow = page.lastSlot !== null && page.lastSlot < goal.coveredSlot;
  return isBelow && isBelowOverlap(page, goal) ? 'covered' : null;
}

/** By the records' block times, which count from the newest that is covered; by slots where they have none. */
function isBelowOverlap(page: PageFacts, { coveredSlot, overlap }: PagingGoal): boolean {
  if (overlap === undefined) return true;
  const { lastSlot, lastTime, coveredTime } = page;
  if (lastTime !== null && coveredTime !== null) return lastTime < coveredTime - overlap.seconds;
  return (lastSlot ?? 0) < (coveredSlot ?? 0) - overlap.slots;
}

function sinceEnd(page: PageFacts, { since, now }: PagingGoal): EndReason | null {
  if (since === null || since.kind === 'all') return null;
  // Parts of pages add up to whole ones but for rounding.
  if (since.kind === 'pages') return page.depth > since.pages - 1e-6 ? 'since' : null;
  if (since.kind === 'slot') return page.lastSlot !== null && page.lastSlot < since.slot ? 'since' : null;
  return page.lastTime !== null && page.lastTime * 1000 < now - since.ms ? 'since' : null;
}

/** Whether `since` promises what is below a feed's page. A number of pages promises nothing but them. */
function promisesBelow(page: PageFacts, goal: PagingGoal): boolean {
  return goal.since?.kind !== 'pages' && sinceEnd(page, goal) === null;
}
