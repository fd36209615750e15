import PQueue from 'p-queue';
import { AdaptiveRate, Pacer, startRps } from './rate.ts';
import { type Timing, untilAborted } from './timing.ts';

export interface LimiterConfig {
  /** Requests a second the plan allows: never exceeded, lowered only while the server throttles. Absent: the rate is found. */
  rps?: number;
  /** Requests that may be sent together after a quiet time. Default 1: evenly spaced. */
  burst?: number;
  /** Requests in flight at most. Default: two seconds' worth of the rate, 2 to 128; 8 without a rate. */
  concurrency?: number;
}

export interface LimiterOptions extends LimiterConfig {
  /** Without `rps`: no limit until the server throttles three times in ten seconds (the embedded sandbox has none). */
  startUnlimited: boolean;
  /** Without `rps`: the `learntRps` of an earlier run. */
  learntRps?: number;
  timing: Timing;
}

export interface TurnOptions {
  /** Whose request it is: the requester that has had the fewest turns goes first. */
  requester?: string;
  /** Retries go before all others, because their tasks are further along. */
  isRetry?: boolean;
  /** Ends the wait with its reason. A task that runs has to listen itself. */
  signal?: AbortSignal;
}

// One throttle of a configured limit, or of the embedded sandbox, is an accident; three in ten seconds are not.
const strikesToYield = 3;
const strikeWindowMs = 10_000;

// Requests that were throttled or held are sent one by one: of 50 that wait, at most five in a tenth of a second.
const delayedGapMs = 25;

/** One pool's limit: p-queue keeps order and concurrency, Pacer the rate and bursts, AdaptiveRate finds unknown rates. */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #timing: Timing;
  readonly #queue: PQueue;
  readonly #pacer: Pacer;
  readonly #adaptive: AdaptiveRate;
  #rps: number;
  #heldUntil = 0;
  readonly #turns = new Map<string, number>();
  /** The last delayed request that queued up: when it is sent, and the Unix ms at which the one before it was. */
  #lastDelayed = { sent: Promise.resolve(), at: 0 };
  #waiting = 0;
  #inFlight = 0;
  #strikes: number[] = [];

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#timing = options.timing;
    const { rps, learntRps, startUnlimited } = options;
    const start = startUnlimited ? Number.POSITIVE_INFINITY : startRps;
    const bounds = { learnt: rps ?? learntRps ?? null, max: rps ?? Number.POSITIVE_INFINITY };
    this.#adaptive = new AdaptiveRate({ start, ...bounds }, this.#timing.now());
    this.#rps = this.#adaptive.rps;
    this.#queue = new PQueue({ concurrency: options.concurrency ?? concurrencyFor(this.#rps) });
    this.#pacer = new Pacer(this.#rps, options.burst ?? 1);
  }

  /** Requests a second at the moment; Infinity without a limit. */
  get rps(): number {
    return this.#rps;
  }

  /** Unix ms (of the timing) before which no request of the pool is sent. */
  get heldUntil(): number {
    return this.#heldUntil;
  }

  /** Tasks that have had their turn and have not ended. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** The rate that the API allowed, for the next run; null when rps is configured or nothing was learnt. */
  get learntRps(): number | null {
    return this.#options.rps === undefined ? this.#adaptive.learnt : null;
  }

  /** Runs the task when the pool allows: retries first, then by requester, then first come first served. */
  async run<T>(
    task: () => Promise<T>,
    { requester = '', isRetry = false, signal }: TurnOptions = {},
  ): Promise<T> {
    const queuedAt = this.#timing.now();
    const turns = this.#turns.get(requester) ?? 0;
    if (!isRetry) this.#turns.set(requester, turns + 1);
    // p-queue holds a hundred finished tasks and what they returned, which would be pages of megabytes.
    const results: T[] = [];
    const inTurn = async () => {
      signal?.throwIfAborted();
      await this.#takeTurn(isRetry ? Number.NEGATIVE_INFINITY : queuedAt, signal);
      this.#inFlight += 1;
      try {
        results.push(await task());
      } finally {
        this.#inFlight -= 1;
      }
    };
    await this.#queue.add(inTurn, { priority: isRetry ? 1 : -turns });
    return results.pop() as T;
  }

  /** Takes another turn for a task that waited in its own, because all tasks that wait end their wait together. */
  takeTurnAgain(signal?: AbortSignal): Promise<void> {
    return this.#takeTurn(Number.NEGATIVE_INFINITY, signal);
  }

  /** Sends no request of the pool before ms have passed. A hold that ends later stays. */
  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, this.#timing.now() + ms);
    this.#adaptive.paused(this.#heldUntil);
  }

  /** Learns from the end of an attempt which rate the API allows, or that the configured one is too high. */
  settle(outcome: 'accepted' | 'throttled', sentAt: number): void {
    const now = this.#timing.now();
    if (outcome === 'accepted') this.#adaptive.accepted(now, sentAt, this.#waiting + this.#queue.size > 0);
    else if (this.#mustYield(now)) this.#adaptive.throttled(now, sentAt);
    this.#adoptRate();
  }

  /** Drops the tasks that wait for their turn. */
  close(): void {
    this.#pacer.close();
  }

  /** @param queuedAt Unix ms at which the task was queued; those queued before the last hold ended are sent one by one */
  async #takeTurn(queuedAt: number, signal?: AbortSignal): Promise<void> {
    do {
      await this.#waitOutHold(signal);
      if (queuedAt < this.#heldUntil) await this.#takeDelayedToken(signal);
      else await this.#takeToken(signal);
      // A hold that began meanwhile takes the token back. Otherwise all that waited it out would be sent together.
    } while (this.#heldMs() > 0);
  }

  async #takeToken(signal?: AbortSignal): Promise<void> {
    this.#waiting += 1;
    await untilAborted(this.#pacer.take(), signal).finally(() => {
      this.#waiting -= 1;
    });
  }

  /** Takes a token after the delayed request before it, and `delayedGapMs` later. */
  async #takeDelayedToken(signal?: AbortSignal): Promise<void> {
    const previous = this.#lastDelayed.sent;
    let wakeUpNext = () => {};
    this.#lastDelayed.sent = new Promise((resolve) => {
      wakeUpNext = resolve;
    });
    try {
      await untilAborted(previous, signal);
      const waitMs = this.#lastDelayed.at + delayedGapMs - this.#timing.now();
      if (waitMs > 0) await this.#timing.sleep(waitMs, signal);
      await this.#takeToken(signal);
      this.#lastDelayed.at = this.#timing.now();
    } finally {
      wakeUpNext();
    }
  }

  async #waitOutHold(signal?: AbortSignal): Promise<void> {
    for (let ms = this.#heldMs(); ms > 0; ms = this.#heldMs()) await this.#timing.sleep(ms, signal);
  }

  #heldMs(): number {
    return this.#heldUntil - this.#timing.now();
  }

  #mustYield(now: number): boolean {
    this.#strikes = [...this.#strikes.filter((at) => at > now - strikeWindowMs), now];
    const isUnknown = this.#options.rps === undefined && !this.#options.startUnlimited;
    return isUnknown || this.#strikes.length >= strikesToYield;
  }

  #adoptRate(): void {
    const rps = this.#adaptive.rps;
    // A smaller step is not worth a timer.
    if (rps === this.#rps || Math.abs(rps - this.#rps) < this.#rps / 100) return;
    this.#rps = rps;
    this.#pacer.setRate(rps);
    if (this.#options.concurrency === undefined) this.#queue.concurrency = concurrencyFor(rps);
  }
}

function concurrencyFor(rps: number): number {
  if (rps === Number.POSITIVE_INFINITY) return 8;
  // A full page takes up to 1.5 s: two seconds' worth in flight keeps the rate used.
  return Math.max(2, Math.min(128, Math.ceil(rps * 2)));
}
