import type { LandedPage } from '../crawl/crawl-task.ts';
import type { Task } from '../jobs/task.ts';
import type { PlannedStart } from './crawl-state.ts';
import type { RequestLog } from './request-log.ts';

/** Counts the requests that a run did not need, because crawls ended early. */
export interface Savings {
  /** Takes the starts of a wave, before their first page. */
  expect(starts: readonly PlannedStart[]): void;
  onPage(task: Task, page: LandedPage): void;
  /** Requests saved so far. */
  readonly requests: number;
}

/**
 * When a crawl ends early, it saved the pages of the target's last full crawl less its own; the request log records that.
 * Counted after the page has landed: a kill in between loses the entry, and never counts it twice.
 */
export function createSavings(log: Pick<RequestLog, 'addSaved'>): Savings {
  const fullPages = new Map<string, number>();
  let total = 0;
  return {
    get requests() {
      return total;
    },
    expect(starts) {
      for (const { task, fullPages: pages } of starts) if (pages !== null) fullPages.set(task.id, pages);
    },
    onPage(task, { page, end }) {
      if (end === null || !(task.incremental || end === 'unchanged')) return;
      const saved = (fullPages.get(task.id) ?? 0) - page;
      if (saved <= 0) return;
      total += saved;
      log.addSaved(task.operation, saved);
    },
  };
}
