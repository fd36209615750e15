import type { Position } from '../landing/page-line.ts';
import { isEnded } from '../landing/reader.ts';
import type { NewPage } from '../landing/render-page.ts';
import type { CrawlDeps, TaskStart } from './crawl-task.ts';
import { describeListPage, describePage, landPage } from './land-page.ts';
import type { ReceivedPage } from './page.ts';
import { isDoubtful, refuseDeadEnd, refuseDisorder, refuseLoop } from './page-checks.ts';
import {
  type AskedCursor,
  advanceCursor,
  beginCursor,
  cursorAfterFailure,
  type PageCursor,
} from './page-cursor.ts';
import { readFacts } from './page-facts.ts';
import { decideStep } from './paging.ts';
import { isAscending, positionParams } from './position.ts';
import { maxAsked, type PageAsk, sendPage } from './send-page.ts';

/**
 * An incremental crawl ends when so many rows at the end of a page (all of a shorter one) are known: a few that nobody
 * changed may stand between changed ones, because replicas disagree and a full crawl takes its time.
 */
const knownRows = 200;

/** Crawls a list or a feed page by page, each landed before the next is asked for. */
export async function crawlPages(start: TaskStart, deps: CrawlDeps): Promise<void> {
  if (start.resume !== null && isEnded(start.resume)) return;
  let cursor = beginCursor(start);
  while (cursor.position !== null && start.split?.refused !== true) {
    const asked = { position: cursor.position };
    try {
      cursor = await crawlPage(start, deps, cursor, asked);
    } catch (error) {
      cursor = cursorAfterFailure(error, start.task, { ...cursor, ...asked });
    }
  }
}

/**
 * Asks for the next page until it is in no doubt, or often enough; returns the cursor after it has landed.
 * @param asked where it is asked for; less than the cursor would, where the job has learnt better meanwhile
 */
async function crawlPage(
  start: TaskStart,
  deps: CrawlDeps,
  cursor: PageCursor,
  asked: { position: Position },
): Promise<PageCursor> {
  const { task } = start;
  const wanted = asked.position;
  const size = deps.sizes(task);
  const ask: PageAsk = {
    choose() {
      asked.position = size.fit(wanted, cursor.trust);
      const count = task.operation.limit === null ? 1 : asked.position.limit;
      return { where: positionParams(task, asked.position), count };
    },
    onSlow: size.failed,
  };
  return sendPage(start, deps, ask, (page, receivedAt, isLast) =>
    keepPage(start, deps, { ...cursor, ...asked }, { page, receivedAt, isLast }),
  );
}

/**
 * Decides how the crawl goes on after a page, and lands the page with that.
 * @param cursor where it was asked for
 * @returns the cursor after it; null for a page that is doubtful, and not the last try: nothing of it is kept
 */
async function keepPage(
  start: TaskStart,
  deps: CrawlDeps,
  cursor: AskedCursor,
  { page, receivedAt, isLast }: { page: ReceivedPage; receivedAt: Date; isLast: boolean },
): Promise<PageCursor | null> {
  const { task } = start;
  const now = receivedAt.getTime();
  const facts = readFacts(start, cursor, page, now);
  const goal = { ...start.goal, since: task.since, ascending: isAscending(task.params), now };
  const step = decideStep(task, cursor.position, facts, goal, deps.shortPages);
  const moved = advanceCursor(task, cursor, facts, step);
  const described = describePage(start, deps, page, receivedAt);
  const listed = describeListPage(described, task, cursor, moved, facts, step);
  const known = await countKnown(start, cursor, listed, page, deps);
  const line: NewPage =
    known >= Math.min(knownRows, task.pageSize) ? { ...listed, next: null, end: 'known' } : listed;
  if (!isLast && isDoubtful(start, cursor, facts, line.end)) return null;
  // What was seen, a crawl that begins again forgets.
  const beginning = cursor.page > 1 && cursor.seen.size === 0 ? { begins_walk: true } : {};
  const marks = refuseLoop(task, page, cursor.position, cursor.seen);
  refuseDeadEnd(task, page, line);
  if (cursor.afterShort && page.records.length > 0)
    await deps.shortPages.refute(task.operation, task.job, task.target);
  await landPage(deps, start, line.end === null ? { ...line, marks, ...beginning } : line, page);
  deps.sizes(task).came(cursor.position.limit);
  refuseDisorder(moved, maxAsked);
  return { ...moved, known, position: line.end === null ? line.next : null };
}

/**
 * How many rows that an incremental crawl, which would go on after this page, asked for were known, up to this page's
 * last without one between that was not. More than one page counts where whole ones were too big to be answered.
 */
async function countKnown(
  { task, goal }: TaskStart,
  { known, position }: AskedCursor,
  line: NewPage,
  { records }: ReceivedPage,
  { isKnown }: CrawlDeps,
): Promise<number> {
  if (!task.incremental || line.end !== null) return 0;
  const isOfPage = await isKnown(line, records.slice(-knownRows), goal.seenSlot);
  return isOfPage ? known + position.limit : 0;
}
