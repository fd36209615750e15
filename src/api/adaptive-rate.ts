/** Finds the rate an API allows when nobody said: grows additively, halves on a throttle, remembers what held. */
export interface AdaptiveRate {
  /** The rate to send at now, in requests a second; Infinity until the first throttle when it started there. */
  readonly rps: number;
  /**
   * An attempt was not throttled.
   * @param sentAt when it was sent, ms
   * @param waited true when requests were waiting for their turn: only a rate that was really used can be said to hold
   */
  accepted(now: number, sentAt: number, waited: boolean): void;
  /** An attempt was throttled. Those sent before the last cut, or right after it, tell nothing new and are ignored. */
  throttled(now: number, sentAt: number): void;
  /** Nothing goes until then (ms): what does not pass in that time says nothing about the rate. */
  paused(until: number): void;
  /** The rate that held, worth keeping for the next run; null when nothing was learnt. */
  learnt(): number | null;
}

export const startRps = 2;
const minRps = 0.1;
const windowMs = 10_000;
// Right after a cut the server's bucket is still empty: a throttle then says nothing about the new rate.
const graceMs = 500;
const firstProbeMs = 15_000;
const longestProbeMs = 10 * 60_000;

export interface AdaptiveRateOptions {
  /** Requests a second to begin with: `startRps`, or Infinity for no limit until the first throttle. */
  start: number;
  /** What an earlier run found (or a plan allows), or null. */
  learnt: number | null;
  /** Never more than this; Infinity when nobody said. */
  most: number;
}

/** @param now ms; times are arguments everywhere, so that a test can replay an hour in a moment */
export function createAdaptiveRate({ start, learnt, most }: AdaptiveRateOptions, now: number): AdaptiveRate {
  let rps = learnt ?? start;
  // What held: below it the rate recovers fast, at it it rests, above it it probes.
  let ceiling = learnt;
  let cutAt = now - graceMs;
  let measuredFrom = now;
  let grownAt = now;
  let grownMs = 0;
  let probeAfterMs = firstProbeMs;
  // When the accepted ones were sent, since the last cut.
  let passed: number[] = [];

  const grow = (elapsedMs: number): void => {
    const seconds = elapsedMs / 1000;
    if (ceiling === null) {
      grownMs += elapsedMs;
      // The step widens with time: 2 → 100 a second within a minute, and little overshoot where the limit is 2.
      rps += (0.5 + (0.06 * grownMs) / 1000) * seconds;
    } else if (rps < ceiling) {
      rps = Math.min(ceiling, rps + Math.max(0.5, ceiling / 4) * seconds);
    } else {
      rps = Math.min(most, rps + Math.max(0.05, ceiling / 100) * seconds);
      ceiling = rps;
    }
  };

  return {
    get rps() {
      return rps;
    },
    accepted(at, sentAt, waited) {
      if (sentAt >= cutAt) passed.push(sentAt);
      if (passed.length > 64 && passed[passed.length >> 1]! < at - windowMs) {
        passed = passed.filter((time) => time >= at - windowMs);
      }
      const elapsedMs = Math.min(1000, Math.max(0, at - grownAt));
      grownAt = Math.max(grownAt, at);
      const isResting = ceiling !== null && rps >= ceiling && at - cutAt < probeAfterMs;
      if (rps === Number.POSITIVE_INFINITY || !waited || isResting) return;
      grow(elapsedMs);
    },
    throttled(at, sentAt) {
      if (sentAt < cutAt + graceMs) return;
      const wasUnlimited = rps === Number.POSITIVE_INFINITY;
      const held = heldRate(passed, Math.max(measuredFrom, sentAt - windowMs), sentAt);
      if (ceiling !== null && rps >= ceiling) probeAfterMs = Math.min(longestProbeMs, probeAfterMs * 2);
      // Without a limit, what passed in less than a second was a bucket of about one second.
      const guess = wasUnlimited ? Math.max(5 * startRps, passed.length) : 0.75 * rps;
      const estimate = held === null ? guess : 0.95 * held;
      ceiling = Math.max(minRps, wasUnlimited ? estimate : Math.min(0.9 * rps, Math.max(estimate, rps / 2)));
      rps = Math.max(minRps, Math.min(rps, ceiling) / 2);
      cutAt = at;
      measuredFrom = at;
      grownAt = at;
      passed = [];
    },
    paused(until) {
      measuredFrom = Math.max(measuredFrom, until);
    },
    learnt: () => ceiling ?? (rps === Number.POSITIVE_INFINITY || rps === start ? null : rps),
  };
}

/**
 * What got through between the last cut and now is the best estimate of the limit: at both times the server's
 * bucket was empty. Null when that was too short a time to tell.
 */
function heldRate(passed: readonly number[], since: number, until: number): number | null {
  if (until - since < 1000) return null;
  return passed.filter((time) => time >= since && time <= until).length / ((until - since) / 1000);
}
