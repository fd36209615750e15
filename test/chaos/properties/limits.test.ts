import { describe, expect, test } from 'vitest';
import { HttpFailure } from '../../../src/api/http-body.ts';
import { maxAttempts } from '../../../src/api/retry.ts';
import { operation, readJson } from '../../support/api-client.ts';
import { createRandom, readSeed } from '../../support/random.ts';
import { keepAsking, type Simulated, simulateApi, strictBucket } from '../../support/simulated-api.ts';
import { startVirtualClock, type VirtualClock } from '../../support/virtual-clock.ts';

/** The real client, limiter, retries and breaker, over a simulated API, in virtual time. */

const seed = readSeed();
console.log(`limits.test.ts: LEDGERLAKE_SEED=${seed}`);

const refused = (status: number, retryAfter: string | null = null) => ({
  status,
  retryAfter,
  body: Buffer.from(''),
});

/** An API that turns away what a bucket has no token for. */
function startBucketApi(
  clock: VirtualClock,
  bucket: { rps: (at: number) => number; burst: (at: number) => number },
  options: Partial<Parameters<typeof simulateApi>[1]> = {},
): Simulated {
  const takes = strictBucket(bucket.rps, bucket.burst);
  return simulateApi(clock, {
    random: createRandom(seed),
    respond: ({ at }) => (takes(at) ? undefined : refused(429)),
    ...options,
  });
}

const countThrottled = ({ arrivals }: Simulated) => arrivals.filter(({ status }) => status === 429).length;

/** Answers a second between two moments. */
function rateOf({ arrivals }: Simulated, from: number, to: number): number {
  const good = arrivals.filter(({ status, at }) => status === 200 && at >= from && at < to);
  return good.length / ((to - from) / 1000);
}

/** Most of these moments in any window of so many ms. */
function mostWithin(moments: readonly number[], ms: number): number {
  const sorted = [...moments].sort((a, b) => a - b);
  return Math.max(...sorted.map((from, n) => sorted.slice(n).filter((at) => at < from + ms).length));
}

describe('a known limit: 98 % of it, without one 429', () => {
  // Evenly spaced requests need no jitter on their way to meet a bucket of one; faster ones need room for a millisecond.
  test.each([
    { rps: 1, burst: 1, jitter: 0 },
    { rps: 2, burst: 1, jitter: 0 },
    { rps: 10, burst: 1, jitter: 0 },
    { rps: 2, burst: 2, jitter: 100 },
    { rps: 10, burst: 10, jitter: 200 },
    { rps: 50, burst: 5, jitter: 50 },
    { rps: 50, burst: 50, jitter: 200 },
    { rps: 100, burst: 10, jitter: 50 },
    { rps: 100, burst: 100, jitter: 200 },
  ])('$rps a second, $burst at once, up to $jitter ms more on the way', async ({ rps, burst, jitter }) => {
    const clock = startVirtualClock();
    const random = createRandom(seed);
    const travel = () => ({ there: 20 + jitter * random(), back: 60 + 40 * random() });
    const limits = { das: { rps, burst } };
    const bucket = { rps: () => rps, burst: () => burst };
    const api = startBucketApi(clock, bucket, { limits, travel });
    const seconds = 60;
    await keepAsking(api, clock, { count: 100, until: clock.now() + seconds * 1000 });
    expect(countThrottled(api)).toBe(0);
    expect(api.arrivals.length / seconds / rps).toBeGreaterThanOrEqual(0.98);
  });

  test('after a quiet time so many go at once as may, then the even rate', async () => {
    const clock = startVirtualClock();
    const limits = { das: { rps: 50, burst: 5, concurrency: 20 } };
    const api = simulateApi(clock, { random: createRandom(seed), limits, respond: () => undefined });
    // The first request of a client goes alone until it is answered.
    await keepAsking(api, clock, { count: 1, until: clock.now() + 1000, most: 1 });
    for (const _ of ['first', 'again']) {
      const before = api.arrivals.length;
      await keepAsking(api, clock, { count: 8, until: clock.now() + 1000, most: 8 });
      const [first, ...others] = api.arrivals.slice(before).map(({ sent }) => sent);
      expect(others.filter((sent) => sent - first! < 15)).toHaveLength(4);
      expect(others.at(-1)! - first!).toBeGreaterThan(3 * 19);
    }
  });

  test('never more than burst + rate · time, in any window', async () => {
    const clock = startVirtualClock();
    const limits = { das: { rps: 100, burst: 4, concurrency: 50 } };
    const api = simulateApi(clock, { random: createRandom(seed), limits, respond: () => undefined });
    for (let round = 0; round < 5; round += 1) {
      await keepAsking(api, clock, { count: 50, until: clock.now() + 400 });
      await clock.pass(200 * round);
    }
    for (const ms of [10, 100, 1000])
      expect(
        mostWithin(
          api.arrivals.map(({ sent }) => sent),
          ms,
        ),
      ).toBeLessThanOrEqual(4 + ms / 10 + 1);
  });
});

describe('an unknown limit', () => {
  const within = (rate: number, limit: number, seconds: number) =>
    // A tenth, or one request where a tenth is less.
    Math.abs(rate - limit) <= Math.max(limit / 10, 1 / seconds) + 1e-9;

  test.each([2, 5, 10, 50, 100])(
    'of %i a second: found in a minute, at most 1 % are turned away',
    async (rps) => {
      const clock = startVirtualClock();
      const start = clock.now();
      const api = startBucketApi(clock, { rps: () => rps, burst: () => rps });
      await keepAsking(api, clock, { count: 100, until: start + 60_000 });
      // A probe in the last ten seconds takes three of twenty requests of a slow limit, which is found before.
      const from = start + (rps < 10 ? 40_000 : 50_000);
      const rate = rateOf(api, from, from + 10_000);
      expect(within(rate, rps, 10), `${rate} of ${rps}`).toBe(true);
      // What finding it takes is a few requests; where a minute has few, ten minutes show the share.
      if (rps < 10) await keepAsking(api, clock, { count: 100, until: start + 600_000 });
      expect(countThrottled(api)).toBeLessThanOrEqual(api.arrivals.length / 100);
    },
  );

  test.each([5, 10, 50, 100])('of %i a second that halves: found again in ten seconds', async (rps) => {
    const clock = startVirtualClock();
    const halved = clock.now() + 60_000;
    const limit = (at: number) => (at < halved ? rps : rps / 2);
    const api = startBucketApi(clock, { rps: limit, burst: limit });
    await keepAsking(api, clock, { count: 100, until: halved + 20_000 });
    const rate = rateOf(api, halved + 10_000, halved + 20_000);
    expect(within(rate, rps / 2, 10), `${rate} of ${rps / 2}`).toBe(true);
  });
});

describe('an API that fails is not hammered', () => {
  test('at most four attempts a request; retries at most a tenth of the requests and twenty, at any moment', async () => {
    const clock = startVirtualClock();
    const random = createRandom(seed);
    const kinds = [408, 500, 502, 503, 504];
    const respond = () => (random() < 0.2 ? refused(kinds[Math.floor(random() * kinds.length)]!) : undefined);
    const api = simulateApi(clock, { random, respond, limits: { das: { rps: 40, burst: 10 } } });
    await keepAsking(api, clock, { count: 50, until: clock.now() + 120_000 });
    expect(api.arrivals.length).toBeGreaterThan(1000);
    expect(Math.max(...api.attempts.map(({ attempt }) => attempt))).toBeLessThanOrEqual(maxAttempts);
    const sent = [...api.attempts].sort((a, b) => (a.at < b.at ? -1 : 1));
    let [firsts, retries] = [0, 0];
    for (const { attempt } of sent) {
      if (attempt === 1) firsts += 1;
      else retries += 1;
      // Two of one millisecond may have left in either order.
      expect(retries).toBeLessThanOrEqual((firsts + 5) / 10 + 20);
    }
  });

  test.each(['from the start', 'in the middle', 'that refuses connections'])(
    'an outage %s costs at most a tenth more than no outage',
    async (when) => {
      const clock = startVirtualClock();
      const needed = 1000;
      const from = when === 'in the middle' ? Math.floor(needed * createRandom(seed)()) : 1;
      const respond = ({ nth }: { nth: number }) => {
        if (nth >= from && when === 'that refuses connections')
          throw new HttpFailure('unreachable', 'no connection', 0);
        return nth >= from ? refused(503) : undefined;
      };
      const limits = { das: { rps: 50, burst: 50 } };
      const api = simulateApi(clock, { random: createRandom(seed), respond, limits });
      // A client that would go on whatever it is told: each worker has its share of the requests.
      await keepAsking(api, clock, { count: 50, until: clock.now() + 300_000, most: needed });
      expect(api.attempts.length).toBeLessThanOrEqual(needed * 1.1);
      expect(api.attempts.length).toBeGreaterThanOrEqual(from);
    },
  );

  test.each([
    ['from the start: every request fails within seconds', 0, 8, { failed: 8, withinMs: 3_000 }],
    ['after an answer: none fails, they wait for it', 1, 8, { failed: 0, withinMs: 35_000 }],
    ['with more in flight than the retry budget has', 1, 100, { failed: 0, withinMs: 40_000 }],
  ])('a restart of 20 s that refuses connections, %s', async (_, before, asked, { failed, withinMs }) => {
    const clock = startVirtualClock();
    const start = clock.now();
    const { client } = simulateApi(clock, {
      random: createRandom(seed),
      limits: { das: { rps: 50, burst: 50 } },
      respond({ at }) {
        if (at >= start + 1000 && at < start + 21_000)
          throw new HttpFailure('unreachable', 'no connection', 0);
        return undefined;
      },
    });
    const ends: { ok: boolean; at: number }[] = [];
    const ask = (): Promise<unknown> => client.send(operation(), {}, readJson);
    for (let n = 0; n < before; n += 1) void ask();
    await clock.pass(1000);
    for (let n = 0; n < asked; n += 1)
      void ask().then(
        () => ends.push({ ok: true, at: clock.now() }),
        () => ends.push({ ok: false, at: clock.now() }),
      );
    await clock.pass(60_000);
    expect(ends).toHaveLength(asked);
    expect(ends.filter(({ ok }) => !ok)).toHaveLength(failed);
    expect(Math.max(...ends.map(({ at }) => at)) - start - 1000).toBeLessThanOrEqual(withinMs);
  });
});

test('a server that refuses connections only in the last attempt: that request fails, and the others wait', async () => {
  const clock = startVirtualClock();
  let asked = 0;
  const { client } = simulateApi(clock, {
    random: createRandom(seed),
    respond() {
      asked += 1;
      if (asked === 5) throw new HttpFailure('unreachable', 'no connection', 0);
      return asked > 1 && asked < 5 ? refused(503) : undefined;
    },
  });
  const ask = () => client.send(operation(), {}, readJson).catch((error) => error);
  const ends = [ask()];
  await clock.pass(1000);
  ends.push(ask());
  await clock.pass(10_000);
  ends.push(ask());
  await clock.pass(60_000);
  const [first, restarting, next] = await Promise.all(ends);
  expect([first.attempts, next.attempts]).toEqual([1, 1]);
  expect(restarting).toMatchObject({ kind: 'server', serverMessage: 'no connection', attempts: 4 });
});

describe('Retry-After', () => {
  const workers = 50;

  test.each([
    ['seconds', () => '3', 3000],
    ['a date', (at: number) => new Date(at + 5000).toUTCString(), 4000],
  ])(
    'in %s: nothing of the pool is sent before, and 50 workers do not return together',
    async (_, header, ms) => {
      const clock = startVirtualClock();
      const turnedAwayAt = clock.now() + 10_000;
      let turnedAway: number | null = null;
      const api = simulateApi(clock, {
        random: createRandom(seed),
        limits: { das: { rps: 400, burst: 400, concurrency: 60 } },
        respond({ at }) {
          if (at < turnedAwayAt || (turnedAway !== null && at > turnedAway + 20)) return undefined;
          turnedAway ??= at;
          return refused(429, header(at));
        },
      });
      await keepAsking(api, clock, { count: workers, until: turnedAwayAt + 15_000 });
      const heardAt = turnedAway! + 100;
      const after = api.arrivals.filter(({ sent }) => sent > heardAt);
      expect(Math.min(...after.map(({ sent }) => sent))).toBeGreaterThanOrEqual(turnedAway! + ms);
      const returns = new Map<string, number>();
      for (const { body, sent } of after) {
        const worker = /"worker":\d+/.exec(body)![0];
        returns.set(worker, Math.min(sent, returns.get(worker) ?? sent));
      }
      expect(returns.size).toBe(workers);
      expect(mostWithin([...returns.values()], 100)).toBeLessThanOrEqual(workers / 10);
    },
  );
});

test('what waited for a probe goes on at the rate allowed, not at once', async () => {
  const clock = startVirtualClock();
  const startedAt = clock.now();
  const respond = ({ at }: { at: number }) => (at < startedAt + 20_000 ? refused(500) : undefined);
  const limits = { das: { rps: 10, burst: 1 } };
  const api = simulateApi(clock, { random: createRandom(seed), respond, limits });
  await keepAsking(api, clock, { count: 50, until: startedAt + 60_000 });
  const answered = api.arrivals.filter(({ status }) => status === 200).map(({ sent }) => sent);
  expect(answered.length, 'the probe was answered').toBeGreaterThan(100);
  expect(
    mostWithin(
      api.arrivals.map(({ sent }) => sent),
      1000,
    ),
  ).toBeLessThanOrEqual(11);
});
