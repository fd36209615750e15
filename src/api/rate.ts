import Bottleneck from 'bottleneck';

// Real clocks drift and requests jitter: 1 % below the limit keeps the server's bucket from ever running dry.
const safety = 0.99;

/** A burst is what comes so soon after the first of it: later ones would meet a bucket that is not full again. */
const burstMs = 20;

/**
 * A token bucket on bottleneck, which by itself only spaces evenly (its reservoir refills in clumps of 250 ms).
 * The first after a quiet time takes an even slot; the rest of a burst goes on credit, and for each a debt job takes
 * the slot it should have waited for. With requests waiting no credit is spent: under load the server's bucket stays
 * full and absorbs jitter.
 */
export class TokenBucket {
  readonly #spacer: Bottleneck;
  readonly #fullCredit: number;
  #rps: number;
  #credit: number;
  #queued = 0;
  #firstWaits = false;
  /** When the last burst began, and the last request went, Unix ms. */
  #burstAt = Number.NEGATIVE_INFINITY;
  #lastAt = Number.NEGATIVE_INFINITY;

  /**
   * @param rps requests a second; Infinity: no limit
   * @param burst how many may go at once after a quiet time, at least 1
   */
  constructor(rps: number, burst: number) {
    this.#rps = rps;
    this.#fullCredit = Math.max(1, Math.floor(burst)) - 1;
    this.#credit = this.#fullCredit;
    this.#spacer = new Bottleneck(settings(rps, this.#fullCredit));
  }

  /** Resolves when one more may go. Rejects after close(). */
  async take(): Promise<void> {
    if (this.#rps === Number.POSITIVE_INFINITY) return;
    const now = Date.now();
    if (!this.#firstWaits && this.#credit === this.#fullCredit && this.#queued === 0) {
      this.#firstWaits = true;
      if (now - this.#lastAt >= 1000 / (this.#rps * safety)) this.#burstAt = now;
      await this.#takeSlot().finally(() => {
        this.#firstWaits = false;
      });
    } else if (this.#credit > 0 && this.#queued === 0 && now - this.#burstAt <= burstMs) {
      this.#credit -= 1;
      this.#repay();
    } else {
      this.#queued += 1;
      await this.#takeSlot().finally(() => {
        this.#queued -= 1;
      });
    }
    this.#lastAt = Date.now();
  }

  setRate(rps: number): void {
    this.#rps = rps;
    void this.#spacer.updateSettings(settings(rps, this.#fullCredit));
  }

  /** Drops what waits. */
  close(): void {
    void this.#spacer.stop({ dropWaitingJobs: true }).catch(() => {});
  }

  #takeSlot(): Promise<void> {
    return this.#spacer.schedule(async () => {});
  }

  #repay(): void {
    this.#takeSlot().then(
      () => {
        this.#credit += 1;
      },
      // Dropped by close(): nobody needs the credit any more.
      () => {},
    );
  }
}

function settings(rps: number, fullCredit: number): Bottleneck.ConstructorOptions {
  if (rps === Number.POSITIVE_INFINITY) return { minTime: 0, maxConcurrent: null };
  // Jobs beyond these wait in bottleneck's queue, where a new rate still reaches them. 10 ms ahead hides its overhead;
  // up to a second ahead makes up for a process that stalls so long, in a bunch that the server's own burst takes.
  const ahead = Math.max(Math.ceil(rps / 100), Math.min(fullCredit, Math.ceil(rps)));
  return { minTime: 1000 / (rps * safety), maxConcurrent: 1 + ahead };
}

export interface AdaptiveRateOptions {
  /** Requests a second to begin with: `startRps`, or Infinity for no limit until the first throttle. */
  start: number;
  /** What an earlier run found (or a plan allows), or null. */
  learnt: number | null;
  /** Never more than this; Infinity when nobody said. */
  most: number;
}

export const startRps = 2;
const minRps = 0.1;
const windowMs = 10_000;
/** So many that got through say at what rate, even in less than a second. */
const enough = 20;
// Right after a cut the server's bucket is still empty: a throttle then says nothing about the new rate.
const graceMs = 500;
/** Share of what got through that is tried after a throttle. */
const cautious = 0.98;
const firstProbeMs = 15_000;
const longestProbeMs = 10 * 60_000;

/**
 * Finds the rate an API allows when nobody said: grows additively, halves on a throttle, goes back to what held and
 * tries more ever more rarely. Times are arguments (ms) everywhere, so that a test can replay an hour in a moment.
 */
export class AdaptiveRate {
  readonly #start: number;
  readonly #most: number;
  #rps: number;
  // What held: below it the rate recovers fast, at it it rests, above it it probes.
  #ceiling: number | null;
  #cutAt: number;
  #measuredFrom: number;
  #grownAt: number;
  #grownMs = 0;
  #probeAfterMs = firstProbeMs;
  // When the accepted ones were sent, since the last cut.
  #passed: number[] = [];

  constructor({ start, learnt, most }: AdaptiveRateOptions, now: number) {
    this.#start = start;
    this.#most = most;
    this.#rps = learnt ?? start;
    this.#ceiling = learnt;
    this.#cutAt = now - graceMs;
    this.#measuredFrom = now;
    this.#grownAt = now;
  }

  /** The rate to send at now, in requests a second; Infinity until the first throttle when it started there. */
  get rps(): number {
    return this.#rps;
  }

  /** The rate that held, worth keeping for the next run; null when nothing was learnt. */
  get learnt(): number | null {
    const isUntried = this.#rps === Number.POSITIVE_INFINITY || this.#rps === this.#start;
    return this.#ceiling ?? (isUntried ? null : this.#rps);
  }

  /**
   * An attempt was not throttled.
   * @param sentAt when it was sent, ms
   * @param waited true when requests were waiting for their turn: only a rate that was really used can be said to hold
   */
  accepted(now: number, sentAt: number, waited: boolean): void {
    this.#remember(now, sentAt);
    const elapsedMs = Math.min(1000, Math.max(0, now - this.#grownAt));
    this.#grownAt = Math.max(this.#grownAt, now);
    if (waited && this.#rps !== Number.POSITIVE_INFINITY && !this.#isResting(now)) this.#grow(elapsedMs);
  }

  /** An attempt was throttled. Those sent before the last cut, or right after it, tell nothing new and are ignored. */
  throttled(now: number, sentAt: number): void {
    if (sentAt < this.#cutAt + this.#graceMs()) return;
    const before = this.#isAtCeiling() ? this.#ceiling : null;
    this.#ceiling = Math.max(minRps, this.#estimate(sentAt));
    // A probe that failed: wait twice as long before the next. Far below what held, it is the limit that changed.
    if (before !== null) this.#probeAfterMs = Math.min(longestProbeMs, this.#probeAfterMs * 2);
    if (before !== null && this.#ceiling < 0.75 * before) this.#probeAfterMs = firstProbeMs;
    this.#rps = Math.max(minRps, Math.min(this.#rps, this.#ceiling) / 2);
    this.#cutAt = now;
    this.#measuredFrom = now;
    this.#grownAt = now;
    this.#passed = [];
  }

  /** Nothing goes until then (ms): what does not pass in that time says nothing about the rate. */
  paused(until: number): void {
    this.#measuredFrom = Math.max(this.#measuredFrom, until);
  }

  #graceMs(): number {
    return Math.max(graceMs, 2000 / this.#rps);
  }

  #isAtCeiling(): boolean {
    return this.#ceiling !== null && this.#rps >= this.#ceiling;
  }

  #isResting(now: number): boolean {
    return this.#isAtCeiling() && now - this.#cutAt < this.#probeAfterMs;
  }

  #remember(now: number, sentAt: number): void {
    if (sentAt >= this.#cutAt) this.#passed.push(sentAt);
    const middle = this.#passed[this.#passed.length >> 1];
    if (this.#passed.length > 64 && middle! < now - windowMs) {
      this.#passed = this.#passed.filter((at) => at >= now - windowMs);
    }
  }

  #grow(elapsedMs: number): void {
    const seconds = elapsedMs / 1000;
    if (this.#ceiling === null) {
      this.#grownMs += elapsedMs;
      // The step widens with time: 2 → 100 a second within a minute, and little overshoot where the limit is 2.
      this.#rps += (0.5 + (0.06 * this.#grownMs) / 1000) * seconds;
    } else if (this.#rps < this.#ceiling) {
      this.#rps = Math.min(this.#ceiling, this.#rps + Math.max(0.5, this.#ceiling / 4) * seconds);
    } else {
      this.#rps = Math.min(this.#most, this.#rps + Math.max(0.05, this.#ceiling / 100) * seconds);
      this.#ceiling = this.#rps;
    }
  }

  /** What may hold after a throttle: what got through, but less than what was tried. */
  #estimate(sentAt: number): number {
    const held = this.#heldRate(sentAt);
    if (this.#rps === Number.POSITIVE_INFINITY) {
      // What passed in less than a second was a bucket of about one second.
      return held === null ? Math.max(5 * startRps, this.#passed.length) : cautious * held;
    }
    const estimate = held === null ? 0.75 * this.#rps : cautious * held;
    return Math.min(0.9 * this.#rps, Math.max(estimate, this.#rps / 2));
  }

  /**
   * What got through between the last cut and this throttle is the best estimate of the limit: at both times the
   * server's bucket was empty. Null when that was too short a time to tell.
   */
  #heldRate(until: number): number | null {
    const since = Math.max(this.#measuredFrom, until - windowMs);
    const passed = this.#passed.filter((at) => at >= since && at <= until).length;
    if (until - since < 1000 && passed < enough) return null;
    return passed / ((until - since) / 1000);
  }
}
