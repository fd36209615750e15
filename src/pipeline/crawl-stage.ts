import { readFile, rename, writeFile } from 'node:fs/promises';
import type { ApiKey } from '../api/api-key.ts';
import { type ApiClient, createClient } from '../api/client.ts';
import type { Pool, Transport } from '../api/operation.ts';
import { type CrawlTasksDeps, crawlTasks } from '../crawl/crawl-tasks.ts';
import { StoppedEarly } from '../errors.ts';
import { createLandingLog } from '../landing/writer.ts';
import type { Budget } from './budget.ts';
import type { PlannedStart } from './plan-starts.ts';
import type { Progress } from './progress.ts';
import type { RequestLog } from './request-log.ts';
import type { Session } from './session.ts';

/** Where the API answers, and with which key when not the environment's. */
export interface ApiPlace {
  endpoints: Partial<Record<Transport, string>>;
  key?: ApiKey;
}

export interface CrawlStageOptions {
  session: Session;
  client: ApiClient;
  progress: Progress;
  onSealed(segment: number): void;
}

/** Tasks at work at once: enough to fill every pool's concurrency at a second of latency. */
const taskConcurrency = 64;

/**
 * Crawls the starts into the landing log. Returns why it stopped early, or null when all were tried.
 * @throws KeyRefused, DiskError and bugs, with everything received landed
 */
export async function crawlStage(
  starts: readonly PlannedStart[],
  options: CrawlStageOptions,
): Promise<StoppedEarly | null> {
  const { session, client, progress } = options;
  const landing = createLandingLog({ dir: session.folder.landing, onSealed: options.onSealed });
  const deps: CrawlTasksDeps = {
    client,
    landing,
    run: session.run,
    batchConcurrency: 8,
    concurrency: taskConcurrency,
    onPage: progress.onPage,
    onTaskEnd: progress.onTaskEnd,
  };
  try {
    await crawlTasks(starts, deps);
    return null;
  } catch (error) {
    if (error instanceof StoppedEarly) return error;
    throw error;
  } finally {
    await landing.close();
  }
}

/** The client of a run: its limits, its budget, its request log, and the rates earlier runs found. */
export async function openClient(
  session: Session,
  place: ApiPlace,
  budget: Budget,
  requests: RequestLog,
  signal: AbortSignal,
): Promise<ApiClient> {
  const { config, folder } = session;
  return createClient(
    {
      endpoints: place.endpoints,
      limits: config.limits,
      credits: config.credits,
      timeoutMs: config.timeoutMs,
      paramNames: config.paramNames,
      budget,
      onAttempt: (entry) => requests.add(entry),
      userAgent: 'ledgerlake',
      signal,
      learntRates: await readRates(folder.rates),
    },
    place.key === undefined ? {} : { key: place.key },
  );
}

type Rates = Partial<Record<Pool, number>>;

/** Rates that held in earlier runs; none when the file is missing or was torn: they are found again. */
async function readRates(path: string): Promise<Rates> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Rates;
  } catch {
    return {};
  }
}

/** Keeps the rates that held for the next run. */
export async function keepRates(path: string, client: ApiClient): Promise<void> {
  const learnt = client.learntRates();
  if (Object.keys(learnt).length === 0) return;
  await writeFile(`${path}.tmp`, JSON.stringify({ ...(await readRates(path)), ...learnt }), { mode: 0o600 });
  await rename(`${path}.tmp`, path);
}
