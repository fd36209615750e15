import { onTestFinished, vi } from 'vitest';
import type { Timing } from '../../src/api/timing.ts';

/** A clock that goes as fast as the work allows. */
export interface VirtualClock {
  /** Milliseconds since 1970, with fractions. */
  now(): number;
  /** Lets so much time pass: every timer that is due fires in its order, and what waits for it goes on before the next. */
  pass(ms: number): Promise<void>;
  /** What the program's own clock is, with this chance. */
  timing(random: () => number): Timing;
}

interface Timer {
  at: number;
  number: number;
  fire(): void;
}

const start = Date.parse('2026-01-01T00:00:00Z');

/**
 * Puts a virtual clock in the place of this process's `setTimeout` and `Date.now`, until the test ends. As in Node,
 * timers take whole milliseconds (their fractions are cut off) and at least one, and `Date.now` shows whole ones.
 */
export function startVirtualClock(): VirtualClock {
  let now = start + 0.4;
  let count = 0;
  const timers = new Map<number, Timer>();
  const set = (callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    count += 1;
    const wait = ms >= 1 && ms <= 2 ** 31 - 1 ? Math.trunc(ms) : 1;
    timers.set(count, { at: now + wait, number: count, fire: () => callback(...args) });
    return count;
  };
  const clear = (timer: unknown) => void timers.delete(timer as number);
  vi.stubGlobal('setTimeout', set);
  vi.stubGlobal('clearTimeout', clear);
  const date = vi.spyOn(Date, 'now').mockImplementation(() => Math.floor(now));
  onTestFinished(() => {
    vi.unstubAllGlobals();
    date.mockRestore();
  });
  const sleep: Timing['sleep'] = (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) reject(signal.reason);
      set(() => resolve(), ms);
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  return {
    now: () => now,
    async pass(ms) {
      const until = now + ms;
      await settle();
      for (let next = earliest(timers); next !== undefined && next.at <= until; next = earliest(timers)) {
        timers.delete(next.number);
        now = next.at;
        next.fire();
        await settle();
      }
      now = until;
    },
    timing: (random) => ({ now: () => Math.floor(now), sleep, random }),
  };
}

/** A few hundred timers at most are pending: looking at each is quick enough. */
function earliest(timers: ReadonlyMap<number, Timer>): Timer | undefined {
  let first: Timer | undefined;
  for (const timer of timers.values()) if (first === undefined || timer.at < first.at) first = timer;
  return first;
}

/** Everything that promises lead to has happened: immediates come after all of it. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
