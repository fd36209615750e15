import Bottleneck from 'bottleneck';

// Real clocks drift and requests jitter. 1 % below the limit keeps the server's bucket from running dry.
const safety = 0.99;

/** Requests so soon after the first of a burst belong to it. Later ones would meet a bucket that is not full yet. */
const burstMs = 20;

/**
 * Paces requests to a rate and allows bursts, so that a server's token bucket never runs dry. Bottleneck spaces evenly; its own
 * reservoir refills in clumps of 250 ms.
 * The first request after a quiet time takes an even slot. The rest of a burst is sent on credit, and a job without work
 * takes the slot of each. No credit is spent while requests wait: under load the server's bucket stays full and absorbs
 * jitter.
 */
export class Pacer {
  readonly #spacer: Bottleneck;
  readonly #fullCredit: number;
  #rps: number;
  #credit: number;
  #queued = 0;
  #firstWaits = false;
  /** Unix ms at which the last burst began. */
  #burstAt = Number.NEGATIVE_INFINITY;
  /** Unix ms at which the last request was let through. */
  #lastAt = Number.NEGATIVE_INFINITY;

  /**
   * @param rps requests a second; Infinity for no limit
   * @param burst requests that may be sent together after a quiet time, at least 1
   */
  constructor(rps: number, burst: number) {
    this.#rps = rps;
    this.#fullCredit = Math.max(1, Math.floor(burst)) - 1;
    this.#credit = this.#fullCredit;
    this.#spacer = new Bottleneck(settings(rps, this.#fullCredit));
  }

  /** Resolves when one more request may be sent. Rejects after close(). */
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

  /** Drops the requests that wait. */
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
      // Dropped by close().
      () => {},
    );
  }
}

function settings(rps: number, fullCredit: number): Bottleneck.ConstructorOptions {
  if (rps === Number.POSITIVE_INFINITY) return { minTime: 0, maxConcurrent: null };
  // More jobs than these wait in bottleneck's queue, where a new rate still reaches them. 10 ms ahead hides its overhead. Up
  // to a second ahead makes up for a stalled process, in a bunch that the server's own burst accepts.
  const ahead = Math.max(Math.ceil(rps / 100), Math.min(fullCredit, Math.ceil(rps)));
  return { minTime: 1000 / (rps * safety), maxConcurrent: 1 + ahead };
}

export interface AdaptiveRateOptions {
  /** Requests a second at first: `startRps`, or Infinity for no limit until the first throttle. */
  start: number;
  /** The rate that an earlier run found or the plan allows; null without one. */
  learnt: number | null;
  /** Infinity for a rate without a configured maximum. */
  max: number;
}

export const startRps = 2;
const minRps = 0.1;
const windowMs = 10_000;
/** So many accepted requests show the rate, even in less than a second. */
const enough = 20;
// Right after a cut the server's bucket is still empty, so a throttle shows nothing about the new rate.
const graceMs = 500;
/** Share of the accepted rate that is tried after a throttle. */
const cautious = 0.98;
const firstProbeMs = 15_000;
const longestProbeMs = 10 * 60_000;

/**
 * Finds the rate that an API allows: it grows additively, halves on a throttle, returns to the rate that held and tries more,
 * ever more rarely. All times are arguments (ms), so that a test can replay an hour in a moment.
 */
export class AdaptiveRate {
  readonly #start: number;
  readonly #max: number;
  #rps: number;
  // The rate that held. Below it the rate recovers fast, at it it rests, above it it probes.
  #ceiling: number | null;
  #cutAt: number;
  #measuredFrom: number;
  #grownAt: number;
  #grownMs = 0;
  #probeAfterMs = firstProbeMs;
  // When the requests accepted since the last cut were sent.
  #acceptedAt: number[] = [];

  constructor({ start, learnt, max }: AdaptiveRateOptions, now: number) {
    this.#start = start;
    this.#max = max;
    this.#rps = learnt ?? start;
    this.#ceiling = learnt;
    this.#cutAt = now - graceMs;
    this.#measuredFrom = now;
    this.#grownAt = now;
  }

  /** Requests a second to send now; Infinity until the first throttle if it started there. */
  get rps(): number {
    return this.#rps;
  }

  /** The rate that held, for the next run; null when nothing was learnt. */
  get learnt(): number | null {
    const isUntried = this.#rps === Number.POSITIVE_INFINITY || this.#rps === this.#start;
    return this.#ceiling ?? (isUntried ? null : this.#rps);
  }

  /**
   * Learns that an attempt was not throttled.
   * @param sentAt when it was sent, ms
   * @param isBusy whether requests were waiting for their turn: only a rate that was really used may grow
   */
  accepted(now: number, sentAt: number, isBusy: boolean): void {
    this.#remember(now, sentAt);
    const elapsedMs = Math.min(1000, Math.max(0, now - this.#grownAt));
    this.#grownAt = Math.max(this.#grownAt, now);
    if (isBusy && this.#rps !== Number.POSITIVE_INFINITY && !this.#isResting(now)) this.#grow(elapsedMs);
  }

  /** Learns that an attempt was throttled. One sent before the last cut, or right after it, shows nothing new and is ignored. */
  throttled(now: number, sentAt: number): void {
    if (sentAt < this.#cutAt + this.#graceMs()) return;
    const before = this.#isAtCeiling() ? this.#ceiling : null;
    this.#ceiling = Math.max(minRps, this.#estimate(sentAt));
    // A probe failed: wait twice as long before the next. If the rate is far below what held, the limit itself changed.
    if (before !== null) this.#probeAfterMs = Math.min(longestProbeMs, this.#probeAfterMs * 2);
    if (before !== null && this.#ceiling < 0.75 * before) this.#probeAfterMs = firstProbeMs;
    this.#rps = Math.max(minRps, Math.min(this.#rps, this.#ceiling) / 2);
    this.#cutAt = now;
    this.#measuredFrom = now;
    this.#grownAt = now;
    this.#acceptedAt = [];
  }

  /** Nothing is sent until then (ms), so that time must not count as a low rate. */
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
    if (sentAt >= this.#cutAt) this.#acceptedAt.push(sentAt);
    const middle = this.#acceptedAt[this.#acceptedAt.length >> 1];
    if (this.#acceptedAt.length > 64 && middle! < now - windowMs) {
      this.#acceptedAt = this.#acceptedAt.filter((at) => at >= now - windowMs);
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
      this.#rps = Math.min(this.#max, this.#rps + Math.max(0.05, this.#ceiling / 100) * seconds);
      this.#ceiling = this.#rps;
    }
  }

  /** The rate to try after a throttle: the accepted one, but less than the one that was tried. */
  #estimate(sentAt: number): number {
    const held = this.#heldRate(sentAt);
    if (this.#rps === Number.POSITIVE_INFINITY) {
      // Requests accepted in less than a second emptied a bucket of about one second.
      return held === null ? Math.max(5 * startRps, this.#acceptedAt.length) : cautious * held;
    }
    const estimate = held === null ? 0.75 * this.#rps : cautious * held;
    return Math.min(0.9 * this.#rps, Math.max(estimate, this.#rps / 2));
  }

  /**
   * The rate accepted between the last cut and this throttle. It estimates the limit best, because the server's bucket was empty
   * both times. Null when that time was too short to tell.
   */
  #heldRate(until: number): number | null {
    const since = Math.max(this.#measuredFrom, until - windowMs);
    const count = this.#acceptedAt.filter((at) => at >= since && at <= until).length;
    if (until - since < 1000 && count < enough) return null;
    return count / ((until - since) / 1000);
  }
}
