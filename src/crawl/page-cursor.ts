import { ApiError } from '../api/api-errors.ts';
import { saysCursorRefused } from '../api/classify.ts';
import type { Task } from '../jobs/task.ts';
import type { PageGroup, Position, Restart } from '../landing/page-line.ts';
import { BoundsIgnored, RangesRefused } from './crawl-failures.ts';
import type { TaskStart } from './crawl-task.ts';
import { asksTooMuch, freshTrust, type LimitTrust, restore, shrink } from './page-size.ts';
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

/** Where a crawl stands between two pages. */
export interface PageCursor {
  /** Number of the page that comes next, and where it is asked for; null when the crawl has ended. */
  page: number;
  position: Position | null;
  /** Of the page before it: the group its records end in, and the id they end at. */
  group: PageGroup | null;
  lastKey: string | null;
  restart: Restart;
  /** Whether the page before it had fewer records than asked for. */
  afterShort: boolean;
  /** … or as many. */
  afterFull: boolean;
  /** Feeds: the slot that the cursor stands at; null at the head. */
  cursorSlot: number | null;
  /** Lowest slot of the crawl's pages so far. */
  lowestSlot: number | null;
  /** Feeds: the slot it has come down to (null at the head), and Unix time of its newest record at or below what is covered. */
  reachedSlot: number | null;
  coveredTime: number | null;
  /** Feeds: pages that did not descend, one after another. */
  disordered: number;
  trust: LimitTrust;
  /** Incremental crawls: rows known at the end of what was received. */
  known: number;
  /**
   * How often records and cursors (marks of them) were received since the crawl last began, by any run: to find a server
   * that pages in a circle.
   */
  seen: Map<string, number>;
}

/** A cursor whose page is asked for. */
export type AskedCursor = PageCursor & { position: Position };

/** Restarts without having come further than before; after them the API's refusal stands. */
const maxRestarts = 2;

/** The cursor of a new crawl, or of one that goes on where its pages in the landing log end. */
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
    coveredTime: null,
    afterShort: last !== null && last.position !== null && isShort(last.records, last.position),
    afterFull: last !== null && last.position !== null && isFull(last.records, last.position),
    disordered: 0,
    restart: last?.restart ?? { count: 0, depth, deepest: depth },
    trust: freshTrust,
    known: 0,
    seen: new Map(resume?.seen),
  };
}

/**
 * The cursor after a page that came. Where the limit was halved, and held for a while, more is asked for again.
 * @param cursor where the page was asked for
 */
export function advanceCursor(
  task: Task,
  cursor: AskedCursor,
  { records, slot, group, lastKey, lastSlot, descends, coveredTime, depth }: PageFacts,
  { next }: NextStep,
): PageCursor {
  const size = next && restore(next.limit, cursor.trust, task.pageSize);
  return {
    ...cursor,
    page: cursor.page + 1,
    position: next && resizePosition(next, size?.limit ?? next.limit),
    trust: size?.trust ?? cursor.trust,
    ...{ group, lastKey, cursorSlot: lastSlot, coveredTime },
    afterShort: isShort(records, cursor.position),
    afterFull: isFull(records, cursor.position),
    reachedSlot: lastSlot ?? cursor.reachedSlot,
    disordered: descends ? 0 : cursor.disordered + 1,
    lowestSlot: slot === null ? cursor.lowestSlot : Math.min(slot, cursor.lowestSlot ?? slot),
    restart: deepen(cursor.restart, depth),
  };
}

/** How the restarts stand once another page has landed, with which the crawl is so deep in the list. */
function deepen({ count, depth, deepest }: Restart, reached: number): Restart {
  return depth < deepest
    ? { count, depth: reached, deepest }
    : { count: 0, depth: reached, deepest: reached };
}

/**
 * The cursor after a failure that the crawl survives: too much was asked for at once, or the API no longer knows the cursor.
 * @throws RangesRefused where a range shows that the source has none; what failed otherwise
 */
export function cursorAfterFailure(error: unknown, task: Task, cursor: AskedCursor): PageCursor {
  const less = askForLess(error, task, cursor);
  if (less !== null) return less;
  if (showsNoRanges(error, task, cursor)) throw new RangesRefused((error as Error).message);
  const again = isPositionRefused(error, task, cursor.position) ? restart(task, cursor) : null;
  if (again === null) throw error;
  return again;
}

/**
 * A bound that is refused where it is sent for the first time: `after` on a range's first page (on the second of the
 * first range, which begins without it). Or one that is not kept: on the first two pages, because a first page of few
 * ids may keep it by chance; `before` on any, as a page far below it does not show it.
 */
function showsNoRanges(error: unknown, { range }: Task, { page }: PageCursor): boolean {
  if (range === null) return false;
  const isFirst = page === 1 || (page === 2 && range.after === null);
  if (error instanceof BoundsIgnored) return page <= 2 || error.isPassed;
  return (
    isFirst && error instanceof ApiError && (error.kind === 'rejected' || /sort|pagination/i.test(error.said))
  );
}

function isPositionRefused(error: unknown, { operation, range }: Task, position: Position): boolean {
  if (error instanceof BoundsIgnored) return range === null;
  if (!(error instanceof ApiError) || (position.cursor === undefined && !isKeyPosition(position)))
    return false;
  const { kind, said } = error;
  // A place that is not there any more: not found in the words, which name no cursor.
  if (kind === 'server' && /not found/i.test(said)) return true;
  const names = [operation.cursorParam ?? 'cursor', 'before', 'after'].filter((name) => name in position);
  return (kind === 'rejected' || kind === 'server') && saysCursorRefused(said, names);
}

/** The cursor that asks for half as much in the same place; null where the failure was another, or nothing is less. */
function askForLess(error: unknown, { operation }: Task, cursor: AskedCursor): PageCursor | null {
  const { position, trust } = cursor;
  if (!asksTooMuch(error) || operation.limit === null) return null;
  const less = shrink(position.limit, trust);
  return less && { ...cursor, position: resizePosition(position, less.limit), trust: less.trust };
}

/**
 * The cursor after the API refused the position of its next page: after the last id where the list is in id order,
 * else from the start. Null when that was tried often enough without coming further.
 */
function restart(task: Task, cursor: AskedCursor): PageCursor | null {
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
    restart: { count, depth: 0, deepest: restart.deepest },
    seen,
  };
}

function startOf({ operation, params, pageSize, range }: Task): Position {
  return firstPosition(operation, params, pageSize, range);
}
