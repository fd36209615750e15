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
