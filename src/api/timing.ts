/** Time and chance as arguments, so that tests need not wait. */
export interface Timing {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after ms; rejects with the signal's reason when it aborts. */
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

/** The time as the answers have it, where this computer's clock is far from theirs. */
export interface AnswerClock {
  /** Learns from an answer: its `Date` header, and when it was asked and came, by this computer's clock (Unix ms). */
  learn(date: string | null, sentMs: number, receivedMs: number): void;
  /** A moment of this computer's clock as the answers' (Unix ms); the moment itself where the two are near. */
  correct(localMs: number): number;
  /** How far this computer's clock is ahead of the answers' (ms); 0 where they are near, or nothing is known. */
  aheadMs(): number;
}

/** Clocks that differ by less count as the same: `Date` has whole seconds, and gateways are not that exact. */
const nearMs = 10 * 60_000;

/** The middle of so many answers counts, so that one old answer of a cache does not. */
const remembered = 9;

export function createAnswerClock(): AnswerClock {
  const seen: number[] = [];
  let ahead = 0;
  return {
    learn(date, sentMs, receivedMs) {
      const told = date === null ? Number.NaN : Date.parse(date);
      if (!Number.isFinite(told)) return;
      seen.push((sentMs + receivedMs) / 2 - told);
      if (seen.length > remembered) seen.shift();
      const middle = [...seen].sort((a, b) => a - b)[Math.floor(seen.length / 2)] as number;
      ahead = Math.abs(middle) > nearMs ? Math.round(middle) : 0;
    },
    correct: (localMs) => localMs - ahead,
    aheadMs: () => ahead,
  };
}

/** Waits, but no longer than until the signal aborts; rejects with its reason then. */
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
