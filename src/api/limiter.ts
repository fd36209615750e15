import PQueue from 'p-queue';
import { AdaptiveRate, startRps, TokenBucket } from './rate.ts';
import { type Timing, untilAborted } from './timing.ts';

export interface LimiterConfig {
  /** Requests a second the plan allows; never exceeded, and left only when the server keeps throttling. Absent: found out. */
  rps?: number;
  /** How many may go at once after a quiet time, above the even rate. Default 1: evenly spaced. */
  burst?: number;
  /** Most requests in flight. Default: what two seconds of the rate need, 2 to 128; 8 without a rate. */
  concurrency?: number;
}

export interface LimiterOptions extends LimiterConfig {
  /** Without `rps`: no limit until the server throttles three times in ten seconds (the embedded sandbox has none). */
  startUnlimited: boolean;
  /** Without `rps`: what an earlier run learnt. */
  learntRps?: number;
  timing: Timing;
}

export interface TurnOptions {
  /** Whose request it is: those who were given fewer turns so far go first. */
  share?: string;
  /** Whether it was turned away before. */
  returns?: boolean;
  /** Ends the wait, with its reason; a task that runs must listen itself. */
  signal?: AbortSignal;
}

// One throttle of a limit that was configured, or of the embedded sandbox, is an accident; three in ten seconds are not.
const strikesToYield = 3;
const strikeWindowMs = 10_000;

// What was turned away, or held up, returns one by one: of 50 that wait, at most five in a tenth of a second.
const returnGapMs = 25;

/** One pool's limit: order and concurrency by p-queue, rate and burst by bottleneck, unknown rates learnt. */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #timing: Timing;
  readonly #queue: PQueue;
  readonly #bucket: TokenBucket;
  readonly #adaptive: AdaptiveRate;
  #rps: number;
  #heldUntil = 0;
  readonly #turns = new Map<string, number>();
  #lastReturn = { gone: Promise.resolve(), at: 0 };
  #waiting = 0;
  #inFlight = 0;
  #strikes: number[] = [];

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#timing = options.timing;
    const { rps, learntRps, startUnlimited } = options;
    const start = startUnlimited ? Number.POSITIVE_INFINITY : startRps;
    const known = { learnt: rps ?? learntRps ?? null, most: rps ?? Number.POSITIVE_INFINITY };
    this.#adaptive = new AdaptiveRate({ start, ...known }, this.#timing.now());
    this.#rps = this.#adaptive.rps;
    this.#queue = new PQueue({ concurrency: options.concurrency ?? concurrencyFor(this.#rps) });
    this.#bucket = new TokenBucket(this.#rps, options.burst ?? 1);
  }

  /** Requests a second in force; Infinity when nothing limits. */
  get rps(): number {
    return this.#rps;
  }

  /** Unix ms (of the timing) before which nothing of the pool goes. */
  get heldUntil(): number {
    return this.#heldUntil;
  }

  /** Tasks that have had their turn and are not done. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** The rate that held, for the next run; null when rps is configured or nothing was learnt. */
  get learntRps(): number | null {
    return this.#options.rps === undefined ? this.#adaptive.learnt : null;
  }

  /** Runs the task when the pool allows: what returns first, then by share, then first come first served. */
  async run<T>(
    task: () => Promise<T>,
    { share = '', returns = false, signal }: TurnOptions = {},
  ): Promise<T> {
    const askedAt = this.#timing.now();
    const turns = this.#turns.get(share) ?? 0;
    if (!returns) this.#turns.set(share, turns + 1);
    // p-queue keeps a hundred tasks that are done, and with them what they return: pages of megabytes.
    const results: T[] = [];
    const inTurn = async () => {
      signal?.throwIfAborted();
      await this.#takeTurn(returns ? Number.NEGATIVE_INFINITY : askedAt, signal);
      this.#inFlight += 1;
      try {
        results.push(await task());
      } finally {
        this.#inFlight -= 1;
      }
    };
    await this.#queue.add(inTurn, { priority: returns ? 1 : -turns });
    return results.pop() as T;
  }

  /** A task that had to wait in its turn takes it again: all that waited for the same moment would go at once. */
  takeTurnAgain(signal?: AbortSignal): Promise<void> {
    return this.#takeTurn(Number.NEGATIVE_INFINITY, signal);
  }

  /** Nothing of the pool goes before ms have passed; a longer hold in force stays. */
  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, this.#timing.now() + ms);
    this.#adaptive.paused(this.#heldUntil);
  }

  /** Tells the limiter how an attempt ended, so that it finds the rate, or sees that a configured one is too high. */
  settle(outcome: 'accepted' | 'throttled', sentAt: number): void {
    const now = this.#timing.now();
    if (outcome === 'accepted') this.#adaptive.accepted(now, sentAt, this.#waiting + this.#queue.size > 0);
    else if (this.#mustYield(now)) this.#adaptive.throttled(now, sentAt);
    this.#follow();
  }

  /** Drops what still waits for its turn. */
  close(): void {
    this.#bucket.close();
  }

  /** @param askedAt when it began to wait for its turn; what waited already as the last hold ended returns from it */
  async #takeTurn(askedAt: number, signal?: AbortSignal): Promise<void> {
    do {
      await this.#waitOutHold(signal);
      if (askedAt < this.#heldUntil) await this.#takeReturn(signal);
      else await this.#takeToken(signal);
      // A hold that came meanwhile takes the token back, or all who waited it out would go in the same moment.
    } while (this.#heldMs() > 0);
  }

  async #takeToken(signal?: AbortSignal): Promise<void> {
    this.#waiting += 1;
    await untilAborted(this.#bucket.take(), signal).finally(() => {
      this.#waiting -= 1;
    });
  }

  /** Takes a token behind the return before it, and some time after that went. */
  async #takeReturn(signal?: AbortSignal): Promise<void> {
    const before = this.#lastReturn.gone;
    let goOn = () => {};
    this.#lastReturn.gone = new Promise((resolve) => {
      goOn = resolve;
    });
    try {
      await untilAborted(before, signal);
      const waitMs = this.#lastReturn.at + returnGapMs - this.#timing.now();
      if (waitMs > 0) await this.#timing.sleep(waitMs, signal);
      await this.#takeToken(signal);
      this.#lastReturn.at = this.#timing.now();
    } finally {
      goOn();
    }
  }

  async #waitOutHold(signal?: AbortSignal): Promise<void> {
    for (let left = this.#heldMs(); left > 0; left = this.#heldMs()) await this.#timing.sleep(left, signal);
  }

  #heldMs(): number {
    return this.#heldUntil - this.#timing.now();
  }

  #mustYield(now: number): boolean {
    this.#strikes = [...this.#strikes.filter((at) => at > now - strikeWindowMs), now];
    const isUnknown = this.#options.rps === undefined && !this.#options.startUnlimited;
    return isUnknown || this.#strikes.length >= strikesToYield;
  }

  #follow(): void {
    const rps = this.#adaptive.rps;
    // Smaller steps are not worth a timer.
    if (rps === this.#rps || Math.abs(rps - this.#rps) < this.#rps / 100) return;
    this.#rps = rps;
    this.#bucket.setRate(rps);
    if (this.#options.concurrency === undefined) this.#queue.concurrency = concurrencyFor(rps);
  }
}

function concurrencyFor(rps: number): number {
  if (rps === Number.POSITIVE_INFINITY) return 8;
  // A full page takes up to 1.5 s (API.md): two seconds' worth in flight keeps the rate used.
  return Math.max(2, Math.min(128, Math.ceil(rps * 2)));
}
