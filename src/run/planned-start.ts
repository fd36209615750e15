import type { TaskStart } from '../crawl/crawl-task.ts';

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
