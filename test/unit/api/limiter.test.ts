import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { Limiter, type LimiterConfig } from '../../../src/api/limiter.ts';
import { realTiming } from '../../../src/api/timing.ts';

function limiterOf(config: LimiterConfig, startUnlimited = false): Limiter {
  return new Limiter({ ...config, startUnlimited, timing: realTiming });
}

/** Runs n empty tasks at once; returns when each went, ms from now. */
async function departures(limiter: Limiter, n: number): Promise<number[]> {
  const start = performance.now();
  return Promise.all(Array.from({ length: n }, () => limiter.run(async () => performance.now() - start)));
}

describe('order and concurrency', () => {
  test('never more in flight than configured; what returns goes first, then who was given the fewest turns', async () => {
    const limiter = limiterOf({ concurrency: 2 }, true);
    let inFlight = 0;
    let most = 0;
    const order: string[] = [];
    const task = (name: string) => async () => {
      order.push(name);
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inFlight -= 1;
    };
    const ask = (name: string, options = {}) => limiter.run(task(name), options);
    const giant = ['a', 'b', 'c', 'd', 'e'].map((name) => ask(name, { requester: 'giant' }));
    const small = ['x', 'y'].map((name) => ask(name, { requester: 'small' }));
    await Promise.all([...giant, ...small, ask('back', { requester: 'giant', isRetry: true })]);
    expect(most).toBe(2);
    expect(order).toEqual(['a', 'b', 'back', 'x', 'y', 'c', 'd', 'e']);
  });

  test('a hold stops the whole pool, also those already waiting for their slot', async () => {
    const limiter = limiterOf({ rps: 100, concurrency: 10 });
    const gone = departures(limiter, 6);
    limiter.hold(120);
    limiter.hold(20);
    const times = (await gone).sort((a, b) => a - b);
    expect(times.filter((at) => at < 119)).toHaveLength(0);
    // And they return one by one.
    expect(times.at(-1)! - times[0]!).toBeGreaterThan(4 * 9);
  });

  test('an answer that was taken is kept by nobody while others wait', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const limiter = limiterOf({ concurrency: 2 }, true);
    const pages: WeakRef<object>[] = [];
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const answered = Array.from({ length: 20 }, async () => {
      pages.push(new WeakRef(await limiter.run(async () => ({ records: Buffer.alloc(1000) }))));
    });
    // Those behind them keep the queue from being empty.
    const behind = Array.from({ length: 4 }, () => limiter.run(() => held));
    await Promise.all(answered);
    await new Promise((resolve) => setTimeout(resolve, 10));
    collect();
    expect(pages.filter((page) => page.deref() !== undefined)).toEqual([]);
    goOn();
    await Promise.all(behind);
  });

  test('an abort ends the wait at once', async () => {
    const limiter = limiterOf({ rps: 0.1 });
    const stop = new AbortController();
    await limiter.run(async () => {});
    const waiting = limiter.run(async () => 'sent', { signal: stop.signal });
    setTimeout(() => stop.abort(new Error('enough')), 10);
    await expect(waiting).rejects.toThrow('enough');
    limiter.close();
  });
});

describe('an unknown limit', () => {
  test('loopback: none until it is throttled three times, which is remembered', async () => {
    const limiter = limiterOf({}, true);
    expect((await departures(limiter, 50)).at(-1)).toBeLessThan(100);
    for (const strike of [1, 2]) limiter.settle('throttled', Date.now() + strike);
    expect([limiter.rps, limiter.learntRps]).toEqual([Number.POSITIVE_INFINITY, null]);
    limiter.settle('throttled', Date.now());
    expect(limiter.rps).toBeLessThan(10);
    expect(limiter.learntRps).toBeGreaterThan(0);
  });

  test('a configured rate yields to a server that keeps throttling, and is not remembered', () => {
    const limiter = limiterOf({ rps: 50 });
    for (const _ of [1, 2]) limiter.settle('throttled', Date.now());
    expect(limiter.rps).toBe(50);
    limiter.settle('throttled', Date.now());
    expect(limiter.rps).toBeLessThanOrEqual(25);
    expect(limiter.learntRps).toBeNull();
  });

  test('elsewhere: starts at two a second', () => {
    expect(limiterOf({}).rps).toBe(2);
  });
});
