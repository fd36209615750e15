import { realTiming } from '../../src/api/timing.ts';

/** How fast the clock of a night runs. */
const speed = 20;

/**
 * Does work while this process's clock is ahead by so many milliseconds and runs 20 times as fast; what the program
 * sleeps (before a retry, while the API rests) is as much shorter. Deadlines of requests are not. One piece of work at
 * a time.
 */
export async function aheadBy<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const RealDate = globalThis.Date;
  const realSleep = realTiming.sleep;
  const beganAt = RealDate.now();
  const now = () => beganAt + ms + (RealDate.now() - beganAt) * speed;
  globalThis.Date = class extends RealDate {
    constructor(...args: []) {
      super(...((args.length === 0 ? [now()] : args) as []));
    }

    static override now(): number {
      return now();
    }
  } as DateConstructor;
  realTiming.sleep = (waitMs, signal) => realSleep(waitMs / speed, signal);
  try {
    return await work();
  } finally {
    globalThis.Date = RealDate;
    realTiming.sleep = realSleep;
  }
}
