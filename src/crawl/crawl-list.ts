import { isEnded } from '../landing/reader.ts';
import type { NewPage } from '../landing/render-page.ts';
import type { CrawlDeps, TaskStart } from './crawl-task.ts';
import { describeListPage, describePage, landPage } from './land-page.ts';
import type { ReceivedPage } from './page.ts';
import { findDoubt, refuseDeadEnd, refuseDisorder, refuseLoop } from './page-checks.ts';
import {
  advanceCursor,
  beginCursor,
  cursorAfterFailure,
  type PageCursor,
  type RequestedCursor,
} from './page-cursor.ts';
import { readFacts } from './page-facts.ts';
import { decideStep, type PageFacts } from './paging.ts';
import { isAscending, positionParams } from './position.ts';
import { maxRequestsOfPage, requestPage, type SettleDoubt } from './request-page.ts';

/**
 * An incremental crawl ends when the last 200 rows of a page (all rows, if the page is shorter) are already stored
 * unchanged. Fewer would not do: a few unchanged rows may lie between changed ones, because replicas disagree and a full
 * crawl takes a while.
 */
const knownRowsToStop = 200;

/** Crawls a list or a feed page by page; each page lands before the next is requested. */
export async function crawlList(start: TaskStart, deps: CrawlDeps): Promise<void> {
  if (start.resume !== null && isEnded(start.resume)) return;
  let cursor = beginCursor(start);
  while (cursor.position !== null && start.split?.refused !== true)
    cursor = await crawlNextPage(start, deps, { ...cursor, position: cursor.position });
}

/**
 * Requests one page and lands it.
 * @returns the cursor after the page, or, after a failure that the crawl survives, the cursor to request it again with
 */
async function crawlNextPage(
  start: TaskStart,
  deps: CrawlDeps,
  cursor: RequestedCursor,
): Promise<PageCursor> {
  const { task } = start;
  const pageSize = deps.pageSizes(task);
  // As last sent: with less than the cursor's limit where another target of the job found that too slow.
  let { position } = cursor;
  try {
    return await requestPage(start, deps, {
      choose() {
        position = pageSize.limitTo(cursor.position, cursor.limitBackoff);
        const count = task.operation.limit === null ? 1 : position.limit;
        return { where: positionParams(task, position), count };
      },
      onTimeout: pageSize.timedOut,
      land: (page, settle) => landListPage(start, deps, { ...cursor, position }, page, settle),
    });
  } catch (error) {
    return cursorAfterFailure(error, task, { ...cursor, position });
  }
}

/**
 * Lands a page with what it decides. The order matters: nothing of a doubtful page, or of a circle, may land; a feed
 * without order fails after its page has landed, so that the records are kept.
 * @returns the cursor after the page
 */
async function landListPage(
  start: TaskStart,
  deps: CrawlDeps,
  cursor: RequestedCursor,
  page: ReceivedPage,
  settle: SettleDoubt,
): Promise<PageCursor> {
  const { task } = start;
  const { facts, line, next } = await decidePage(start, deps, cursor, page);
  settle(findDoubt(start, cursor, facts, line.end, deps.slots.heard(task.operation.transport)));
  // A restart empties `seen`: the line records it, so that a resumed crawl forgets the earlier marks too.
  const restarted = cursor.page > 1 && cursor.seen.size === 0 ? { begins_walk: true } : {};
  const marks = refuseLoop(task, page, cursor.position, cursor.seen);
  refuseDeadEnd(line);
  // The page before was short and taken for the end by others; this one proves that it was not.
  if (cursor.afterShort && page.records.length > 0)
    await deps.shortPages.refute(task.operation, task.job, task.target);
  await landPage(deps, start, line.end === null ? { ...line, marks, ...restarted } : line, page);
  deps.pageSizes(task).succeeded(cursor.position.limit);
  refuseDisorder(next, maxRequestsOfPage);
  return next;
}

/** Decides where the crawl continues after a page, or why it ends there: the page's line and the next cursor. */
async function decidePage(
  start: TaskStart,
  deps: CrawlDeps,
  cursor: RequestedCursor,
  page: ReceivedPage,
): Promise<{ facts: PageFacts; line: NewPage; next: PageCursor }> {
  const { task } = start;
  const now = page.receivedAt.getTime();
  const facts = readFacts(start, cursor, page);
  const heard = deps.slots.heard(task.operation.transport);
  const goal = { ...start.goal, heard, since: task.since, ascending: isAscending(task.params), now };
  const step = decideStep(task, cursor.position, facts, goal, deps.shortPages);
  const next = advanceCursor(task, cursor, facts, step);
  const listed = describeListPage(describePage(start, deps, page), task, cursor, next, facts, step);
  const knownInRow = await countKnownInRow(start, cursor, listed, page, deps);
  const isKnown = knownInRow >= Math.min(knownRowsToStop, task.pageSize);
  const line: NewPage = isKnown ? { ...listed, next: null, end: 'known' } : listed;
  return { facts, line, next: { ...next, knownInRow, position: line.end === null ? line.next : null } };
}

/**
 * How many rows up to this page's last are already stored, without one between that is not. Counts requested limits, not
 * rows, because a page that was too big comes as several small ones. 0 unless the crawl is incremental and continues
 * after this page.
 */
async function countKnownInRow(
  { task, goal }: TaskStart,
  { knownInRow, position }: RequestedCursor,
  line: NewPage,
  { records }: ReceivedPage,
  { isKnown }: CrawlDeps,
): Promise<number> {
  if (!task.incremental || line.end !== null) return 0;
  const allKnown = await isKnown(line, records.slice(-knownRowsToStop), goal.seenSlot);
  return allKnown ? knownInRow + position.limit : 0;
}
