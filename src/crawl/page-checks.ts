import { createHash } from 'node:crypto';
import type { Task } from '../jobs/task.ts';
import type { LandingRecord } from '../landing/landing-record.ts';
import type { EndReason, Position } from '../landing/page-line.ts';
import { hashContent } from '../landing/render-page.ts';
import { FeedDisorder, PagingLoop, type TaskStart } from './crawl-task.ts';
import type { PageAnswer, ReceivedPage } from './page.ts';
import type { PageCursor } from './page-cursor.ts';
import type { NextStep, PageFacts, PagingGoal } from './paging.ts';
import { isKeyPosition } from './position.ts';
import { readIds } from './record-keys.ts';

/** Pages in a row without order that show that a feed has none: continuing would pay for all of it each night. */
const maxDisordered = 2;

/** Whether a page is to be requested again: it is in no order, from a replica that is behind, or ends its list too early. */
export function isDoubtful(
  { task, goal }: TaskStart,
  cursor: PageCursor,
  facts: PageFacts,
  end: EndReason | null,
): boolean {
  const bounds = { ...cursor, ...goal };
  return (
    !facts.descends ||
    isBehind(task, facts, end, bounds) ||
    endsTooEarly(facts, end, bounds) ||
    (task.operation.paging === 'feed' && endsAfterFull(facts, end, bounds))
  );
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
 * Whether a feed of which nothing is covered ends with an empty page after a full one: a replica that lost the rest
 * answers as the end does. Of as many feeds as a page has records, only one really ends so.
 */
function endsAfterFull(
  { records }: Pick<PageFacts, 'records'>,
  end: EndReason | null,
  { afterFull, seenSlot }: Pick<PageCursor, 'afterFull'> & Pick<PagingGoal, 'seenSlot'>,
): boolean {
  return end === 'exhausted' && records === 0 && afterFull && seenSlot === null;
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

/** @throws PagingLoop for a page with more records behind it and no way to request them: they would be missing silently */
export function refuseDeadEnd({ operation }: Task, page: ReceivedPage, { next, end }: NextStep): void {
  const { more, cursor, records } = page;
  const goesByCursor = operation.paging === 'cursor' || operation.paging === 'feed';
  if (goesByCursor && more === true && cursor === null && records.length > 0)
    throw new PagingLoop('the API says that there are more records, but not how to ask for them');
  if (next === null && end === null)
    throw new PagingLoop('the page has no id that the list could be asked for after');
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
