import Bottleneck from 'bottleneck';
import PQueue from 'p-queue';
import { type AdaptiveRate, createAdaptiveRate, startRps } from './adaptive-rate.ts';
import type { Timing } from './timing.ts';

export interface LimiterConfig {
  /** Requests a second the plan allows; absent: found out (AIMD). Never exceeded; left only when it is throttled often. */
  rps?: number;
  /** How many may go at once after a quiet time, above the even rate. Default 1: evenly spaced. */
  burst?: number;
  /** Most requests in flight. Default: what two seconds of the rate need, 2 to 128. */
  concurrency?: number;
}

export interface LimiterOptions extends LimiterConfig {
  /** Without `rps`: no limit until the server throttles three times in ten seconds (loopback servers). */
  startUnlimited: boolean;
  /** Without `rps`: what an earlier run learnt. */
  learntRps?: number;
  timing: Timing;
}

/** One rate pool's limit: order and concurrency by p-queue, rate and burst by bottleneck. */
export interface Limiter {
  /** Runs the task when the pool allows. Higher priority first, then first come first served. */
  run<T>(task: () => Promise<T>, options?: { priority?: number; signal?: AbortSignal }): Promise<T>;
  /** Nothing of the pool goes before ms have passed; a longer hold in force stays. */
  hold(ms: number): void;
  /** Tells the limiter how an attempt ended, so that an unknown rate can be learnt. */
  settle(outcome: 'accepted' | 'throttled', sentAt: number): void;
  /** Requests a second in force; Infinity when nothing limits. */
  readonly rps: number;
  /** The rate that held, for the next run; null when rps is configured or nothing was learnt. */
  learntRps(): number | null;
  /** Drops what still waits for its turn. */
  close(): void;
}

// Real clocks drift and requests jitter: 1 % below the limit keeps the server's bucket from ever running dry.
const safety = 0.99;

// One throttle of a limit that was configured, or of a loopback server, is an accident; three in ten seconds are not.
const strikesToYield = 3;
const strikeWindowMs = 10_000;

export function createLimiter(options: LimiterOptions): Limiter {
  const { timing } = options;
  const adaptive = startAdaptive(options);
  const yieldsAtOnce = options.rps === undefined && !options.startUnlimited;
  let { rps } = adaptive;
  const queue = new PQueue({ concurrency: options.concurrency ?? concurrencyFor(rps) });
  const bucket = createBucket(rps, options.burst ?? 1);
  let heldUntil = 0;
  let waiting = 0;
  let strikes: number[] = [];

  const learnFrom = (outcome: 'accepted' | 'throttled', sentAt: number): void => {
    const now = timing.now();
    if (outcome === 'accepted') {
      adaptive.accepted(now, sentAt, waiting + queue.size > 0);
      return;
    }
    strikes = [...strikes.filter((at) => at > now - strikeWindowMs), now];
    if (yieldsAtOnce || strikes.length >= strikesToYield) adaptive.throttled(now, sentAt);
  };
  const follow = (): void => {
    // Smaller steps are not worth a timer.
    if (adaptive.rps === rps || Math.abs(adaptive.rps - rps) < rps / 100) return;
    rps = adaptive.rps;
    bucket.setRate(rps);
    if (options.concurrency === undefined) queue.concurrency = concurrencyFor(rps);
  };
  const takeTurn = async (signal?: AbortSignal): Promise<void> => {
    for (;;) {
      // Those who waited out a hold take a new token each, or they would all return in the same moment.
      for (let left = heldUntil - timing.now(); left > 0; left = heldUntil - timing.now()) {
        await timing.sleep(left, signal);
      }
      waiting += 1;
      await untilAborted(bucket.take(), signal).finally(() => {
        waiting -= 1;
      });
      if (heldUntil <= timing.now()) return;
    }
  };
  return {
    run: (task, { priority = 0, signal } = {}) =>
      queue.add(
        async () => {
          signal?.throwIfAborted();
          await takeTurn(signal);
          return task();
        },
        { priority },
      ),
    hold(ms) {
      heldUntil = Math.max(heldUntil, timing.now() + ms);
      adaptive.paused(heldUntil);
    },
    settle(outcome, sentAt) {
      learnFrom(outcome, sentAt);
      follow();
    },
    get rps() {
      return rps;
    },
    learntRps: () => (options.rps === undefined ? adaptive.learnt() : null),
    close: () => bucket.close(),
  };
}

/** Waits, but no longer than until the signal aborts: a slow rate must not delay the end of a run. */
async function untilAborted(turn: Promise<void>, signal?: AbortSignal): Promise<void> {
  if (!signal) return turn;
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  turn.catch(() => {});
  try {
    signal.throwIfAborted();
    await Promise.race([turn, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function startAdaptive({ rps, startUnlimited, learntRps, timing }: LimiterOptions): AdaptiveRate {
  const start = startUnlimited ? Number.POSITIVE_INFINITY : startRps;
  const known = rps ?? learntRps ?? null;
  return createAdaptiveRate({ start, learnt: known, most: rps ?? Number.POSITIVE_INFINITY }, timing.now());
}

function concurrencyFor(rps: number): number {
  if (rps === Number.POSITIVE_INFINITY) return 8;
  // A full page takes up to 1.5 s (API.md): two seconds' worth in flight keeps the rate used.
  return Math.max(2, Math.min(128, Math.ceil(rps * 2)));
}

interface Bucket {
  take(): Promise<void>;
  setRate(rps: number): void;
  close(): void;
}

/**
 * A token bucket on bottleneck, which by itself only spaces evenly (its reservoir refills in clumps of 250 ms).
 * The first after a quiet time takes an even slot; the rest of a burst goes on credit, and for each a debt job takes
 * the slot it should have waited for. With requests waiting no credit is spent: under load the server's bucket stays
 * full and absorbs jitter.
 */
function createBucket(startRate: number, burst: number): Bucket {
  const settings = (rps: number) => ({
    minTime: rps === Number.POSITIVE_INFINITY ? 0 : 1000 / (rps * safety),
    // Jobs beyond these wait in bottleneck's queue, where a new rate still reaches them; 10 ms ahead hides its overhead.
    maxConcurrent: rps === Number.POSITIVE_INFINITY ? null : 1 + Math.ceil(rps / 100),
  });
  const spacer = new Bottleneck(settings(startRate));
  let rate = startRate;
  const fullCredit = Math.max(1, Math.floor(burst)) - 1;
  let credit = fullCredit;
  let queued = 0;
  let firstWaits = false;
  const takeSlot = (): Promise<void> => spacer.schedule(async () => {});
  return {
    async take() {
      if (rate === Number.POSITIVE_INFINITY) return;
      const isFirstAfterQuiet = !firstWaits && credit === fullCredit && queued === 0;
      if (isFirstAfterQuiet) {
        firstWaits = true;
        await takeSlot().finally(() => {
          firstWaits = false;
        });
      } else if (credit > 0 && queued === 0) {
        credit -= 1;
        // Dropped by close(): nobody needs the credit any more.
        takeSlot().then(
          () => {
            credit += 1;
          },
          () => {},
        );
      } else {
        queued += 1;
        await takeSlot().finally(() => {
          queued -= 1;
        });
      }
    },
    setRate(rps) {
      rate = rps;
      void spacer.updateSettings(settings(rps));
    },
    close() {
      void spacer.stop({ dropWaitingJobs: true }).catch(() => {});
    },
  };
}
