import type { Task } from '../jobs/task.ts';
import { isEnded, type LandedCrawl } from '../landing/reader.ts';
import type { CoveredInterval, CrawlState, FeedGap, PlannedStart } from './crawl-state.ts';

/**
 * Plans the crawls of a feed. Its head comes first, down to the newest slot that is covered or being covered; then open
 * crawls continue, and gaps without a crawl begin at their cursors, each down to what is covered below. Only a head that
 * this round has finished is left out.
 */
export function planFeed(task: Task, state: CrawlState, run: string, headFinished: boolean): PlannedStart[] {
  const overlap = overlapOf(task, state);
  const landed = (state.landed.get(task.id) ?? []).filter((crawl) => crawl.failed === null);
  const covered = state.coverage.get(task.id) ?? [];
  const hadRecords = (state.complete.get(task.id)?.records ?? 0) > 0;
  const start = (crawl: string, below: number, more: Partial<PlannedStart> = {}): PlannedStart => ({
    ...{
      task,
      crawl,
      resume: null,
      expected: null,
      completedAt: null,
      fullPages: null,
    },
    goal: {
      lastCompleteSlot: null,
      firstContent: null,
      seenSlot: null,
      coveredSlot: coveredBelow(below, covered, landed, crawl),
      ...(hadRecords ? { hadRecords } : {}),
      // Only the head reads again what may be indexed late: below the newest covered slot, not below each gap.
      ...((more.from ?? more.resume?.first?.from_slot ?? null) === null ? overlap : {}),
    },
    ...more,
  });
  const open = landed.filter((crawl) => !isEnded(crawl) && crawl.last !== null);
  const wasCrawled = covered.length > 0 || landed.length > 0;
  const isUnderWay = ({ highSlot, cursor }: FeedGap) =>
    open.some((crawl) => crawl.last?.next?.cursor === cursor || lowestReach(crawl) === highSlot);
  const gaps = (state.gaps.get(task.id) ?? []).filter((gap) => !isUnderWay(gap));
  return [
    ...(headFinished
      ? []
      : [start(run, Number.POSITIVE_INFINITY, { expected: wasCrawled ? { pages: 1, records: 0 } : null })]),
    ...open.map((crawl) => start(crawl.crawl, lowestReach(crawl), { resume: crawl })),
    ...gaps.map((gap) => start(`${run}-gap-${gap.highSlot}`, gap.highSlot, fromGap(task, gap))),
  ];
}

/** How far a head reads again below the newest covered slot. */
function overlapOf(
  { overlapMs, operation }: Task,
  { slots }: CrawlState,
): Pick<PlannedStart['goal'], 'overlap'> {
  if (overlapMs === null || overlapMs === 0) return {};
  const seconds = overlapMs / 1000;
  const perSecond = operation.feed?.by === 'time' ? 1 : slots.perSecond;
  return { overlap: { seconds, slots: Math.ceil(seconds * perSecond) } };
}

/** Where the crawl of a gap begins; at the head where the gap has no cursor. */
function fromGap({ pageSize }: Task, { highSlot, cursor, group }: FeedGap): Pick<PlannedStart, 'from'> {
  const position = { limit: pageSize };
  if (cursor === null) return { from: { slot: highSlot, position } };
  return {
    from: { slot: highSlot, position: { ...position, cursor }, ...(group === null ? {} : { group }) },
  };
}

/** The lowest slot that a crawl reached or began at: after a restart at the head its last page is higher. */
function lowestReach({ reachedSlot, first }: LandedCrawl): number {
  return Math.min(reachedSlot ?? Number.POSITIVE_INFINITY, first?.from_slot ?? Number.POSITIVE_INFINITY);
}

/**
 * The newest slot, at most `below`, that is covered, or from which another crawl of the feed goes down. Of two crawls at
 * one slot the younger relies on the older: if each relied on the other, neither would continue.
 */
function coveredBelow(
  below: number,
  covered: readonly CoveredInterval[],
  landed: readonly LandedCrawl[],
  name: string,
): number | null {
  const others = landed.flatMap((crawl) =>
    listSlotsCovering(crawl).filter((slot) => slot < below || (slot === below && crawl.crawl < name)),
  );
  const reached = covered.flatMap(({ lowSlot, highSlot }) =>
    lowSlot <= below ? Math.min(highSlot, below) : [],
  );
  const slots = [...reached, ...others];
  return slots.length === 0 ? null : slots.reduce((newest, slot) => Math.max(newest, slot));
}

/** The slots from which a crawl covers what is below: where it began, unless a replica was behind, and where it is open. */
function listSlotsCovering(crawl: LandedCrawl): number[] {
  const { first, last, reachedSlot } = crawl;
  if (first === null || last?.end === 'unchanged') return [];
  // An empty head may have been wrong: sql/publish/coverage.sql decides what it covers.
  if (isEnded(crawl) && reachedSlot === null) return [];
  const answerSlot = first.by_time ? Number.POSITIVE_INFINITY : (first.slot ?? 0);
  const began = first.from_slot ?? (first.by_time ? first.first_time : first.slot) ?? null;
  return [
    ...(began === null || answerSlot < began ? [] : [began]),
    ...(isEnded(crawl) || reachedSlot === null ? [] : [reachedSlot]),
  ];
}
