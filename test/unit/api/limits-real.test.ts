import { expect, test } from 'vitest';
import { realTiming } from '../../../src/api/timing.ts';
import { bar, showFigure } from '../../bars.ts';
import { release } from '../../levels.ts';
import { clientOf, operation, readJson } from '../../support/api-client.ts';
import { reply, replyResult, startServer } from '../../support/http-server.ts';
import { strictBucket } from '../../support/simulated-api.ts';

/** What limits.test.ts shows on a virtual clock, for minutes of real ones: timers are late, and answers take as long as they take. */

const minutes = bar('minutes');

/** Keeps 100 workers asking a server with a bucket of one second, for so long. */
async function askFor(seconds: number, limitAt: (at: number) => number, knownRps?: number) {
  const start = performance.now();
  const clock = () => performance.now() - start;
  const takes = strictBucket(limitAt, limitAt);
  const answers: { at: number; taken: boolean }[] = [];
  const { url } = await startServer((request, response) => {
    const at = clock();
    const taken = takes(at);
    answers.push({ at, taken });
    if (taken) setTimeout(() => replyResult(response, request), 80);
    else reply(response, 429, '');
  });
  const limits = knownRps === undefined ? {} : { das: { rps: knownRps, burst: knownRps } };
  const { client } = clientOf(url, { limits, unlimited: false }, realTiming);
  const worker = async () => {
    while (clock() < seconds * 1000) await client.send(operation(), {}, readJson).catch(() => undefined);
  };
  await Promise.all(Array.from({ length: 100 }, worker));
  const good = answers.filter(({ taken }) => taken);
  return {
    throttled: answers.length - good.length,
    sent: answers.length,
    rate: (from: number, to: number) =>
      good.filter(({ at }) => at >= from * 1000 && at < to * 1000).length / (to - from),
  };
}

test('a server on this machine may be a proxy: an unknown limit is found from two requests a second on', async () => {
  const enough = new AbortController();
  const startedAt = performance.now();
  const { url } = await startServer((request, response, nth) => {
    if (nth === 5) enough.abort();
    replyResult(response, request);
  });
  const { client } = clientOf(url, { unlimited: false, signal: enough.signal }, realTiming);
  const send = () => client.send(operation(), {}, readJson).catch(() => undefined);
  await Promise.all(Array.from({ length: 100 }, send));
  // Unlimited, it would be asked a hundred times at once, and the run settle below what is allowed.
  expect(performance.now() - startedAt).toBeGreaterThan(500);
});

release('a known limit is used, an unknown one found, a halved one found again', async () => {
  const known = await askFor(60, () => 50, 50);
  expect(known.throttled).toBe(0);
  expect(known.rate(0, 60) / 50).toBeGreaterThanOrEqual(0.98);
  // Without a known burst nothing makes up for a machine that stalls: a rate at which it is rarely late.
  const rps = 20;
  const unknown = await askFor(60, () => rps);
  expect(Math.abs(unknown.rate(50, 60) / rps - 1)).toBeLessThanOrEqual(0.1);
  expect(unknown.throttled / unknown.sent).toBeLessThanOrEqual(0.01);
  const halved = await askFor(60, (at) => (at < 40_000 ? rps : rps / 2));
  expect(Math.abs(halved.rate(50, 60) / (rps / 2) - 1)).toBeLessThanOrEqual(0.1);
  const found = `${unknown.rate(50, 60)} of ${rps} a second found, ${halved.rate(50, 60)} of ${rps / 2} found again`;
  const used = `${Math.round(20 * known.rate(0, 60)) / 10} % of a known limit used`;
  showFigure('minutes', { done: minutes, note: `${used}, ${found}` });
});
