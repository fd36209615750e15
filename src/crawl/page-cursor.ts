import { ApiError } from '../api/api-errors.ts';
import { saysCursorRefused } from '../api/classify.ts';
import type { Task } from '../jobs/task.ts';
import type { PageGroup, Position, Restart } from '../landing/page-line.ts';
import { BoundsIgnored, RangesRefused, type TaskStart } from './crawl-task.ts';
import { asksTooMuch, countSuccess, halveLimit, initialBackoff, type LimitBackoff } from './page-size.ts';
import type { NextStep, PageFacts } from './paging.ts';
import {
  firstPosition,
  isAscending,
  isFull,
  isKeyPosition,
  isShort,
  positionAfter,
  resizePosition,
} from './position.ts';

/** The state of a crawl between two pages. */
export interface PageCursor {
  /** Number of the next page. */
  page: number;
  /** Where the next page is requested; null when the crawl has ended. */
  position: Position | null;
  /** The group that the page before ends in. */
  group: PageGroup | null;
  /** The id that the page before ends at. */
  lastKey: string | null;
  restart: Restart;
  /** Whether the page before had fewer records than requested. */
  afterShort: boolean;
  /** Whether the page before had as many records as requested. */
  afterFull: boolean;
  /** Feeds: whether the slots that the next page begins with are young: it is at the head, or below a record that is. */
  afterFresh: boolean;
  /** Feeds: slot of the cursor; null at the head. */
  cursorSlot: number | null;
  /** Lowest slot that the crawl's pages so far reflect. */
  lowestSlot: number | null;
  /** Feeds: the slot that the crawl has come down to; null at the head. */
  reachedSlot: number | null;
  /** Feeds: pages in a row that did not descend. */
  disordered: number;
  limitBackoff: LimitBackoff;
  /** Incremental crawls: rows in a row, up to the last one received, that are already stored. */
  knownInRow: number;
  /**
   * How often each page's records and cursor (as marks of them) were received since the crawl last began, by any run:
   * finds a server that pages in a circle.
   */
  seen: Map<string, number>;
}

/** A cursor whose page is requested. */
export type RequestedCursor = PageCursor & { position: Position };

/** Restarts that bring the crawl no further; after them the API's refusal fails it. */
const maxRestarts = 2;

/** The cursor of a new crawl, or of one that continues where its pages in the landing log end. */
export function beginCursor({ task, resume, from }: TaskStart): PageCursor {
  const last = resume?.last ?? null;
  const depth = last?.page ?? 0;
  return {
    page: depth + 1,
    position: last?.next ?? from?.position ?? startOf(task),
    group: last === null ? (from?.group ?? null) : (last.group ?? null),
    lastKey: last?.last_key ?? null,
    cursorSlot: last === null ? (from?.slot ?? null) : last.last_slot,
    lowestSlot: resume?.minSlot ?? null,
    reachedSlot: last !== null ? last.last_slot : from?.position.cursor === undefined ? null : from.slot,
    afterShort: last !== null && last.position !== null && isShort(last.records, last.position),
    afterFresh:
      last === null ? from?.position.cursor === undefined : isFreshEnd(last.fresh_slot, last.last_slot),
    afterFull: last !== null && last.position !== null && isFull(last.records, last.position),
    disordered: 0,
    restart: last?.restart ?? { count: 0, depth, deepest: depth },
    limitBackoff: initialBackoff,
    knownInRow: 0,
    seen: new Map(resume?.seen),
  };
}

/**
 * The cursor after a page was received. A limit that was halved, and then succeeded for a while, is doubled again.
 * @param cursor where the page was requested
 */
export function advanceCursor(
  task: Task,
  cursor: RequestedCursor,
  { records, slot, group, lastKey, lastSlot, freshSlot, descends, depth }: PageFacts,
  { next }: NextStep,
): PageCursor {
  const size = next && countSuccess(next.limit, cursor.limitBackoff, task.pageSize);
  return {
    ...cursor,
    page: cursor.page + 1,
    position: next && resizePosition(next, size?.limit ?? next.limit),
    limitBackoff: size?.backoff ?? cursor.limitBackoff,
    ...{ group, lastKey, cursorSlot: lastSlot },
    afterShort: isShort(records, cursor.position),
    afterFull: isFull(records, cursor.position),
    afterFresh: isFreshEnd(freshSlot, lastSlot ?? cursor.reachedSlot),
    reachedSlot: lastSlot ?? cursor.reachedSlot,
    disordered: descends ? 0 : cursor.disordered + 1,
    lowestSlot: slot === null ? cursor.lowestSlot : Math.min(slot, cursor.lowestSlot ?? slot),
    restart: deepen(cursor.restart, depth),
  };
}

function isFreshEnd(freshSlot: number | null | undefined, lastSlot: number | null): boolean {
  return freshSlot != null && lastSlot !== null && freshSlot <= lastSlot;
}

/** The restarts after another page, with which the crawl is `reached` pages deep in the list. */
function deepen({ count, depth, deepest }: Restart, reached: number): Restart {
  return depth < deepest
    ? { count, depth: reached, deepest }
    : { count: 0, depth: reached, deepest: reached };
}

/**
 * The cursor after a failure that the crawl survives: the page was too much, or the API no longer knows the cursor.
 * @throws RangesRefused where a range shows that the source has none; every other failure as it is
 */
export function cursorAfterFailure(error: unknown, task: Task, cursor: RequestedCursor): PageCursor {
  const smaller = requestLess(error, task, cursor);
  if (smaller !== null) return smaller;
  if (showsNoRanges(error, task, cursor)) throw new RangesRefused((error as Error).message);
  const restarted = isPositionRefused(error, task, cursor.position) ? restartCursor(task, cursor) : null;
  if (restarted === null) throw error;
  return restarted;
}

/**
 * Whether the source has no ranges of ids. It refuses a bound where that is first sent: `after` on a range's first page,
 * or on the second page of the first range, which begins without one. Or it ignores a bound: `after` on the first two
 * pages, because a first page of few ids may respect it by chance; `before` on any page, because only a page near it
 * shows that.
 */
function showsNoRanges(error: unknown, { range }: Task, { page }: PageCursor): boolean {
  if (range === null) return false;
  const isFirst = page === 1 || (page === 2 && range.after === null);
  if (error instanceof BoundsIgnored) return page <= 2 || error.isPassed;
  return (
    isFirst &&
    error instanceof ApiError &&
    (error.kind === 'rejected' || /sort|pagination/i.test(error.serverMessage))
  );
}

function isPositionRefused(error: unknown, { operation, range }: Task, position: Position): boolean {
  if (error instanceof BoundsIgnored) return range === null;
  if (!(error instanceof ApiError) || (position.cursor === undefined && !isKeyPosition(position)))
    return false;
  const { kind, serverMessage } = error;
  // A position that is gone: the error says "not found" and names no cursor.
  if (kind === 'server' && /not found/i.test(serverMessage)) return true;
  const names = [operation.cursorParam ?? 'cursor', 'before', 'after'].filter((name) => name in position);
  return (kind === 'rejected' || kind === 'server') && saysCursorRefused(serverMessage, names);
}

/** The cursor with half the limit at the same position; null for another failure, or where nothing is less. */
function requestLess(error: unknown, { operation }: Task, cursor: RequestedCursor): PageCursor | null {
  const { position, limitBackoff } = cursor;
  if (!asksTooMuch(error) || operation.limit === null) return null;
  const half = halveLimit(position.limit, limitBackoff);
  return half && { ...cursor, position: resizePosition(position, half.limit), limitBackoff: half.backoff };
}

/**
 * The cursor after the API refused the position of the next page: after the last id where the list is in id order,
 * else from the start. Null after as many restarts as brought the crawl no further.
 */
function restartCursor(task: Task, cursor: RequestedCursor): PageCursor | null {
  const { position, lastKey, restart } = cursor;
  if (restart.count === maxRestarts) return null;
  const count = restart.count + 1;
  const seen = new Map<string, number>();
  if (lastKey !== null && !isKeyPosition(position)) {
    const after = positionAfter(lastKey, { limit: position.limit }, isAscending(task.params));
    return { ...cursor, afterShort: false, position: after, restart: { ...restart, count }, seen };
  }
  return {
    ...cursor,
    position: startOf(task),
    group: null,
    lastKey: null,
    cursorSlot: null,
    reachedSlot: null,
    afterShort: false,
    afterFresh: true,
    restart: { count, depth: 0, deepest: restart.deepest },
    seen,
  };
}

function startOf({ operation, params, pageSize, range }: Task): Position {
  return firstPosition(operation, params, pageSize, range);
}
