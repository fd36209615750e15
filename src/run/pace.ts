import type { AttemptEntry } from '../api/client-state.ts';

/** How fast a run asks, from its attempts. */
export interface Pace {
  note(entry: Pick<AttemptEntry, 'attempt'>, now: number): void;
  /** Requests a second over the last seconds. */
  rps(now: number): number;
  readonly retries: number;
}

const windowMs = 5000;
const steps = 10;

/** Counts in steps of half a second, so that it takes the same memory at any rate. */
export function createPace(): Pace {
  const stepMs = windowMs / steps;
  const counts = new Map<number, number>();
  let retries = 0;
  let first: number | null = null;
  return {
    note({ attempt }, now) {
      first ??= now;
      if (attempt > 1) retries += 1;
      const step = Math.floor(now / stepMs);
      counts.set(step, (counts.get(step) ?? 0) + 1);
      for (const old of counts.keys()) if (old < step - steps) counts.delete(old);
    },
    rps(now) {
      const from = Math.floor((now - windowMs) / stepMs);
      let sum = 0;
      for (const [step, count] of counts) if (step >= from) sum += count;
      const since = Math.max(from * stepMs, first ?? now);
      return sum / (Math.max(1000, now - since) / 1000);
    },
    get retries() {
      return retries;
    },
  };
}
