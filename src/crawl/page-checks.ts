import { createHash } from 'node:crypto';
import type { Task } from '../jobs/task.ts';
import type { LandingRecord } from '../landing/landing-record.ts';
import type { EndReason, Position } from '../landing/page-line.ts';
import { hashContent } from '../landing/render-page.ts';
import { FeedDisorder, PagingLoop, type TaskStart } from './crawl-task.ts';
import type { PageAnswer } from './page.ts';
import type { PageCursor, RequestedCursor } from './page-cursor.ts';
import {
  hasNothingNew,
  isContradicted,
  lacksCursor,
  type NextStep,
  type PageFacts,
  type PagingGoal,
} from './paging.ts';
import { isKeyPosition } from './position.ts';
import { readIds } from './record-keys.ts';
import type { Doubt } from './request-page.ts';
import type { HeardSlots } from './slot-ceiling.ts';

/** Pages in a row without order that show that a feed has none: continuing would pay for all of it each night. */
const maxDisordered = 2;

/** What is doubtful about a page; null: nothing. */
export function findDoubt(
  { task, goal }: TaskStart,
  cursor: RequestedCursor,
  facts: PageFacts,
  end: EndReason | null,
  heard: HeardSlots,
): Doubt | null {
  const bounds = { ...cursor, ...goal };
  if (!facts.descends) return 'disorder';
  if (isBehind(task, facts, end, bounds)) return 'behind';
  if (lacksCursor(task.operation, cursor.position, facts) && end === null) return 'no_cursor';
  if (end === 'exhausted' && isEmptyTooSoon(facts, bounds)) return 'empty';
  if (hasNothingNew(facts, goal) && (heard.answers < 2 || isContradicted({ ...goal, heard })))
    return 'unchanged';
  // A list ends where it has no more; a feed, where others have been.
  return task.operation.paging === 'feed' && endsTooEarly(facts, end, bounds) ? 'early' : null;
}

/**
 * Whether a page comes from a replica that is behind, where that matters: a feed's page below its cursor, a first page
 * below the newest slot seen, a page below all others that would end the list. In an incremental crawl every page below
 * all others matters, because rows that are missing on top shift the list over the page's number, and rows are skipped.
 */
function isBehind(
  { operation: { paging }, incremental }: Pick<Task, 'operation' | 'incremental'>,
  { slot, page }: Pick<PageFacts, 'slot' | 'page'>,
  end: EndReason | null,
  {
    seenSlot,
    cursorSlot,
    lowestSlot,
  }: Pick<PageCursor, 'cursorSlot' | 'lowestSlot'> & Pick<PagingGoal, 'seenSlot'>,
): boolean {
  if (paging === 'feed' && end === 'unchanged') return true;
  if (slot === null) return false;
  if (paging === 'feed') return cursorSlot !== null && slot < cursorSlot;
  if (page === 1) return seenSlot !== null && slot < seenSlot;
  return (end !== null || incremental) && lowestSlot !== null && slot < lowestSlot;
}

/**
 * Whether a feed ends above what is covered, although records were received there. sql/publish/coverage.sql decides what
 * publishing believes of it.
 */
function endsTooEarly(
  { lastSlot }: Pick<PageFacts, 'lastSlot'>,
  end: EndReason | null,
  {
    cursorSlot,
    seenSlot,
    hadRecords,
  }: Pick<PageCursor, 'cursorSlot'> & Pick<PagingGoal, 'seenSlot' | 'hadRecords'>,
): boolean {
  if (end !== 'exhausted' || seenSlot === null || hadRecords !== true) return false;
  return (lastSlot ?? cursorSlot ?? Number.POSITIVE_INFINITY) > seenSlot;
}

/**
 * Whether a list ends with an empty page where records are likely: after a full page, or at the start of a list that had
 * some. A replica that lost them answers as the end does. Of as many lists as a page has records, only one ends after a
 * full page.
 */
function isEmptyTooSoon(
  { records }: Pick<PageFacts, 'records'>,
  { page, afterFull, hadRecords }: Pick<PageCursor, 'page' | 'afterFull'> & Pick<PagingGoal, 'hadRecords'>,
): boolean {
  return records === 0 && (afterFull || (page === 1 && hadRecords === true));
}

/**
 * Refuses the same records or the same cursor twice in one crawl: a server that ignores the cursor gives them for ever.
 * Pages that begin and end with the same ids have the same records, whatever their bytes. A crawl by ids ignores the
 * answers' cursors. A crawl by page number may see a page twice, when a whole page of new records arrived above it.
 * @returns the page's marks, which are added to `seen`
 * @throws PagingLoop
 */
export function refuseLoop(
  { operation }: Task,
  page: PageAnswer,
  position: Position,
  seen: Map<string, number>,
): string[] {
  const { records, more } = page;
  const cursor = isKeyPosition(position) ? null : page.cursor;
  if (records.length === 0 && more !== true) return [];
  const ids = operation.idMember === undefined ? null : describeIds(records, operation.idMember);
  const maxTimes = position.page === undefined ? 1 : 2;
  const marks: string[] = [];
  for (const [what, value] of [
    ['ids', ids],
    ['records', records.length === 0 || ids !== null ? null : hashContent(records)],
    ['cursor', cursor],
  ] as const) {
    if (value === null) continue;
    const mark = `${what} ${createHash('sha256').update(value).digest('hex').slice(0, 16)}`;
    const times = (seen.get(mark) ?? 0) + 1;
    if (times > maxTimes)
      throw new PagingLoop(`the API gave the same ${what} ${times} times: it pages in a circle`);
    seen.set(mark, times);
    marks.push(mark);
  }
  return marks;
}

/** Identifies a page's ids by the first and the last; null where fewer than two can be read. */
function describeIds(records: readonly LandingRecord[], idMember: string): string | null {
  const { listed } = readIds(records, idMember, 'ends');
  return listed.length < 2 ? null : `${listed.join(' ')} ${records.length}`;
}

/** @throws PagingLoop for a page that its list most likely continues after, without a way to: the rest would be missing silently */
export function refuseDeadEnd({ next, end }: NextStep): void {
  if (next === null && end === null)
    throw new PagingLoop(
      'the page is full, or says that there are more records, but has neither a cursor nor an id to continue after',
    );
}

/**
 * @param times how often each page was requested
 * @throws FeedDisorder after as many pages as show that the feed has no order; their records have landed
 */
export function refuseDisorder({ disordered }: PageCursor, times: number): void {
  if (disordered < maxDisordered) return;
  throw new FeedDisorder(
    `the slots of ${disordered} pages in a row do not go down, although each was asked for ${times} times`,
  );
}
