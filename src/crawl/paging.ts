import type { Since } from '../jobs/job.ts';
import type { Task } from '../jobs/task.ts';
import type { EndReason, PageGroup, Position } from '../landing/page-line.ts';
import type { Operation } from '../operations/operation.ts';
import { isFull, isKeyPosition, isShort, positionAfter } from './position.ts';
import type { HeardSlots } from './slot-ceiling.ts';

/** Where a feed's page is in the ledger, by its records. In feeds ordered by time, slots are Unix times. */
export interface FeedFacts {
  /** Feeds by time: Unix time of the newest record; null where none is known, and in other feeds. */
  firstTime: number | null;
  /** Slot of the record that the page reaches down to; null where none is known, or the page does not descend. */
  lastSlot: number | null;
  /** Unix time of the record that the page reaches down to; null where it has none. */
  lastTime: number | null;
  /** Whether the slots go down, starting from those of the page before; true for lists that are no feeds. */
  descends: boolean;
  /** The slot from which up the page was read within `overlap` of its slots' own time; null where none is that young. */
  freshSlot: number | null;
}

/** The facts of a page that decide where its crawl continues. */
export interface PageFacts extends FeedFacts {
  records: number;
  /** Records that are null. */
  nulls: number;
  cursor: string | null;
  more: boolean | null;
  slot: number | null;
  /** Digest of its records; computed only where it may decide. */
  content(): string;
  /** Keyset operations: the id that the page ends at; null where the list cannot continue after an id. */
  lastKey: string | null;
  /** The group that the page ends in; null where its records have none. */
  group: PageGroup | null;
  /** Number of the page in its crawl, from 1. */
  page: number;
  /**
   * Whole pages since the crawl began at the start of the list, this one included: less than `page` after a restart, and
   * where some had a smaller limit.
   */
  depth: number;
}

/** What earlier crawls of the task received. */
export interface PagingGoal {
  /** Slot of the last complete crawl: a source that is no newer has nothing new, if its first page is unchanged too. */
  lastCompleteSlot: number | null;
  /** Digest of the first page of that crawl, because a source's slot may be stuck while its content moves. Null: unknown. */
  firstContent: string | null;
  /** Newest slot that was seen (feeds: covered): an answer below it comes from a replica that is behind. */
  seenSlot: number | null;
  /** Feeds: newest slot that is covered and not to be read again. */
  coveredSlot: number | null;
  /** Set where the last complete crawl had records, which the list should still have. */
  hadRecords?: true;
  /** Feeds: how old a slot must be when it is read, so that the next round does not read it again; absent: any age will do. */
  overlap?: Overlap;
  /** The slots of this run's answers of the interface, this one's included. */
  heard?: HeardSlots;
  since: Since | null;
  /** Whether ids ascend; they descend unless the job asks for it. */
  ascending: boolean;
  /** Unix ms, for `since: 1d`. */
  now: number;
}

/** An age before which records may still be indexed: a time, and the slots of the ledger in that time. */
export interface Overlap {
  seconds: number;
  slots: number;
}

export interface NextStep {
  next: Position | null;
  end: EndReason | null;
}

/** How a crawl continues after a page: as `nextStep`, but a short page ends its list at a provider where it is the end. */
export function decideStep(
  { operation, incremental }: Task,
  position: Position,
  page: PageFacts,
  goal: PagingGoal,
  shortPages: Pick<ShortPages, 'isEnd'>,
): NextStep {
  const step = nextStep(operation, position, page, goal);
  if (operation.paging !== 'keyset' || incremental || step.end !== null) return step;
  if (!isShort(page.records, position) || !shortPages.isEnd(operation)) return step;
  return { next: null, end: 'short' };
}

/**
 * How a crawl continues after a page. A list ends with a page without a cursor (where it pages by cursor), with an answer
 * that says there is no more, or with an empty page. Never with a short page, because providers drop rows after LIMIT;
 * never by `total`, which is the page's own count; never with a full page that only lacks its cursor: without an id to
 * continue after, `next` and `end` are null.
 */
export function nextStep(
  operation: Operation,
  position: Position,
  page: PageFacts,
  goal: PagingGoal,
): NextStep {
  const end = endReason(operation, position, page, goal);
  // What is below counts as covered because another crawl is on its way there; should it fail, this cursor leads on.
  if (end === 'covered' && page.cursor !== null && promisesBelow(page, goal))
    return { next: { limit: position.limit, cursor: page.cursor }, end };
  if (end !== null) return { next: null, end };
  if (isKeyPosition(position) || lacksCursor(operation, position, page))
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
  // No end: a filtered history may give an empty page with a cursor and `more`, or a cursor with only null records.
  const isEmpty = page.records === 0 && (page.cursor === null || (page.more !== true && page.nulls === 0));
  const hasNoNext = page.more === false || (goesByCursor(operation, position) && page.cursor === null);
  const isLast = operation.paging === 'none' || isEmpty || hasNoNext;
  if (isLast && !lacksCursor(operation, position, page)) return 'exhausted';
  if (operation.paging === 'feed')
    return isHeadBehind(position, page, goal) ? 'unchanged' : feedEnd(page, goal);
  return hasNothingNew(page, goal) && !isContradicted(goal) ? 'unchanged' : null;
}

function goesByCursor({ paging }: Operation, { cursor }: Position): boolean {
  return paging === 'cursor' || paging === 'feed' || cursor !== undefined;
}

/** Whether a page has no cursor although its list most likely continues: it is full, or says that there are more. */
export function lacksCursor(operation: Operation, position: Position, page: PageFacts): boolean {
  const { cursor, more, records } = page;
  if (!goesByCursor(operation, position) || cursor !== null) return false;
  return more ?? isFull(records, position);
}

/**
 * Whether the first page shows that nothing changed since the last complete crawl. An answer below the newest slot seen
 * proves nothing, because its replica is behind; nor does the slot alone, which may be stuck while the content moves.
 */
export function hasNothingNew(
  { page, slot, content }: PageFacts,
  {
    lastCompleteSlot,
    firstContent,
    seenSlot,
  }: Pick<PagingGoal, 'lastCompleteSlot' | 'firstContent' | 'seenSlot'>,
): boolean {
  if (page !== 1 || slot === null || lastCompleteSlot === null || firstContent === null) return false;
  return slot <= lastCompleteSlot && slot >= (seenSlot ?? slot) && content() === firstContent;
}

/** Whether another answer of the run is newer: the slot then stands still on one replica only. */
export function isContradicted({
  lastCompleteSlot,
  heard,
}: Pick<PagingGoal, 'lastCompleteSlot' | 'heard'>): boolean {
  return heard !== undefined && lastCompleteSlot !== null && heard.newest > lastCompleteSlot;
}

/** Whether a feed's head is below what is covered: it has nothing new, and going down from it would leave a gap above. */
function isHeadBehind(position: Position, { slot, firstTime }: PageFacts, { seenSlot }: PagingGoal): boolean {
  const head = slot ?? firstTime;
  return position.cursor === undefined && head !== null && seenSlot !== null && head < seenSlot;
}

/**
 * A feed is crawled down to `coveredSlot` inclusive: signatures share slots, so a page that ends inside that slot is not
 * the last. `since` is the bound only where nothing is covered.
 */
function feedEnd(page: PageFacts, goal: PagingGoal): EndReason | null {
  if (goal.coveredSlot === null) return sinceEnd(page, goal);
  return page.lastSlot !== null && page.lastSlot < goal.coveredSlot ? 'covered' : null;
}

function sinceEnd(page: PageFacts, { since, now }: PagingGoal): EndReason | null {
  if (since === null || since.kind === 'all') return null;
  // Fractions of pages add up to whole ones, except for rounding.
  if (since.kind === 'pages') return page.depth > since.pages - 1e-6 ? 'since' : null;
  if (since.kind === 'slot') return page.lastSlot !== null && page.lastSlot < since.slot ? 'since' : null;
  return page.lastTime !== null && page.lastTime * 1000 < now - since.ms ? 'since' : null;
}

/** Whether `since` reaches below a feed's page. A number of pages promises nothing below them. */
function promisesBelow(page: PageFacts, goal: PagingGoal): boolean {
  return goal.since?.kind !== 'pages' && sinceEnd(page, goal) === null;
}

/**
 * Whether a page with fewer records than requested ends its list. At most providers it may not, because they drop rows
 * after LIMIT. Where the config says that it does (`api.short_page_ends`), a sample is checked with one more request.
 */
export interface ShortPages {
  /** Whether the short page just received ends its list. Called once a page, because it counts them for the sample. */
  isEnd(operation: Operation): boolean;
  /** Records that a page after a short one has records. Durable when it resolves. */
  refute(operation: Operation, job: string, target: string): Promise<void>;
}

/** One in so many short pages is checked, and the first. */
const sampleEvery = 20;

/** For a run without the setting: no short page ends its list. */
export const noShortPageEnds: ShortPages = { isEnd: () => false, refute: async () => undefined };

/**
 * @param trusted operations whose short pages end their lists, until one turns out not to
 * @param random 0 to 1: chooses the sample, so that it is not the same targets every night
 * @param onRefuted called once an operation
 */
export function createShortPages(
  trusted: ReadonlySet<string>,
  random: () => number,
  onRefuted: (operation: string, job: string, target: string) => Promise<void>,
): ShortPages {
  const stillTrusted = new Set(trusted);
  const counts = new Map<string, number>();
  const offset = Math.floor(random() * sampleEvery);
  return {
    isEnd({ name }) {
      if (!stillTrusted.has(name)) return false;
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      return count !== 0 && (count + offset) % sampleEvery !== 0;
    },
    async refute({ name }, job, target) {
      if (stillTrusted.delete(name)) await onRefuted(name, job, target);
    },
  };
}
