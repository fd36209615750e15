import type { Operation } from '../api/operation.ts';
import type { Since } from '../jobs/job-file.ts';
import type { EndReason, Position } from '../landing/page-line.ts';

/** What one page tells about how to go on. */
export interface PageFacts {
  records: number;
  cursor: string | null;
  more: boolean | null;
  slot: number | null;
  /** Feeds: slot and Unix time of the last record. */
  lastSlot: number | null;
  lastTime: number | null;
  /** From 1. */
  page: number;
}

/** What the crawl knew before it began. */
export interface PagingGoal {
  /** Slot of the last complete crawl of this task: a source that is no newer has nothing new. */
  lastCompleteSlot: number | null;
  /** Feeds: newest slot that is already covered. */
  coveredSlot: number | null;
  since: Since | null;
  /** Unix milliseconds, for `since: 1d`. */
  now: number;
}

export interface NextStep {
  next: Position | null;
  end: EndReason | null;
}

/**
 * The first page's position: no page number and no cursor, so that a server that has cursors gives one; a job
 * that sorts must use page numbers (API notes, "Lists").
 */
export function firstPosition(
  operation: Operation,
  params: Readonly<Record<string, unknown>>,
  limit: number,
): Position {
  const order = params.sortBy as { sortBy?: string } | undefined;
  const sorted = operation.paging === 'keyset' && order !== undefined && order.sortBy !== 'id';
  const numbered = sorted || operation.paging === 'pages';
  return numbered ? { limit, page: 1 } : { limit };
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
  if (end !== null) return { next: null, end };
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
  // A filtered history may give an empty page, a cursor and the word that there is more: that is no end.
  const isEmpty = page.records === 0 && (page.more !== true || page.cursor === null);
  if (operation.paging === 'none' || isEmpty || page.more === false) return 'exhausted';
  if (operation.paging === 'pages') return null;
  const walksByCursor = operation.paging !== 'keyset' || position.cursor !== undefined;
  if (walksByCursor && page.cursor === null) return 'exhausted';
  if (operation.paging === 'feed') return feedEnd(page, goal);
  const isFirst = page.page === 1;
  if (isFirst && page.slot !== null && goal.lastCompleteSlot !== null && page.slot <= goal.lastCompleteSlot)
    return 'unchanged';
  return null;
}

/**
 * A feed is walked down to the newest covered slot inclusive: signatures share slots, so the page that ends in
 * the middle of that slot is not the last.
 */
function feedEnd(page: PageFacts, { coveredSlot, since, now }: PagingGoal): EndReason | null {
  if (coveredSlot !== null && page.lastSlot !== null && page.lastSlot < coveredSlot) return 'covered';
  if (since === null || since.kind === 'all') return null;
  if (since.kind === 'pages') return page.page >= since.pages ? 'since' : null;
  if (since.kind === 'slot') return page.lastSlot !== null && page.lastSlot < since.slot ? 'since' : null;
  return page.lastTime !== null && page.lastTime * 1000 < now - since.ms ? 'since' : null;
}
