/** Time and randomness as arguments, so that tests need not wait. */
export interface Timing {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after ms. Rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
}

export const realTiming: Timing = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
};

/** The time by the answers' `Date` headers, used where this computer's clock is far from it. */
export interface AnswerClock {
  /** Learns from an answer: its `Date` header, and when it was requested and received by this computer's clock (Unix ms). */
  learn(date: string | null, sentMs: number, receivedMs: number): void;
  /** Converts a time of this computer's clock to the answers' (Unix ms). It is the same if the clocks are near. */
  correct(localMs: number): number;
  /** The time (Unix ms) of an answer by its `Date` and `Age`: one from a cache is as old as it says. */
  timeOf(answer: { date: string | null; age: string | null }, receivedMs: number): number;
  /** Milliseconds by which this computer's clock is ahead of the answers'; 0 if they are near, or without an answer. */
  aheadMs(): number;
}

/** Clocks that differ by less count as equal: `Date` has whole seconds, and gateways are not exact. */
const nearMs = 10 * 60_000;

/** Answers of which the median counts, so that one from a cache does not. */
const medianOf = 9;

export function createAnswerClock(): AnswerClock {
  const differences: number[] = [];
  let ahead = 0;
  return {
    learn(date, sentMs, receivedMs) {
      const serverMs = date === null ? Number.NaN : Date.parse(date);
      if (!Number.isFinite(serverMs)) return;
      differences.push((sentMs + receivedMs) / 2 - serverMs);
      if (differences.length > medianOf) differences.shift();
      const sorted = [...differences].sort((a, b) => a - b);
      const median = sorted[Math.floor(sorted.length / 2)] as number;
      const agreeing = differences.filter((one) => Math.abs(one - median) <= nearMs).length;
      // One answer from the future is not believed: rows timed so would keep out all later ones.
      const isBelieved = median > 0 || agreeing > Math.max(1, differences.length / 2);
      ahead = Math.abs(median) > nearMs && isBelieved ? Math.round(median) : 0;
    },
    correct: (localMs) => localMs - ahead,
    timeOf({ date, age }, receivedMs) {
      const received = receivedMs - ahead;
      const cachedMs = /^\d{1,10}$/.test(age ?? '') ? Number(age) * 1000 : 0;
      const sentMs = date === null ? Number.NaN : Date.parse(date);
      const isOld = sentMs < received - cachedMs - nearMs;
      return isOld ? sentMs : received - cachedMs;
    },
    aheadMs: () => ahead,
  };
}

/** Waits for a promise. Rejects with the signal's reason if that aborts first. */
export async function untilAborted(wait: Promise<void>, signal?: AbortSignal): Promise<void> {
  if (!signal) return wait;
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  wait.catch(() => {});
  try {
    signal.throwIfAborted();
    await Promise.race([wait, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
