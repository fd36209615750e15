import { expect, test } from 'vitest';
import { KeyRefused } from '../../../src/errors.ts';
import { clientOf, operation, readJson } from '../../support/api-client.ts';
import { reply, replyResult, startServer } from '../../support/http-server.ts';
import { ledgerAt, listJobs } from '../../support/list-ledger.ts';
import { openInstallation } from '../../support/nights.ts';
import { RawReply } from '../../support/scripted-api.ts';

const das = operation();
const wallet = operation({
  ...{ name: 'walletIdentity', transport: 'wallet', pool: 'wallet' },
  rest: { method: 'GET', path: '/v1/wallet/{wallet}/identity' },
});
const fee = operation({ name: 'getPriorityFeeEstimate', pool: 'fee' });
const fifty = Array.from({ length: 50 }, (_, n) => n);

test('a wrong key costs one request of each interface, however many wait', async () => {
  const { url, requests } = await startServer((_, response) =>
    reply(response, 401, { error: 'invalid api key' }),
  );
  const { client } = clientOf(url);
  const sent = fifty.map((n) =>
    n % 2 === 0
      ? client.send(n % 4 === 0 ? das : fee, {}, readJson)
      : client.send(wallet, { wallet: 'w' }, readJson),
  );
  const ended = await Promise.allSettled(sent);
  expect(ended.every((one) => one.status === 'rejected' && one.reason instanceof KeyRefused)).toBe(true);
  expect(requests.map(({ url }) => url.includes('/v1/wallet')).sort()).toEqual([false, true]);
  // What comes later knows it, too.
  await expect(client.send(das, {}, readJson)).rejects.toBeInstanceOf(KeyRefused);
  expect(requests.length).toBe(2);
});

test.each([
  ['an answer', 200],
  ['an error', 400],
  ['a failure', 503],
])('the others go as soon as the first one has %s', async (_, status) => {
  let inFlight = 0;
  const together: number[] = [];
  const { url, requests } = await startServer(async (request, response) => {
    inFlight += 1;
    together.push(inFlight);
    await new Promise((resolve) => setTimeout(resolve, 20));
    inFlight -= 1;
    if (together.length === 1 && status !== 200)
      reply(response, status, { error: { code: -32602, message: 'no' } });
    else replyResult(response, request, { id: 'a' });
  });
  const { client } = clientOf(url);
  const ended = await Promise.allSettled(fifty.map(() => client.send(das, {}, readJson)));
  expect(ended.filter((one) => one.status === 'rejected').length).toBe(status === 400 ? 1 : 0);
  expect(requests.length).toBe(status === 503 ? 51 : 50);
  expect(together.slice(0, 2), 'alone, then together').toEqual([1, 1]);
  expect(Math.max(...together)).toBeGreaterThan(2);
});

test('where nobody listens, one request tries', async () => {
  const { client, attempts } = clientOf('http://127.0.0.1:9');
  const ended = await Promise.allSettled(fifty.map(() => client.send(das, {}, readJson)));
  expect(ended.every((one) => one.status === 'rejected')).toBe(true);
  expect(attempts.length).toBe(4);
});

test('a request that waits for the first one ends with the signal', async () => {
  const stop = new AbortController();
  const { url } = await startServer(() => undefined);
  const { client } = clientOf(url, { stopping: stop.signal, timeoutMs: 500 });
  const first = client.send(das, {}, readJson).catch((error) => error);
  const waiting = client.send(das, {}, readJson);
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('interrupted');
  await first;
});

test('a run with a wrong key ends with 77 after one request of each interface', async () => {
  const place = await openInstallation(listJobs());
  const { code, calls } = await place.night(() => new RawReply('{"error":"invalid api key"}', 401));
  expect(code).toBe(77);
  expect(calls.length).toBeLessThanOrEqual(2);
  expect((await place.night(ledgerAt(1000))).code).toBe(0);
});
