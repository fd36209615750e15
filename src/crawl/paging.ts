import type { Operation } from '../api/operation.ts';
import type { IdRange } from '../jobs/id-ranges.ts';
import type { Since } from '../jobs/job.ts';
import type { Task } from '../jobs/task.ts';
import type { EndReason, Position } from '../landing/page-line.ts';

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
  /** Feeds: what its records say of their place (`readFeedPage`), `coveredTime` with what the pages before it said. */
  firstTime: number | null;
  lastSlot: number | null;
  lastTime: number | null;
  descends: boolean;
  coveredTime: number | null;
  /** Keyset operations: the id that the page ends at; null where none can be gone on after. */
  lastKey: string | null;
  /** Number of the page in its crawl, from 1. */
  page: number;
  /**
   * Whole pages since the walk began at the start of the list, this one included: less than `page` after a restart, and
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

/** Whether a list is asked for in ascending order of its ids (the API sorts in descending order by default). */
export function isAscending(params: Readonly<Record<string, unknown>>): boolean {
  const order = params.sortBy as { sortBy?: string; sortDirection?: string } | undefined;
  return order?.sortBy === 'id' && order.sortDirection === 'asc';
}

/**
 * The first page's position: no page number and no cursor, so that a server that has cursors gives one; a job
 * that sorts must use page numbers, and a range of ids has its bounds (API notes, "Lists").
 */
export function firstPosition(
  operation: Operation,
  params: Readonly<Record<string, unknown>>,
  limit: number,
  range: IdRange | null,
): Position {
  if (range !== null) {
    const { after, before } = range;
    return { limit, ...(after === null ? {} : { after }), ...(before === null ? {} : { before }) };
  }
  const order = params.sortBy as { sortBy?: string } | undefined;
  const sorted = operation.paging === 'keyset' && order !== undefined && order.sortBy !== 'id';
  const numbered = sorted || operation.paging === 'pages';
  return numbered ? { limit, page: 1 } : { limit };
}

/** Whether a position is an id to go on after: its answers carry no cursor, and an empty one is the end. */
export function isKeyPosition({ after, before }: Position): boolean {
  return after !== undefined || before !== undefined;
}

/** The position that goes on after an id, within the bound that lies ahead. */
export function positionAfter(id: string, position: Position, ascending: boolean): Position {
  const { limit, after, before } = position;
  if (ascending) return { limit, after: id, ...(before === undefined ? {} : { before }) };
  return { limit, ...(after === undefined ? {} : { after }), before: id };
}

/**
 * How a crawl goes on after a page. The end is no cursor in a cursor walk, an answer that says there is no more,
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
  const walksByCursor = operation.paging !== 'keyset' || position.cursor !== undefined;
  if (walksByCursor && page.cursor === null) return 'exhausted';
  if (operation.paging === 'feed')
    return isHeadBehind(position, page, goal) ? 'unchanged' : feedEnd(page, goal);
  return isUnchanged(page, goal) ? 'unchanged' : null;
}

/**
 * An answer from below what the source was seen at proves nothing: the replica is behind. Nor does a slot by itself, which
 * may be stuck while the content moves.
 */
function isUnchanged(
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
 * A feed is walked down to the newest covered slot inclusive: signatures share slots, so the page that ends in
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

/** What is known of the source's slot where a page is asked for. */
export interface SlotBounds {
  /** Feeds: the slot that the cursor stands at; null at the head. */
  cursorSlot: number | null;
  /** Lowest slot of the crawl's pages so far. */
  lowestSlot: number | null;
}

/**
 * Whether a page comes from a replica that is behind, where that matters: a feed's page below its cursor, a first
 * page below what the source was seen at, a page that would end the list below all others, and every such page of an
 * incremental crawl: there what is missing on top lifts the list over the page's number, and rows are passed by.
 */
export function isBehind(
  { operation: { paging }, incremental }: Pick<Task, 'operation' | 'incremental'>,
  { slot, page }: Pick<PageFacts, 'slot' | 'page'>,
  end: EndReason | null,
  { seenSlot, cursorSlot, lowestSlot }: SlotBounds & Pick<PagingGoal, 'seenSlot'>,
): boolean {
  if (paging === 'feed' && end === 'unchanged') return true;
  if (slot === null) return false;
  if (paging === 'feed') return cursorSlot !== null && slot < cursorSlot;
  if (page === 1) return seenSlot !== null && slot < seenSlot;
  return (end !== null || incremental) && lowestSlot !== null && slot < lowestSlot;
}

/**
 * Whether a feed's end is doubtful: it has come down to nothing that is covered, where records are. What publishing
 * believes of it says sql/publish/coverage.sql.
 */
export function endsTooEarly(
  { lastSlot }: Pick<PageFacts, 'lastSlot'>,
  end: EndReason | null,
  {
    cursorSlot,
    coveredSlot,
    hadRecords,
  }: Pick<SlotBounds, 'cursorSlot'> & Pick<PagingGoal, 'coveredSlot' | 'hadRecords'>,
): boolean {
  if (end !== 'exhausted' || coveredSlot === null || hadRecords !== true) return false;
  return (lastSlot ?? cursorSlot ?? Number.POSITIVE_INFINITY) > coveredSlot;
}
