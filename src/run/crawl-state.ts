import type { TaskStart } from '../crawl/crawl-task.ts';
import type { SlotHistory } from '../crawl/slot-ceiling.ts';
import type { PageGroup } from '../landing/page-line.ts';
import type { LandedCrawl } from '../landing/reader.ts';
import type { RunEntry } from './run-log.ts';

/** The last complete crawl of a task. */
export interface CompleteCheckpoint {
  lastIndexedSlot: number | null;
  /** Highest slot of its answers. */
  seenSlot: number | null;
  finishedAt: string;
  run: string;
  pages: number;
  records: number;
  /** Why it ended (`EndReason`); null for a batch. */
  end: string | null;
  /** Digest of its first page's records; null where unknown, and for a batch. */
  firstContent: string | null;
}

/** What earlier runs left: everything that decides what a run crawls. */
export interface CrawlState {
  /** The newest complete checkpoint, by task id. */
  complete: ReadonlyMap<string, CompleteCheckpoint>;
  /** The run in which the task last failed, by task id. */
  failed: ReadonlyMap<string, string>;
  /** Covered intervals by task id. */
  coverage: ReadonlyMap<string, readonly CoveredInterval[]>;
  /** What of it was read too young to be complete, by task id, newest first. */
  fresh: ReadonlyMap<string, readonly FreshInterval[]>;
  /** Gaps by task id, newest first. */
  gaps: ReadonlyMap<string, readonly FeedGap[]>;
  /** Crawls in the landing log, by task id. */
  landed: ReadonlyMap<string, readonly LandedCrawl[]>;
  slots: SlotHistory;
  /** Operations whose short pages turned out not to be the end: crawls that ended with one are not complete. */
  refuted: ReadonlySet<string>;
  runs: readonly RunEntry[];
  /** Unix ms at which the state was read. */
  now: number;
}

/** An interval of slots that a feed has covered, inclusive. */
export interface CoveredInterval {
  lowSlot: number;
  highSlot: number;
}

/** Covered slots that the next round reads again, because records in them may have been indexed later. */
export interface FreshInterval extends CoveredInterval {
  /** The run that read them last. */
  run: string;
}

/** Slots of a feed that were not received. */
export interface FeedGap {
  highSlot: number;
  /** Where the gap's crawl begins; null where only the head leads there. */
  cursor: string | null;
  /** The group that the page before the cursor ends in. */
  group: PageGroup | null;
}

/** A task that a run crawls, and its expected size. */
export interface PlannedStart extends TaskStart {
  /** Pages and records of the last complete crawl, as the best guess for this one; null when there was none. */
  expected: { pages: number; records: number } | null;
  /** When the target was last crawled to the end, by either task; null when it never was. */
  completedAt: string | null;
  /** Set where the target failed, or the feed's head was stopped, in an earlier run of the round: it comes after the others. */
  triedInRound?: true;
  /** Pages of the target's last full crawl, of which a crawl that can end early saves some. */
  fullPages: number | null;
}
