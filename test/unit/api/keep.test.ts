import { expect, test } from 'vitest';
import { clientOf, errorOf, operation, readJson } from '../../support/api-client.ts';
import { replyResult, startServer } from '../../support/http-server.ts';

test('a request gives up its turn only when its page is kept', async () => {
  const { url, requests } = await startServer((request, response) => replyResult(response, request));
  const { client } = clientOf(url, { limits: { das: { concurrency: 1 } } });
  let kept = () => {};
  const wait = new Promise<void>((resolve) => {
    kept = resolve;
  });
  const pages: unknown[] = [];
  const first = client.send(operation(), { n: 1 }, readJson, {
    store: async (page) => {
      pages.push(page.envelope);
      await wait;
    },
  });
  const second = client.send(operation(), { n: 2 }, readJson);
  while (pages.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(requests.length).toBe(1);
  kept();
  await Promise.all([first, second]);
  expect(requests.length).toBe(2);
});

test('what cannot be kept is not asked for again, and its error is the caller’s', async () => {
  const { url, requests } = await startServer((request, response) => replyResult(response, request));
  const { client } = clientOf(url);
  const full = new Error('ENOSPC');
  const store = () => Promise.reject(full);
  expect(await errorOf(client.send(operation(), {}, readJson, { store }))).toBe(full);
  expect(requests.length).toBe(1);
});
