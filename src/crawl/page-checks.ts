import { createHash } from 'node:crypto';
import type { Task } from '../jobs/task.ts';
import type { LandingRecord } from '../landing/landing-record.ts';
import type { EndReason, Position } from '../landing/page-line.ts';
import { hashContent } from '../landing/render-page.ts';
import { FeedDisorder, PagingLoop } from './crawl-failures.ts';
import type { TaskStart } from './crawl-task.ts';
import { readIds } from './id-order.ts';
import type { PageAnswer, ReceivedPage } from './page.ts';
import type { PageCursor } from './page-cursor.ts';
import type { NextStep, PageFacts, PagingGoal } from './paging.ts';
import { isKeyPosition } from './position.ts';

/** So many pages of a feed in a row that are in no order show that it has none: going on would buy all of it each night. */
const maxDisordered = 2;

/** Whether a page, which may have an end, is to be asked for again: it is in no order, or from a replica that is behind. */
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
 * Whether a page comes from a replica that is behind, where that matters: a feed's page below its cursor, a first
 * page below what the source was seen at, a page that would end the list below all others, and every such page of an
 * incremental crawl: there what is missing on top lifts the list over the page's number, and rows are passed by.
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
 * Whether a feed's end is doubtful: it has come down to nothing that is covered, where records are. What publishing
 * believes of it says sql/publish/coverage.sql.
 */
function endsTooEarly(
  { lastSlot }: Pick<PageFacts, 'lastSlot'>,
  end: EndReason | null,
  {
    cursorSlot,
    coveredSlot,
    hadRecords,
  }: Pick<PageCursor, 'cursorSlot'> & Pick<PagingGoal, 'coveredSlot' | 'hadRecords'>,
): boolean {
  if (end !== 'exhausted' || coveredSlot === null || hadRecords !== true) return false;
  return (lastSlot ?? cursorSlot ?? Number.POSITIVE_INFINITY) > coveredSlot;
}

/**
 * Whether a feed of which nothing is covered ends with an empty page below a full one: a replica that lost what lies there
 * says the same as the end does. Of as many feeds as a page has records, one ends so.
 */
function endsAfterFull(
  { records }: Pick<PageFacts, 'records'>,
  end: EndReason | null,
  { afterFull, coveredSlot }: Pick<PageCursor, 'afterFull'> & Pick<PagingGoal, 'coveredSlot'>,
): boolean {
  return end === 'exhausted' && records === 0 && afterFull && coveredSlot === null;
}

/**
 * The same records or the same cursor twice in one crawl is a circle: a server that ignores the cursor goes on for ever.
 * A crawl by ids does not go by the cursors it is given. Pages that begin and end with the same ids have the same
 * records, whatever their bytes. By page number twice is none yet: as many records as a page has came in above.
 * @returns the page's marks, now in `seen`
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
  const most = position.page === undefined ? 1 : 2;
  const marks: string[] = [];
  for (const [what, value] of [
    ['ids', ids],
    ['records', records.length === 0 || ids !== null ? null : hashContent(records)],
    ['cursor', cursor],
  ] as const) {
    if (value === null) continue;
    const mark = `${what} ${createHash('sha256').update(value).digest('hex').slice(0, 16)}`;
    const times = (seen.get(mark) ?? 0) + 1;
    if (times > most)
      throw new PagingLoop(`the API gave the same ${what} ${times} times: it pages in a circle`);
    seen.set(mark, times);
    marks.push(mark);
  }
  return marks;
}

/** What a page's ids are, by its ends; null where fewer than two can be read. */
function describeIds(records: readonly LandingRecord[], idMember: string): string | null {
  const { listed } = readIds(records, idMember, 'ends');
  return listed.length < 2 ? null : `${listed.join(' ')} ${records.length}`;
}

/** More records, and no way to ask for them: taken for the end, they would be missing silently. */
export function refuseDeadEnd({ operation }: Task, page: ReceivedPage, { next, end }: NextStep): void {
  const { more, cursor, records } = page;
  const goesByCursor = operation.paging === 'cursor' || operation.paging === 'feed';
  if (goesByCursor && more === true && cursor === null && records.length > 0)
    throw new PagingLoop('the API says that there are more records, but not how to ask for them');
  if (next === null && end === null)
    throw new PagingLoop('the page has no id that the list could be asked for after');
}

/**
 * @param times how often each page was asked for
 * @throws FeedDisorder after as many pages as show that the feed has no order; what they hold has landed
 */
export function refuseDisorder({ disordered }: PageCursor, times: number): void {
  if (disordered < maxDisordered) return;
  throw new FeedDisorder(
    `the slots of ${disordered} pages in a row do not go down, although each was asked for ${times} times`,
  );
}
