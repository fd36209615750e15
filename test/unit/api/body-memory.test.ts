import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { readApiKey } from '../../../src/api/api-key.ts';
import { createHttp } from '../../../src/api/http.ts';
import { createBodyMemory } from '../../../src/api/http-body.ts';
import { canary } from '../../support/api-client.ts';
import { startServer } from '../../support/http-server.ts';

/** Bodies that enter a room one after the other, and what each was told. */
function enterAll(maxBytes: number, count: number) {
  const memory = createBodyMemory(maxBytes);
  return Array.from({ length: count }, () => {
    const body = new PassThrough().resume();
    const told: boolean[] = [];
    const place = memory.reserve(body, (waits) => told.push(waits));
    return { ...place, release: () => place.release(), body, told };
  });
}

test('bodies that pass the room wait, but for the oldest; they go on when there is room', () => {
  const [first, second, third] = enterAll(100, 3) as [Entered, Entered, Entered];
  first.grow(40);
  second.grow(60);
  expect([first, second, third].map(({ body }) => body.isPaused())).toEqual([false, false, false]);
  third.grow(1);
  expect([first, second, third].map(({ body }) => body.isPaused())).toEqual([false, true, true]);
  first.grow(200);
  first.received();
  expect(second.body.isPaused(), 'a page that waits to be kept will make room').toBe(true);
  first.release();
  expect([second, third].map(({ body }) => body.isPaused())).toEqual([false, false]);
  expect([first, second, third].map(({ told }) => told)).toEqual([[], [true, false], [true, false]]);
});

test('one that is larger than the room is received all the same, also when others broke off', () => {
  const [first, second] = enterAll(10, 2) as [Entered, Entered];
  first.grow(5);
  second.grow(20);
  expect([first, second].map(({ body }) => body.isPaused())).toEqual([false, true]);
  first.release();
  expect(second.body.isPaused()).toBe(false);
  second.grow(1000);
  second.received();
  second.release();
  second.release();
  expect(first.told).toEqual([]);
});

type Entered = ReturnType<typeof enterAll>[number];

test('a body waits until pages before it are kept, and its deadline stands still meanwhile', async () => {
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
