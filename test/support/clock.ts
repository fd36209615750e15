import { realTiming } from '../../src/api/timing.ts';

/** How fast the clock of a night runs. */
const speed = 20;

/** How much further such a clock gets in real milliseconds than a real one: what a later clock is ahead, not to go back. */
export const clockGain = (realMs: number): number => Math.ceil(realMs) * (speed - 1);

/** As they are before any work: what ran out of time must not leave its clock to the work after it. */
const RealDate = globalThis.Date;
const realSleep = realTiming.sleep;

let last: Promise<unknown> = Promise.resolve();

/** Does work that changes what the whole process shares (clock, folder, environment, output) after the work before it. */
export function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = last.then(work);
  last = done.catch(() => undefined);
  return done;
}

/**
 * Does work, in turn, while this process's clock is ahead by so many milliseconds and runs 20 times as fast. What the
 * program sleeps (before a retry, while the API rests) is as much shorter; deadlines of requests are not.
 */
export function aheadBy<T>(ms: number, work: () => Promise<T>): Promise<T> {
  return inTurn(() => withClockAhead(ms, work));
}

/** The same for work that has its turn already. */
export async function withClockAhead<T>(ms: number, work: () => Promise<T>): Promise<T> {
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
