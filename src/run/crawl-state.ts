import type { TaskStart } from '../crawl/crawl-task.ts';
import type { SlotHistory } from '../crawl/slot-ceiling.ts';
import type { PageGroup } from '../landing/page-line.ts';
import type { LandedCrawl } from '../landing/reader.ts';
import type { RunEntry } from './run-log.ts';

/** The last complete crawl of a task. */
export interface CompleteCheckpoint {
  lastIndexedSlot: number | null;
  /** Highest slot that it saw. */
  seenSlot: number | null;
  finishedAt: string;
  run: string;
  pages: number;
  records: number;
  /** Why it ended (`EndReason`); null for a batch. */
  end: string | null;
  /** Digest of its first page's records; null where it is not known, or a batch. */
  firstContent: string | null;
}

/** Everything that decides what a run has to do. */
export interface CrawlState {
  /** Complete checkpoints by task id, newest. */
  complete: ReadonlyMap<string, CompleteCheckpoint>;
  /** Failed checkpoints: the run that last failed, by task id. */
  failed: ReadonlyMap<string, string>;
  /** Covered intervals by task id. */
  coverage: ReadonlyMap<string, readonly CoveredInterval[]>;
  /** Gaps by task id, newest first. */
  gaps: ReadonlyMap<string, readonly FeedGap[]>;
  /** Crawls in the landing log, by task id. */
  landed: ReadonlyMap<string, readonly LandedCrawl[]>;
  slots: SlotHistory;
  /** Operations whose short pages turned out not to be the end: crawls that ended with one are not complete. */
  refuted: ReadonlySet<string>;
  runs: readonly RunEntry[];
  /** Unix ms at which all this was read. */
  now: number;
}

/** An interval of slots that a feed has covered, inclusive. */
export interface CoveredInterval {
  lowSlot: number;
  highSlot: number;
}

/** Slots of a feed that are not in, and where they go on; null where only the head leads there. */
export interface FeedGap {
  highSlot: number;
  cursor: string | null;
  /** Where its records stand in groups: how the page before the cursor ends. */
  group: PageGroup | null;
}

/** A task that a run crawls, and what is expected of it. */
export interface PlannedStart extends TaskStart {
  /** Pages and records of the last complete crawl: the best guess of what this one takes; null when there was none. */
  expected: { pages: number; records: number } | null;
  /** When the target was last crawled to the end, in any way; null when it never was. */
  completedAt: string | null;
  /** Whether the target failed in an earlier run of the round, and begins anew: it comes after the others. */
  failedInRound?: true;
  /** Pages of the target's last full crawl, of which a crawl that can end early saves some. */
  fullPages: number | null;
}
