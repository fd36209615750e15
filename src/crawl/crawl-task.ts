import type { ApiClient } from '../api/client.ts';
import type { Timing } from '../api/timing.ts';
import type { Task } from '../jobs/task.ts';
import type { LandingRecord } from '../landing/landing-record.ts';
import type { EndReason, FailedLine, PageGroup, Position } from '../landing/page-line.ts';
import type { LandedCrawl } from '../landing/reader.ts';
import type { NewPage } from '../landing/render-page.ts';
import type { LandingLog } from '../landing/writer.ts';
import { refusalId } from '../refusal-id.ts';
import type { PageSizes } from './page-size.ts';
import type { PagingGoal, ShortPages } from './paging.ts';
import type { SlotCeiling } from './slot-ceiling.ts';

/** A task, and the state in which earlier runs left it. */
export interface TaskStart {
  task: Task;
  /** Name of this crawl: the run that began it. */
  crawl: string;
  /** The crawl's landed pages, when an earlier run stopped in the middle of it. */
  resume: LandedCrawl | null;
  /** Feeds: the gap to close and the position to begin at: the gap's cursor, or the head where it has none. */
  from?: { slot: number; position: Position; group?: PageGroup };
  goal: Pick<
    PagingGoal,
    'lastCompleteSlot' | 'firstContent' | 'seenSlot' | 'hadRecords' | 'coveredSlot' | 'overlap'
  >;
  /** Batch operations: the ids to request; ignored when an earlier run has frozen the list. */
  ids?: readonly string[];
  /** Ranges of ids: what all ranges of one target share. */
  split?: RangeSplit;
  /** Crawls of other jobs that would send the same requests: each page, and a failure, lands for them too. */
  twins?: readonly TaskStart[];
}

export interface RangeSplit {
  /** Whether the source turned out to give no ranges of ids in order; one task then crawls the whole target. */
  refused: boolean;
  whole: TaskStart;
}

export interface CrawlDeps {
  client: ApiClient;
  landing: LandingLog;
  run: string;
  /** Number of the run's wave, from 1. */
  wave: number;
  /** Slices of one batch task that may be in flight together. */
  batchConcurrency: number;
  pageSizes: PageSizes;
  shortPages: ShortPages;
  slots: Pick<SlotCeiling, 'at' | 'saw' | 'heard'>;
  /** For the wait before a page is requested again. */
  timing: Pick<Timing, 'sleep' | 'random'>;
  /**
   * Whether the tables already hold these records of a page unchanged. Called before the page lands, because its line
   * records whether the crawl ends there: data and checkpoint become true together.
   */
  isKnown(page: NewPage, records: readonly LandingRecord[], seenSlot: number | null): Promise<boolean>;
  /** Called after a page has landed. */
  onPage(task: Task, page: LandedPage): void;
}

export interface LandedPage {
  /** Its number in the crawl, from 1. */
  page: number;
  /** Why the crawl ended with it; null while it continues, and for a batch. */
  end: EndReason | null;
  records: number;
  bytes: number;
}

/** The server pages in a circle: continuing would pay for the same pages for ever. Fails the target. */
export class PagingLoop extends Error {}

/** The slot of an answer cannot be right yet; believed, it would keep out every later one. Fails the target. */
export class SlotAhead extends Error {
  readonly ahead: NonNullable<FailedLine['ahead']>;

  /** @param ceiling the highest slot that can be right */
  constructor(slot: number, ceiling: number) {
    const refusal = refusalId(`ahead ${slot}`);
    super(
      `the answer says it is at slot ${slot}, and ${ceiling} is the highest that the time since the last answer allows; if that is right: ledgerlake run --accept ${refusal}`,
    );
    this.ahead = { refusal, slot, ceiling };
  }
}

/** The pages of a newest-first feed are in no order, so nothing shows how far down they reach. Fails the target. */
export class FeedDisorder extends Error {}

/** The answer's cursor cannot be sent, and taking the page for the last would lose the rest. Fails the target. */
export class BrokenCursor extends Error {}

/** An answer has ids outside the requested bounds, or in another order. Fails the target where no restart helps. */
export class BoundsIgnored extends Error {
  /** Whether the ids passed the bound that lies ahead: the source may respect only the other one. */
  readonly isPassed: boolean;

  constructor(isPassed: boolean) {
    super('the API gave ids from outside the range it was asked for, or in another order');
    this.isPassed = isPassed;
  }
}

/** The source cannot give a range of ids in order: the whole target is crawled instead. */
export class RangesRefused extends Error {}
