import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import type { SignatureItem } from '../../../src/sandbox/world-signatures.ts';
import { call, walk } from './sandbox-client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ assets: 100, owners: 10 });
});
afterAll(() => sandbox.close());

async function readFeed(limit: number): Promise<{ items: SignatureItem[]; counts: number[] }> {
  const items: SignatureItem[] = [];
  const counts: number[] = [];
  await walk(sandbox, 'getLatestCompressionSignatures', { limit }, (result) => {
    items.push(...result.value.items);
    counts.push(result.value.items.length);
  });
  return { items, counts };
}

test('pages give the whole feed, newest first, also where they cut a shared slot', async () => {
  const truth = [...sandbox.world.truth().signatures()];
  const slots = truth.map((item) => item.slot);
  expect(slots).toEqual([...slots].sort((a, b) => b - a));
  expect(new Set(slots).size).toBeLessThan(slots.length / 2);
  expect((await readFeed(333)).items).toEqual(truth);
  expect((await readFeed(1000)).items).toEqual(truth);
});

test('the cursor is null when the page is not full; an exactly full last page gives an empty one', async () => {
  expect((await readFeed(999)).counts).toEqual([999, 999, 2]);
  expect((await readFeed(1000)).counts).toEqual([1000, 1000, 0]);
});

test('a cursor stays where it is when newer ones arrive', async () => {
  const truth = [...sandbox.world.truth().signatures()];
  const first = await call(sandbox, 'getLatestCompressionSignatures', { limit: 100 });
  sandbox.tick(2);
  const { cursor } = first.result.value;
  const second = await call(sandbox, 'getLatestCompressionSignatures', { limit: 100, cursor });
  expect(second.result.value.items).toEqual(truth.slice(100, 200));
  const head = await call(sandbox, 'getLatestCompressionSignatures', { limit: 41 });
  expect(head.result.value.items.at(-1)).toEqual(truth[0]);
  expect(head.result.context.slot).toBe(sandbox.world.slot);
  expect(head.result.value.items[0].slot).toBeLessThanOrEqual(sandbox.world.slot);
});

test('a limit of 0 gives nothing', async () => {
  const { result } = await call(sandbox, 'getLatestCompressionSignatures', { limit: 0 });
  expect(result.value).toEqual({ items: [], cursor: null });
});
