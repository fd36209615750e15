import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeBase58 } from '../../../src/sandbox/base58.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import { call, callText, walk } from './sandbox-client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ assets: 4000, owners: 300 });
});
afterAll(() => sandbox.close());

const ids = (result: { items: { id: string }[] }) => result.items.map((item) => item.id);
const inGroup = (groupValue: string | undefined, more: object = {}) => ({
  groupKey: 'collection',
  groupValue,
  ...more,
});
const bytesOf = (id: string) => Buffer.from(decodeBase58(id, 32) as Uint8Array);
const descending = (a: string, b: string) => Buffer.compare(bytesOf(b), bytesOf(a));

describe('walking a collection', () => {
  test('by cursor gives every living asset of the world once', async () => {
    const seen: string[] = [];
    for (const collection of sandbox.world.truth().collections()) {
      await walk(sandbox, 'getAssetsByGroup', inGroup(collection), (page) => seen.push(...ids(page)));
    }
    const living = [...sandbox.world.truth().assets()]
      .filter((asset) => !asset.burnt)
      .map((asset) => asset.id);
    expect(living.length).toBeGreaterThan(3900);
    expect(seen.length).toBe(living.length);
    expect(new Set(seen)).toEqual(new Set(living));
  });

  test('by cursor, by page and by after from below give the same, in the order of the bytes', async () => {
    const collection = sandbox.world.truth().collections()[0];
    const byCursor: string[] = [];
    await walk(sandbox, 'getAssetsByGroup', inGroup(collection, { limit: 300 }), (p) =>
      byCursor.push(...ids(p)),
    );
    const byPage: string[] = [];
    for (let page = 1; ; page += 1) {
      const { result } = await call(sandbox, 'getAssetsByGroup', inGroup(collection, { page, limit: 300 }));
      expect(result.page).toBe(page);
      expect(result).not.toHaveProperty('cursor');
      if (result.items.length === 0) break;
      byPage.push(...ids(result));
    }
    const upward: string[] = [];
    const sortBy = { sortBy: 'id', sortDirection: 'asc' };
    for (let after = '1'.repeat(32); ; after = upward.at(-1) as string) {
      const { result } = await call(sandbox, 'getAssetsByGroup', inGroup(collection, { after, sortBy }));
      if (result.items.length === 0) break;
      upward.push(...ids(result));
    }
    expect(byCursor).toEqual([...byCursor].sort(descending));
    expect(byPage).toEqual(byCursor);
    expect(upward.reverse()).toEqual(byCursor);
    expect(sandbox.world.truth().idsInCollection(collection as string)).toEqual(byCursor.reverse());
  });

  test('pages of one row leave nothing out either', async () => {
    const small = await startSandbox({ assets: 60, owners: 5, collections: 1 });
    const [collection] = small.world.truth().collections();
    for (let n = 0; n < 40; n += 1) small.tick();
    const seen: string[] = [];
    await walk(small, 'getAssetsByGroup', inGroup(collection, { limit: 1 }), (page) =>
      seen.push(...ids(page)),
    );
    await small.close();
    expect(seen.reverse()).toEqual(small.world.truth().idsInCollection(collection as string));
  });
});

test('burnt assets make pages short, and total counts the page', async () => {
  const collection = sandbox.world.truth().collections()[0];
  const { result } = await call(sandbox, 'getAssetsByGroup', inGroup(collection));
  expect(result.limit).toBe(1000);
  expect(result.items.length).toBeLessThan(1000);
  expect(result.items.length).toBeGreaterThan(950);
  expect(result.total).toBe(result.items.length);
  expect(result.last_indexed_slot).toBe(sandbox.world.slot);
});

test('the cursor is on a partial last page and missing on the empty one', async () => {
  const collection = sandbox.world.truth().collections().at(-1);
  const counts: number[] = [];
  await walk(sandbox, 'getAssetsByGroup', inGroup(collection), (page) => {
    counts.push(page.items.length);
    expect('cursor' in page).toBe(page.items.length > 0);
  });
  expect(counts.at(-1)).toBe(0);
  expect(counts.at(-2)).toBeLessThan(900);
});

test('after and before bound a range whatever the direction', async () => {
  const [collection] = sandbox.world.truth().collections();
  const all = sandbox.world.truth().idsInCollection(collection as string);
  const range = { after: all[10], before: all[15] };
  const down = await call(sandbox, 'getAssetsByGroup', inGroup(collection, range));
  expect(ids(down.result).reverse()).toEqual(all.slice(11, 15));
  const up = await call(
    sandbox,
    'getAssetsByGroup',
    inGroup(collection, { ...range, sortBy: { sortDirection: 'asc' } }),
  );
  expect(ids(up.result)).toEqual(all.slice(11, 15));
});

test('sorted by updated, newest first, what a tick changed comes first', async () => {
  const [collection] = sandbox.world.truth().collections();
  const before = sandbox.world.slot;
  sandbox.tick();
  const sortBy = { sortBy: 'updated', sortDirection: 'desc' };
  const { result } = await call(sandbox, 'getAssetsByGroup', inGroup(collection, { page: 1, sortBy }));
  const slots = ids(result).map((id) => sandbox.world.truth().asset(id)?.slot as number);
  expect(slots).toEqual([...slots].sort((a, b) => b - a));
  expect(slots[0]).toBeGreaterThan(before);
});

test('creators: all of theirs, or only what they verified', async () => {
  const [creator] = sandbox.world.truth().creators() as [string];
  for (const onlyVerified of [false, true]) {
    const seen: string[] = [];
    const params = { creatorAddress: creator, onlyVerified };
    await walk(sandbox, 'getAssetsByCreator', params, (page) => seen.push(...ids(page)));
    expect(seen.reverse()).toEqual(sandbox.world.truth().idsByCreator(creator, onlyVerified));
  }
});

test('list items leave out the content of a third, and say no slots; the batch has both', async () => {
  const [collection] = sandbox.world.truth().collections();
  const { result } = await call(sandbox, 'getAssetsByGroup', inGroup(collection));
  const hidden = result.items.filter((item: { content: object }) => Object.keys(item.content).length === 0);
  expect(hidden.length / result.items.length).toBeGreaterThan(0.25);
  expect(hidden.length / result.items.length).toBeLessThan(0.42);
  expect(JSON.stringify(result.items)).not.toContain('last_indexed_slot');
  const id = hidden[0].id as string;
  const batch = await call(sandbox, 'getAssetBatch', { ids: [id] });
  expect(batch.result[0]).toMatchObject({
    id,
    last_indexed_slot: sandbox.world.slot,
    content: { last_indexed_slot: sandbox.world.truth().asset(id)?.slot },
  });
});

test('records on the wire are the ones of the truth, byte for byte', async () => {
  const collection = sandbox.world.truth().collections()[1];
  const text = await callText(sandbox, 'getAssetsByGroup', inGroup(collection));
  const shown = sandbox.world
    .truth()
    .idsInCollection(collection as string)
    .slice(-50);
  const unspaced = text.replace(/\n */g, '');
  for (const id of shown) {
    const asset = sandbox.world.truth().asset(id);
    if (asset?.contentHiddenInLists === false) expect(unspaced).toContain(asset.record);
  }
});
