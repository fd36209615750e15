/** How often something happens. */
export interface Pace {
  note(now: number): void;
  /** Times a second over the last seconds. */
  perSecond(now: number): number;
}

const steps = 10;

/** Counts in tenths of the window, so that it takes the same memory at any rate. */
export function createPace(windowMs = 5000): Pace {
  const stepMs = windowMs / steps;
  const counts = new Map<number, number>();
  let first: number | null = null;
  return {
    note(now) {
      first ??= now;
      const step = Math.floor(now / stepMs);
      counts.set(step, (counts.get(step) ?? 0) + 1);
      for (const old of counts.keys()) if (old < step - steps) counts.delete(old);
    },
    perSecond(now) {
      const from = Math.floor((now - windowMs) / stepMs);
      let sum = 0;
      for (const [step, count] of counts) if (step >= from) sum += count;
      const since = Math.max(from * stepMs, first ?? now);
      return sum / (Math.max(1000, now - since) / 1000);
    },
  };
}
