import { ApiError } from '../api/api-errors.ts';
import { saysCursorRefused } from '../api/classify.ts';
import type { Task } from '../jobs/task.ts';
import type { PageGroup, Position } from '../landing/page-line.ts';
import { isEnded } from '../landing/reader.ts';
import { hashContent, type NewPage } from '../landing/render-page.ts';
import { BoundsIgnored, FeedDisorder, PagingLoop, RangesRefused } from './crawl-failures.ts';
import type { CrawlDeps, TaskStart } from './crawl-task.ts';
import { type FeedPage, readFeedPage } from './feed-page.ts';
import { furthestId, isInOrder, readIds } from './id-order.ts';
import type { ReceivedPage } from './page.ts';
import {
  endsTooEarly,
  isAscending,
  isBehind,
  isKeyPosition,
  type NextStep,
  nextStep,
  type PageFacts,
  positionAfter,
} from './paging.ts';
import { readPageGroup } from './record-groups.ts';
import { describePage, landPage, type PageAsk, positionParams, sendPage } from './send-page.ts';
import {
  askForLess,
  askForMore,
  beginWalk,
  countPage,
  isShort,
  refuseLoop,
  restartWalk,
  type Walk,
} from './walk.ts';

/** A page that is doubtful, from a replica that is behind or in no order, is asked for so many times in all, … */
const maxAsked = 3;
/** … with a wait below this before each; the index lags two or three seconds (API notes), other replicas less. */
const askAgainMs = 600;

/** Lists that are no feeds have no order of slots. */
const noPlace: FeedPage = {
  firstTime: null,
  lastSlot: null,
  lastTime: null,
  descends: true,
  coveredTime: null,
};

/** So many pages of a feed in a row that are in no order show that it has none: going on would buy all of it each night. */
const maxDisordered = 2;

/**
 * An incremental crawl ends when so many rows at the end of a page (all of a shorter one) are known: a few that nobody
 * changed may stand between changed ones, because replicas disagree and a full crawl takes its time.
 */
const knownRows = 200;

/** Walks a list or a feed page by page, each landed before the next is asked for. */
export async function crawlPages(start: TaskStart, deps: CrawlDeps): Promise<void> {
  if (start.resume !== null && isEnded(start.resume)) return;
  let walk = beginWalk(start);
  while (walk.position !== null && start.split?.refused !== true) {
    const place = { asked: walk.position };
    try {
      walk = await crawlPage(start, deps, walk, place);
    } catch (error) {
      walk = goOnAfter(error, start.task, { ...walk, position: place.asked }, place.asked);
    }
  }
}

/**
 * Asks for the next page until it is in no doubt, or often enough; returns the walk after it has landed.
 * @param place where it is asked for; less than the walk would, where the job has learnt better meanwhile
 */
async function crawlPage(
  start: TaskStart,
  deps: CrawlDeps,
  walk: Walk,
  place: { asked: Position },
): Promise<Walk> {
  const { task, goal } = start;
  const { asked: wanted } = place;
  const size = deps.sizes(task);
  const ask: PageAsk = {
    choose() {
      place.asked = size.fit(wanted, walk.trust);
      const count = task.operation.limit === null ? 1 : place.asked.limit;
      return { where: positionParams(task, place.asked), count };
    },
    onSlow: size.failed,
  };
  for (let asked = 1; ; asked += 1) {
    const after = await sendPage(start, deps, ask, async (page, receivedAt) => {
      const position = place.asked;
      const now = receivedAt.getTime();
      const facts = readFacts(start, walk, position, page, now);
      const aims = { since: task.since, ascending: isAscending(task.params), now };
      const afterPage = nextStep(task.operation, position, facts, { ...goal, ...aims });
      const same = endIfShort(start, position, page, afterPage, deps);
      const { step, trust } = askForMore(same, task, walk.trust);
      const moved = { ...moveOn(task, walk, position, page, facts, step), trust };
      const described = describePage(start, deps, page, receivedAt);
      const listed = {
        ...described,
        ...describeStep(task, walk, position, moved),
        ...step,
        last_slot: facts.lastSlot,
        ...(task.operation.feed?.by === 'time'
          ? { by_time: true as const, first_time: facts.firstTime }
          : {}),
        ...(facts.descends ? {} : { descends: false }),
      };
      const known = await countKnown(start, { ...walk, position }, listed, page, deps);
      const line = known >= Math.min(knownRows, task.pageSize) ? endAsKnown(listed) : listed;
      const bounds = { ...walk, ...goal };
      const isDoubtful =
        !facts.descends || isBehind(task, facts, line.end, bounds) || endsTooEarly(facts, line.end, bounds);
      if (asked < maxAsked && isDoubtful) return null;
      // What was seen, a walk that begins again forgets.
      const beginning = walk.page > 1 && walk.seen.size === 0 ? { begins_walk: true } : {};
      const marks = refuseLoop(task, page, position, walk.seen);
      refuseDeadEnd(task, page, line);
      if (walk.afterShort && page.records.length > 0)
        await deps.shortPages.refute(task.operation, task.job, task.target);
      const marked = line.end === null ? { ...line, marks, ...beginning } : line;
      await landPage(deps, start, marked, page);
      size.came(position.limit);
      refuseDisorder(moved);
      return { ...moved, known, position: line.end === null ? line.next : null };
    });
    if (after !== null) return after;
    await deps.timing.sleep(askAgainMs * asked * (0.5 + deps.timing.random() / 2));
  }
}

/** What a page's line says of where it stands in the walk. */
function describeStep(
  { operation: { groupBy, idMember } }: Task,
  { page }: Walk,
  position: Position,
  { group, lastKey, restart }: Walk,
): Pick<NewPage, 'page' | 'position' | 'group' | 'last_key' | 'restart'> {
  return {
    ...{ page, position },
    ...(groupBy === undefined ? {} : { group }),
    ...(idMember === undefined ? {} : { last_key: lastKey }),
    ...(restart.depth === page ? {} : { restart }),
  };
}

/**
 * How many rows that an incremental crawl, which would go on after this page, asked for were known, up to this page's
 * last without one between that was not. More than one page counts where whole ones were too big to be answered.
 */
async function countKnown(
  { task, goal }: TaskStart,
  { known, position }: Walk,
  line: NewPage,
  { records }: ReceivedPage,
  { isKnown }: CrawlDeps,
): Promise<number> {
  if (!task.incremental || line.end !== null) return 0;
  const isOfPage = await isKnown(line, records.slice(-knownRows), goal.seenSlot);
  return isOfPage ? known + (position?.limit ?? 0) : 0;
}

/** A list that would go on after a short page, at a provider where that is its end. */
function endIfShort(
  { task }: TaskStart,
  position: Position,
  { records }: ReceivedPage,
  step: NextStep,
  { shortPages }: CrawlDeps,
): NextStep {
  const { operation, incremental } = task;
  if (operation.paging !== 'keyset' || incremental || step.end !== null) return step;
  if (!isShort(records.length, position) || !shortPages.isEnd(operation)) return step;
  return { next: null, end: 'short' };
}

function endAsKnown(line: NewPage): NewPage {
  return { ...line, next: null, end: 'known' };
}

function readFacts(
  { task, goal }: TaskStart,
  walk: Walk,
  position: Position,
  page: ReceivedPage,
  now: number,
): PageFacts {
  const { cursor, more, slot, records, nulls } = page;
  const { feed } = task.operation;
  const at = { reached: walk.reachedSlot, coveredSlot: goal.coveredSlot, now };
  const place = feed === undefined ? noPlace : readFeedPage(feed, page, at);
  return {
    ...{ records: records.length, nulls, cursor, more, slot, ...place },
    coveredTime: walk.coveredTime ?? place.coveredTime,
    content: () => hashContent(records),
    lastKey: readLastKey(task, walk, position, page),
    page: walk.page,
    depth: walk.restart.depth + position.limit / task.pageSize,
  };
}

function moveOn(
  { operation: { groupBy } }: Task,
  walk: Walk,
  position: Position,
  { records, slot }: ReceivedPage,
  { lastKey, lastSlot, descends, coveredTime, depth }: PageFacts,
  { next }: NextStep,
): Walk {
  const group: PageGroup | null = groupBy === undefined ? null : readPageGroup(groupBy, records, walk.group);
  return {
    ...walk,
    page: walk.page + 1,
    position: next,
    ...{ group, lastKey, cursorSlot: lastSlot, coveredTime },
    afterShort: isShort(records.length, position),
    reachedSlot: lastSlot ?? walk.reachedSlot,
    disordered: descends ? 0 : walk.disordered + 1,
    lowestSlot: slot === null ? walk.lowestSlot : Math.min(slot, walk.lowestSlot ?? slot),
    restart: countPage(walk.restart, depth),
  };
}

/**
 * The walk after a failure that it survives: too much was asked for at once, or the API no longer knows the cursor.
 * @throws RangesRefused where a range shows that the source has none; what failed otherwise
 */
function goOnAfter(error: unknown, task: Task, walk: Walk, position: Position): Walk {
  const less = askForLess(error, task, walk);
  if (less !== null) return less;
  if (showsNoRanges(error, task, walk)) throw new RangesRefused((error as Error).message);
  const again = isPositionRefused(error, task, position) ? restartWalk(task, walk) : null;
  if (again === null) throw error;
  return again;
}

/**
 * A bound that is refused where it is sent for the first time: `after` on a range's first page (on the second of the
 * first range, which begins without it). Or one that is not kept: on the first two pages, because a first page of few
 * ids may keep it by chance; `before` on any, as a page far below it does not show it.
 */
function showsNoRanges(error: unknown, { range }: Task, { page }: Walk): boolean {
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

/**
 * The id a page of a keyset list ends at; null where its pages are not in the order of their ids, so that none can be
 * gone on after. All ids of a range's first page are looked at, because nobody knows yet whether the source has ranges.
 * @throws BoundsIgnored when the page was asked for by bounds and does not keep them
 */
function readLastKey(task: Task, walk: Walk, position: Position, { records }: ReceivedPage): string | null {
  const { idMember } = task.operation;
  if (idMember === undefined || position.page !== undefined) return null;
  const byKey = isKeyPosition(position);
  const ascending = isAscending(task.params);
  const ids = readIds(records, idMember, byKey && walk.page === 1 ? 'all' : 'ends');
  const bounds =
    byKey || walk.lastKey === null ? position : positionAfter(walk.lastKey, { limit: 0 }, ascending);
  const inOrder = isInOrder(ids.listed, ascending, bounds);
  if (byKey && !inOrder)
    throw new BoundsIgnored(ascending && isInOrder(ids.listed, ascending, { after: position.after }));
  if (!byKey && (!inOrder || (walk.lastKey === null && walk.restart.depth > 0))) return null;
  return furthestId(ids, ascending) ?? (byKey ? null : walk.lastKey);
}

/** @throws FeedDisorder after as many pages as show that the feed has no order; what they hold has landed */
function refuseDisorder({ disordered }: Walk): void {
  if (disordered < maxDisordered) return;
  throw new FeedDisorder(
    `the slots of ${disordered} pages in a row do not go down, although each was asked for ${maxAsked} times`,
  );
}

/** More records, and no way to ask for them: taken for the end, they would be missing silently. */
function refuseDeadEnd({ operation }: Task, page: ReceivedPage, { next, end }: NextStep): void {
  const { more, cursor, records } = page;
  const walksByCursor = operation.paging === 'cursor' || operation.paging === 'feed';
  if (walksByCursor && more === true && cursor === null && records.length > 0)
    throw new PagingLoop('the API says that there are more records, but not how to ask for them');
  if (next === null && end === null)
    throw new PagingLoop('the page has no id that the list could be asked for after');
}
