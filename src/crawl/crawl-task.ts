import type { ApiClient } from '../api/client.ts';
import type { Timing } from '../api/timing.ts';
import type { Task } from '../jobs/task.ts';
import type { LandingRecord } from '../landing/landing-record.ts';
import type { EndReason, PageGroup, Position } from '../landing/page-line.ts';
import type { LandedCrawl } from '../landing/reader.ts';
import type { NewPage } from '../landing/render-page.ts';
import type { LandingLog } from '../landing/writer.ts';
import type { LearntSizes } from './page-size.ts';
import type { PagingGoal } from './paging.ts';
import type { ShortPages } from './short-pages.ts';
import type { SlotCeiling } from './slot-ceiling.ts';

/** A task with what is known of it before this run touches it. */
export interface TaskStart {
  task: Task;
  /** Name of this crawl: the run that began it. */
  crawl: string;
  /** Its pages that have landed, when an earlier run was stopped in the middle. */
  resume: LandedCrawl | null;
  /** Feeds: the gap this crawl is for, and where it begins: at the gap, or at the head where nothing leads there. */
  from?: { slot: number; position: Position; group?: PageGroup };
  goal: Pick<PagingGoal, 'lastCompleteSlot' | 'firstContent' | 'seenSlot' | 'coveredSlot' | 'overlap'>;
  /** Batch operations: the ids to ask for; not looked at when a list is frozen already. */
  ids?: readonly string[];
  /** Ranges of ids: what all ranges of one target share. */
  split?: RangeSplit;
  /** Other jobs' crawls that would ask the same: each page lands for them, too, and a failure. */
  twins?: readonly TaskStart[];
}

/** Whether a target's ranges turned out not to be given in order; then one of them walks it whole instead. */
export interface RangeSplit {
  refused: boolean;
  whole: TaskStart;
}

export interface CrawlDeps {
  client: ApiClient;
  landing: LandingLog;
  run: string;
  /** Number of the run's wave, from 1. */
  wave: number;
  /** Slices of one batch task asked for at once. */
  batchConcurrency: number;
  /** What the run has learnt of its source. */
  sizes: LearntSizes;
  /** Whether short pages end their lists. */
  shortPages: ShortPages;
  /** How far ahead an answer's slot may be. */
  slots: Pick<SlotCeiling, 'at' | 'saw'>;
  /** Whether the slots of a task's answers are believed however far they are ahead. */
  acceptsAhead(task: Task): boolean;
  /** Waits before a page is asked for again. */
  timing: Pick<Timing, 'sleep' | 'random'>;
  /**
   * Whether these records of a page are in the tables as they are, by what the answer says of them. Asked before the
   * page lands, because the answer decides what its line says: data and checkpoint become true together.
   */
  isKnown(page: NewPage, records: readonly LandingRecord[], seenSlot: number | null): Promise<boolean>;
  /** A page has landed. */
  onPage(task: Task, page: LandedPage): void;
}

export interface LandedPage {
  /** Its number in the crawl, from 1. */
  page: number;
  /** Why the crawl ended with it; null while it goes on, and for a batch. */
  end: EndReason | null;
  records: number;
  bytes: number;
}
