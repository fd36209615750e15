import type { Logger } from 'pino';
import type { ApiClient } from '../api/client.ts';
import type { ClientOptions } from '../api/client-state.ts';
import { realTiming } from '../api/timing.ts';
import type { Config } from '../config/config.ts';
import { createShortPages, type ShortPages } from '../crawl/paging.ts';
import { createSlotCeiling, type SlotCeiling } from '../crawl/slot-ceiling.ts';
import type { DataFolder } from '../data-folder.ts';
import type { StoppedEarly } from '../errors.ts';
import type { Job } from '../jobs/job.ts';
import { nothingPublished, type Published } from '../publish/published.ts';
import { type Budget, type BudgetLimits, createBudget } from './budget.ts';
import type { Dropped } from './dropped-targets.ts';
import type { SessionOptions } from './open-session.ts';
import { createProgress, type Progress } from './progress.ts';
import { createNextSnapshot, type NextSnapshot } from './publish-stage.ts';
import { openRequestLog } from './request-log.ts';
import { type ApiAccess, openClient, readMonthlyLeft } from './run-client.ts';
import { appendRunLog, listRefuted, readRunLog } from './run-log.ts';
import { createSavings, type Savings } from './savings.ts';
import type { Session } from './session.ts';

export interface PipelineOptions {
  /** `crawl` stops after the landing log. */
  verb: 'run' | 'crawl';
  config: Config;
  folder: DataFolder;
  log: Logger;
  /** In `after` order. */
  jobs: readonly Job[];
  /** Folder of the job files, recorded for `status`. */
  jobsDir?: string | undefined;
  /** Whether the user named the jobs: each is crawled even if its unfinished round has nothing left. */
  namedByUser: boolean;
  /** Whether all targets are crawled from the start, whatever was crawled before. */
  fullRefresh: boolean;
  api: ApiAccess;
  /** Origins by transport that the folder is bound to. */
  origins: Readonly<Record<string, string>>;
  limits: Omit<BudgetLimits, 'monthlyLeft'>;
  /** Ids of refusals to accept. */
  accept: readonly string[];
  showProgress: boolean;
  /** What ends the run early. Default: signals to the process. */
  stopOn?: SessionOptions['stopOn'] | undefined;
  /** Called after the snapshot is replaced, while the run still holds the lock: the export. */
  afterSnapshot(session: Session): Promise<void>;
}

/** The state that the stages of one run share. */
export interface RunContext {
  session: Session;
  options: PipelineOptions;
  /** Unix ms. */
  startedAt: number;
  client: ApiClient;
  budget: Budget;
  progress: Progress;
  savings: Savings;
  slots: SlotCeiling;
  shortPages: WatchedShortPages;
  nextSnapshot: NextSnapshot;
  /** Totals of what the run has published so far. */
  published: Published;
  /** Targets with rows that its jobs do not request any more; known at the end. */
  dropped: readonly Dropped[];
  /** Number of the current wave, from 1. */
  wave: number;
  /** Whether something may have landed since the last publish. True at first, for what earlier runs landed. */
  hasUnpublished: boolean;
  /** Releases everything. Once. */
  close(): Promise<void>;
}

/** Opens the API client, and what counts, limits and shows its requests. */
export async function openRun(
  session: Session,
  options: PipelineOptions,
  startedAt: number,
): Promise<RunContext> {
  const { folder } = session;
  const { stopping } = session.stop;
  const requests = openRequestLog(folder.requests, session.run);
  const budget = createBudget({ ...options.limits, monthlyLeft: await readMonthlyLeft(options) });
  const stopSpending = () => budget.stop((stopping.reason as StoppedEarly).message);
  if (stopping.aborted) stopSpending();
  stopping.addEventListener('abort', stopSpending);
  // The progress needs the client, so it hears of attempts once it exists.
  let onAttempt: Progress['onAttempt'] = () => undefined;
  const noteAttempt: ClientOptions['onAttempt'] = (entry, job) => {
    requests.add(entry);
    onAttempt(entry, job);
  };
  const client = await openClient(session, options.api, budget, noteAttempt, session.stop);
  // No answer's `Date` makes anything old, and where it shows that this clock is ahead, nothing is removed too early.
  session.now = () => Math.min(Date.now(), client.clock.correct(Date.now()));
  const progress = await createProgress({
    run: session.run,
    log: options.log,
    onTerminal: options.showProgress,
    coming: options.jobs.map(({ name }) => name),
    stateFile: folder.runState,
    spent: budget.spent,
    pools: client.pools,
    stopping,
  });
  onAttempt = progress.onAttempt;
  const nextSnapshot = createNextSnapshot(folder, stopping);
  return {
    ...{ session, options, startedAt, client, budget, progress, nextSnapshot },
    savings: createSavings(requests),
    slots: createSlotCeiling(),
    shortPages: await openShortPages(session),
    published: nothingPublished(),
    dropped: [],
    wave: 0,
    hasUnpublished: true,
    async close() {
      await nextSnapshot.drop();
      await progress.close();
      await client.close();
      requests.close();
    },
  };
}

/** Short pages of a run that records when one turns out not to be the end. */
export interface WatchedShortPages extends ShortPages {
  /** Whether one did since the last call. */
  takeRefuted(): boolean;
}

/** Short pages end their lists as the config says, except for operations where a run found that they do not. */
async function openShortPages({ config, folder, run, log }: Session): Promise<WatchedShortPages> {
  const refutedBefore = listRefuted(await readRunLog(folder.runs));
  const off = [...config.shortPageEnds].filter((name) => refutedBefore.has(name));
  if (off.length > 0)
    log.warn(
      { operations: off },
      'api.short_page_ends is ignored: an earlier run found records after a short page; remove it from the config',
    );
  const trusted = new Set([...config.shortPageEnds].filter((name) => !refutedBefore.has(name)));
  let refuted = false;
  const shortPages = createShortPages(trusted, realTiming.random, async (operation, job, target) => {
    await appendRunLog(folder.runs, { run, short_pages: [operation] });
    refuted = true;
    log.warn(
      { operation, job, target },
      'a short page was not the last of its list: api.short_page_ends is off for this source, and the targets that relied on it are crawled again',
    );
  });
  return {
    ...shortPages,
    takeRefuted() {
      const isNew = refuted;
      refuted = false;
      return isNew;
    },
  };
}
