import { describe, expect, test } from 'vitest';
import { AdaptiveRate, startRps } from '../../../src/api/rate.ts';

interface Found {
  sent: number;
  throttled: number;
  /** Requests a second that got through in the last ten seconds. */
  rate: number;
}

/** Replays a client that always has work against a token bucket of one second, answers after 100 ms. */
function replay(limitAt: (ms: number) => number, forMs: number, start = startRps): Found {
  const rate = new AdaptiveRate({ start, learnt: null, max: Number.POSITIVE_INFINITY }, 0);
  const answers: { at: number; sentAt: number; ok: boolean }[] = [];
  let tokens = limitAt(0);
  let sent = 0;
  let throttled = 0;
  let next = 0;
  const passed: number[] = [];
  for (let now = 0; now < forMs; now += 1) {
    tokens = Math.min(limitAt(now), tokens + limitAt(now) / 1000);
    while (answers[0] && answers[0].at <= now) {
      const { sentAt, ok } = answers.shift()!;
      if (ok) rate.accepted(now, sentAt, true);
      else rate.throttled(now, sentAt);
    }
    for (; next <= now; next = Math.max(next + 1000 / Math.min(rate.rps, 1000), now - 20)) {
      sent += 1;
      const ok = tokens >= 1;
      if (ok) passed.push(now);
      else throttled += 1;
      if (ok) tokens -= 1;
      answers.push({ at: now + 100, sentAt: now, ok });
    }
  }
  return { sent, throttled, rate: passed.filter((at) => at >= forMs - 10_000).length / 10 };
}

describe('an unknown limit', () => {
  test.each([2, 5, 10, 50, 100])('of %i a second is found within a minute', (limit) => {
    const found = replay(() => limit, 60_000);
    expect(Math.abs(found.rate / limit - 1)).toBeLessThanOrEqual(0.1);
    expect(found.throttled).toBeLessThanOrEqual(Math.max(3, found.sent / 100));
  });

  test.each([10, 50, 100])('of %i a second that halves is found again in ten seconds', (limit) => {
    const found = replay((now) => (now < 60_000 ? limit : limit / 2), 80_000);
    expect(Math.abs(found.rate / (limit / 2) - 1)).toBeLessThanOrEqual(0.1);
    expect(found.throttled).toBeLessThanOrEqual(found.sent / 100);
  });

  test('is looked for ever more rarely once it is known', () => {
    const found = replay(() => 50, 3_600_000);
    expect(found.rate).toBeGreaterThan(45);
    expect(found.throttled).toBeLessThan(30);
  });

  test('is found by a start without a limit, after its first throttle', () => {
    expect(replay(() => 50, 30_000, Number.POSITIVE_INFINITY).rate).toBeGreaterThan(45);
  });
});

const unbounded = (learnt: number | null) =>
  new AdaptiveRate({ start: startRps, learnt, max: Number.POSITIVE_INFINITY }, 0);

describe('one rate', () => {
  test('does not grow while nothing waits: a rate that was not used was not tried', () => {
    const rate = unbounded(null);
    for (let at = 0; at < 60_000; at += 500) rate.accepted(at + 100, at, false);
    expect([rate.rps, rate.learnt]).toEqual([2, null]);
  });

  test('halves, then goes back to what held', () => {
    const rate = unbounded(40);
    rate.throttled(10_000, 9_900);
    expect(rate.rps).toBeLessThanOrEqual(20);
    rate.throttled(10_100, 9_950);
    expect(rate.rps, 'a second one of the same moment says nothing new').toBeGreaterThan(9);
    for (let at = 10_000; at < 20_000; at += 50) rate.accepted(at + 100, at, true);
    expect(rate.rps).toBe(rate.learnt);
  });

  test('begins at what an earlier run learnt', () => {
    const rate = unbounded(37);
    expect([rate.rps, rate.learnt]).toEqual([37, 37]);
  });

  test('never goes above what the plan allows', () => {
    const rate = new AdaptiveRate({ start: startRps, learnt: 50, max: 50 }, 0);
    rate.throttled(1_000, 950);
    expect(rate.rps).toBeLessThanOrEqual(25);
    for (let at = 1_000; at < 600_000; at += 100) rate.accepted(at + 100, at, true);
    expect(rate.rps).toBe(50);
  });

  test('a pause the server asked for is not taken for a low rate', () => {
    const rate = unbounded(40);
    rate.paused(8_000);
    for (let at = 8_000; at < 10_000; at += 25) rate.accepted(at + 100, at, true);
    rate.throttled(10_100, 10_000);
    expect(rate.learnt).toBeGreaterThan(30);
  });
});
