import { type RequestEntry, readRequestLog } from '../run/request-log.ts';

/** The requests of a run in one step of time. */
export interface Step {
  requests: number;
  /** Attempts that were answered with "too many requests". */
  throttles: number;
  retries: number;
  /** Attempts that failed otherwise. */
  failures: number;
}

/** The requests of one pool. */
export interface PoolUse {
  pool: string;
  requests: number;
  throttles: number;
  /** Requests a second over the time between its first and its last. */
  meanRps: number;
  /** The same in its busiest ten seconds. */
  peakRps: number;
}

export interface Timeline {
  /** Unix ms. */
  from: number;
  stepMs: number;
  steps: Step[];
  pools: PoolUse[];
}

const maxSteps = 60;
const peakMs = 10_000;

interface PoolTimes {
  requests: number;
  throttles: number;
  first: number;
  last: number;
  /** Requests in each ten seconds. */
  buckets: Map<number, number>;
}

/**
 * The requests of a run over time, from the request log; null where its attempts are summed up, as they are for all runs
 * but the last.
 */
export async function readTimeline(
  path: string,
  run: string,
  from: number,
  to: number,
): Promise<Timeline | null> {
  const stepMs = Math.max(1000, Math.ceil((to - from) / maxSteps));
  const count = Math.max(1, Math.ceil((to - from) / stepMs));
  const steps = Array.from({ length: count }, () => ({ requests: 0, throttles: 0, retries: 0, failures: 0 }));
  const pools = new Map<string, PoolTimes>();
  for await (const entry of readRequestLog(path)) {
    if (entry.run !== run || entry.outcome === 'saved') continue;
    if (entry.outcome === 'sum') return null;
    const at = Date.parse(entry.at);
    const step = steps[Math.min(count - 1, Math.max(0, Math.floor((at - from) / stepMs)))] as Step;
    step.requests += 1;
    if (entry.outcome === 'throttled') step.throttles += 1;
    else if (entry.outcome !== 'ok') step.failures += 1;
    if (entry.attempt > 1) step.retries += 1;
    addToPool(pools, entry, at);
  }
  if (pools.size === 0) return null;
  return { from, stepMs, steps, pools: [...pools].map(([pool, times]) => describePool(pool, times)) };
}

function addToPool(pools: Map<string, PoolTimes>, { pool, outcome }: RequestEntry, at: number): void {
  const use = pools.get(pool) ?? { requests: 0, throttles: 0, first: at, last: at, buckets: new Map() };
  pools.set(pool, use);
  use.requests += 1;
  if (outcome === 'throttled') use.throttles += 1;
  use.first = Math.min(use.first, at);
  use.last = Math.max(use.last, at);
  const bucket = Math.floor(at / peakMs);
  use.buckets.set(bucket, (use.buckets.get(bucket) ?? 0) + 1);
}

function describePool(pool: string, { requests, throttles, first, last, buckets }: PoolTimes): PoolUse {
  const seconds = Math.max(1, (last - first) / 1000);
  const busiest = [...buckets.values()].reduce((max, n) => Math.max(max, n), 0);
  const meanRps = requests / seconds;
  return { pool, requests, throttles, meanRps, peakRps: Math.max(meanRps, busiest / (peakMs / 1000)) };
}

/** Credits of each day, UTC, since a moment (Unix ms), of all runs; oldest first. */
export async function readDailyCredits(
  path: string,
  since: number,
): Promise<{ day: string; credits: number }[]> {
  const days = new Map<string, number>();
  const from = new Date(since).toISOString();
  for await (const { at, credits } of readRequestLog(path))
    if (at >= from) days.set(at.slice(0, 10), (days.get(at.slice(0, 10)) ?? 0) + credits);
  return [...days].sort().map(([day, credits]) => ({ day, credits }));
}
