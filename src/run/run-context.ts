import type { Logger } from 'pino';
import type { ApiClient } from '../api/client.ts';
import type { ClientOptions } from '../api/client-state.ts';
import type { Config } from '../config/config.ts';
import type { CrawlDeps } from '../crawl/crawl-task.ts';
import { createSlotCeiling, type SlotCeiling } from '../crawl/slot-ceiling.ts';
import type { DataFolder } from '../data-folder.ts';
import type { StoppedEarly } from '../errors.ts';
import type { Job } from '../jobs/job.ts';
import { type Accepted, isAccepted } from '../publish/accepted.ts';
import { nothingPublished, type Published } from '../publish/published.ts';
import { type Budget, type BudgetLimits, createBudget } from './budget.ts';
import { createNextSnapshot, type NextSnapshot } from './next-snapshot.ts';
import type { SessionOptions } from './open-session.ts';
import { createProgress, type Progress } from './progress.ts';
import { openRequestLog } from './request-log.ts';
import { type ApiAccess, openClient, readMonthlyLeft } from './run-client.ts';
import { createSavings, type Savings } from './savings.ts';
import type { Session } from './session.ts';
import { openShortPages, type WatchedShortPages } from './watch-short-pages.ts';

export interface PipelineOptions {
  /** `crawl` stops after the landing log. */
  verb: 'run' | 'crawl';
  config: Config;
  folder: DataFolder;
  log: Logger;
  /** In `after` order. */
  jobs: readonly Job[];
  /** Folder of their files, noted for `status`. */
  jobsDir?: string | undefined;
  /** Whether somebody named them: each is crawled although all its targets are complete in its unfinished round. */
  areNamed: boolean;
  /** Whether everything of them is asked for anew, whatever was crawled before. */
  fullRefresh: boolean;
  /** Only these targets, anew and besides the jobs' rounds, as `job/target`. */
  only?: ReadonlySet<string>;
  api: ApiAccess;
  /** Origin by transport: what the folder is bound to. */
  origins: Readonly<Record<string, string>>;
  limits: Omit<BudgetLimits, 'monthlyLeft'>;
  /** What the guards let pass. */
  accept: Accepted;
  showProgress: boolean;
  /** What ends the run early. Default: signals to the process. */
  stopOn?: SessionOptions['stopOn'] | undefined;
  /** What comes after the snapshot, inside the run's lock: the export. */
  afterSnapshot(session: Session): Promise<void>;
}

/** What the stages of one run share. */
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
  acceptsAhead: CrawlDeps['acceptsAhead'];
  nextSnapshot: NextSnapshot;
  /** Rows and refusals so far. */
  published: Published;
  /** Number of the wave at work, from 1. */
  wave: number;
  /** Whether anything has been crawled since the last publish. At the start true, for what earlier runs landed. */
  isWaiting: boolean;
  /** Releases everything. Once. */
  close(): Promise<void>;
}

/** Opens the API client and all that counts, limits and shows what it does. */
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
  let onAttempt: Progress['onAttempt'] = () => undefined;
  const noteAttempt: ClientOptions['onAttempt'] = (entry, job) => {
    requests.add(entry);
    onAttempt(entry, job);
  };
  const client = await openClient(session, options.api, budget, noteAttempt, session.stop);
  session.now = () => client.clock.correct(Date.now());
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
    acceptsAhead: (task) => isAccepted(options.accept.ahead, task),
    published: nothingPublished(),
    wave: 0,
    isWaiting: true,
    async close() {
      await nextSnapshot.drop();
      await progress.close();
      await client.close();
      requests.close();
    },
  };
}
