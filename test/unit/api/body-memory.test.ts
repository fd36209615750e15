import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { readApiKey } from '../../../src/api/api-key.ts';
import { createHttp } from '../../../src/api/http.ts';
import { createBodyMemory } from '../../../src/api/http-body.ts';
import { canary } from '../../support/api-client.ts';
import { startServer } from '../../support/http-server.ts';

/** Bodies that reserve memory one after the other, and the calls of `onWait` of each. */
function reserveAll(maxBytes: number, count: number) {
  const memory = createBodyMemory(maxBytes);
  return Array.from({ length: count }, () => {
    const body = new PassThrough().resume();
    const waits: boolean[] = [];
    const reservation = memory.reserve(body, (value) => waits.push(value));
    return { ...reservation, release: () => reservation.release(), body, waits };
  });
}

test('bodies above the limit wait, except the oldest; they continue when there is memory', () => {
  const [first, second, third] = reserveAll(100, 3) as [Reserved, Reserved, Reserved];
  first.grow(40);
  second.grow(60);
  expect([first, second, third].map(({ body }) => body.isPaused())).toEqual([false, false, false]);
  third.grow(1);
  expect([first, second, third].map(({ body }) => body.isPaused())).toEqual([false, true, true]);
  first.grow(200);
  first.received();
  expect(second.body.isPaused(), 'a page that waits to be stored will free memory').toBe(true);
  first.release();
  expect([second, third].map(({ body }) => body.isPaused())).toEqual([false, false]);
  expect([first, second, third].map(({ waits }) => waits)).toEqual([[], [true, false], [true, false]]);
});

test('a body above the limit is received all the same, also when others broke off', () => {
  const [first, second] = reserveAll(10, 2) as [Reserved, Reserved];
  first.grow(5);
  second.grow(20);
  expect([first, second].map(({ body }) => body.isPaused())).toEqual([false, true]);
  first.release();
  expect(second.body.isPaused()).toBe(false);
  second.grow(1000);
  second.received();
  second.release();
  second.release();
  expect(first.waits).toEqual([]);
});

type Reserved = ReturnType<typeof reserveAll>[number];

test('a body waits until pages before it are stored, and that time does not count for its deadline', async () => {
  const megabytes = 40;
  const text = Buffer.alloc(megabytes << 20, ' ');
  const { url } = await startServer((_, response) => void response.end(text));
  const http = createHttp({
    endpoints: { rpc: url },
    key: readApiKey({ LEDGERLAKE_API_KEY: canary }),
    timeoutMs: 3_000,
    connections: 4,
    userAgent: 'ledgerlake-test',
  });
  onTestFinished(() => http.close());
  const request = () => http.request({ transport: 'rpc', method: 'POST', path: '/', body: '{"id":"1"}' });
  const kept = [await request(), await request()];
  let arrived = false;
  const third = request().then((answer) => {
    arrived = true;
    return answer;
  });
  await sleep(3_500);
  expect(arrived, 'three are more than may be there at once').toBe(false);
  kept[0]!.release();
  expect((await third).body.length).toBe(text.length);
});
