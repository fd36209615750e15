import type { Task } from '../jobs/task.ts';
import { isEnded, type LandedCrawl } from '../landing/reader.ts';
import type { CoveredInterval, CrawlState, FeedGap, FreshInterval, PlannedStart } from './crawl-state.ts';

/** A job's open round. */
export interface FeedRound {
  /** Its first run; null where this run begins one. */
  round: string | null;
  /** Whether it has finished the feed's head. */
  finished: boolean;
}

/**
 * Plans the crawls of a feed. Its head comes first, down to the newest slot that is covered or being covered; then open
 * crawls continue, and gaps without a crawl begin at their cursors, each down to what is covered below. Only a head that
 * this round has finished is left out. What an earlier round read too young counts as not covered, so that it is read again.
 */
export function planFeed(
  task: Task,
  state: CrawlState,
  run: string,
  { round, finished }: FeedRound,
): PlannedStart[] {
  const overlap = overlapOf(task, state);
  const landed = (state.landed.get(task.id) ?? []).filter((crawl) => crawl.failed === null);
  const covered = state.coverage.get(task.id) ?? [];
  const isOfRound = (of: string) => round !== null && of >= round;
  const fresh = (state.fresh.get(task.id) ?? []).filter((interval) => !isOfRound(interval.run));
  const hadRecords = (state.complete.get(task.id)?.records ?? 0) > 0;
  const start = (crawl: string, below: number, more: Partial<PlannedStart> = {}): PlannedStart => {
    // Of two crawls at one slot the younger relies on the older: if each relied on the other, neither would continue.
    const others = landed.filter((other) => other.crawl !== crawl);
    const reached = (skipFresh: boolean) =>
      newestOf([
        ...covered.flatMap((interval) => newestBelow(interval, below, skipFresh ? fresh : [])),
        ...others.flatMap((other) =>
          listSlotsCovering(other, skipFresh && !isOfRound(other.crawl)).filter(
            (slot) => slot < below || (slot === below && other.crawl < crawl),
          ),
        ),
      ]);
    return {
      ...{ task, crawl, resume: null, expected: null, completedAt: null, fullPages: null },
      goal: {
        ...{ lastCompleteSlot: null, firstContent: null },
        ...{ seenSlot: reached(false), coveredSlot: reached(true) },
        ...(hadRecords ? { hadRecords } : {}),
        ...(overlap === null ? {} : { overlap }),
      },
      ...more,
    };
  };
  const open = landed.filter((crawl) => !isEnded(crawl) && crawl.last !== null);
  const wasCrawled = covered.length > 0 || landed.length > 0;
  const head: Partial<PlannedStart> = {
    expected: wasCrawled ? { pages: 1, records: 0 } : null,
    ...(open.some(({ crawl }) => isOfRound(crawl)) ? { triedInRound: true } : {}),
  };
  const isUnderWay = ({ highSlot, cursor }: FeedGap) =>
    open.some((crawl) => crawl.last?.next?.cursor === cursor || lowestReach(crawl) === highSlot);
  const gaps = (state.gaps.get(task.id) ?? []).filter((gap) => !isUnderWay(gap));
  return [
    ...(finished ? [] : [start(run, Number.POSITIVE_INFINITY, head)]),
    ...open.map((crawl) => start(crawl.crawl, lowestReach(crawl), { resume: crawl })),
    ...gaps.map((gap) => start(`${run}-gap-${gap.highSlot}`, gap.highSlot, fromGap(task, gap))),
  ];
}

/** The age before which a slot's records may still be indexed; null where the job has none read again. */
function overlapOf(
  { overlapMs, operation }: Task,
  { slots }: CrawlState,
): NonNullable<PlannedStart['goal']['overlap']> | null {
  if (overlapMs === null || overlapMs === 0) return null;
  const seconds = overlapMs / 1000;
  const perSecond = operation.feed?.by === 'time' ? 1 : slots.perSecond;
  return { seconds, slots: Math.ceil(seconds * perSecond) };
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

function newestOf(slots: readonly number[]): number | null {
  return slots.length === 0 ? null : slots.reduce((newest, slot) => Math.max(newest, slot));
}

/**
 * The slot, at most `below`, at which a crawl that comes down to a covered interval may end: its newest, or the lowest of
 * the fresh slots that it is in.
 * @param fresh newest first
 */
function newestBelow(
  { lowSlot, highSlot }: CoveredInterval,
  below: number,
  fresh: readonly FreshInterval[],
): number[] {
  if (lowSlot > below) return [];
  const from = Math.min(highSlot, below);
  return [
    fresh.reduce(
      (slot, part) => (part.lowSlot < slot && part.highSlot >= slot - 1 ? part.lowSlot : slot),
      from,
    ),
  ];
}

/**
 * The slots from which a crawl covers what is below: where it began, unless a replica was behind, and where it is open.
 * @param skipFresh whether what it read too young does not count
 */
function listSlotsCovering(crawl: LandedCrawl, skipFresh: boolean): number[] {
  const { first, last, reachedSlot, freshSlot } = crawl;
  if (first === null || last?.end === 'unchanged') return [];
  // An empty head may have been wrong: sql/publish/coverage.sql decides what it covers.
  if (isEnded(crawl) && reachedSlot === null) return [];
  const answerSlot = first.by_time ? Number.POSITIVE_INFINITY : (first.slot ?? 0);
  const began = first.from_slot ?? (first.by_time ? first.first_time : first.slot) ?? null;
  const settled = skipFresh && freshSlot !== null ? Math.max(freshSlot, reachedSlot ?? 0) : Infinity;
  return [
    ...(began === null || answerSlot < began ? [] : [Math.min(began, settled)]),
    ...(isEnded(crawl) || reachedSlot === null ? [] : [reachedSlot]),
  ];
}
