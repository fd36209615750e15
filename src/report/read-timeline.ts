import { type RequestEntry, readRequestLog } from '../run/request-log.ts';

/** What one run asked for in a step of time. */
export interface Step {
  requests: number;
  /** Attempts that were answered with "too many requests". */
  throttles: number;
  retries: number;
  /** Attempts that failed otherwise. */
  failures: number;
}

/** What one pool was used for. */
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
  /** Requests by stretch of ten seconds. */
  stretches: Map<number, number>;
}

/**
 * When a run asked for what, from its attempts in the request log; null where these have been summed, as those of all
 * runs but the last are.
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
  const known = pools.get(pool) ?? { requests: 0, throttles: 0, first: at, last: at, stretches: new Map() };
  pools.set(pool, known);
  known.requests += 1;
  if (outcome === 'throttled') known.throttles += 1;
  known.first = Math.min(known.first, at);
  known.last = Math.max(known.last, at);
  const stretch = Math.floor(at / peakMs);
  known.stretches.set(stretch, (known.stretches.get(stretch) ?? 0) + 1);
}

function describePool(pool: string, { requests, throttles, first, last, stretches }: PoolTimes): PoolUse {
  const seconds = Math.max(1, (last - first) / 1000);
  const busiest = [...stretches.values()].reduce((most, n) => Math.max(most, n), 0);
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
