import { request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/server.ts';
import { call, callText, post } from './sandbox-client.ts';

const started: Sandbox[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((sandbox) => sandbox.close()));
});

async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ assets: 500, owners: 50, ...options });
  started.push(sandbox);
  return sandbox;
}

const ask = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 'x', method, params });
const feed = ask('getLatestCompressionSignatures', { limit: 1 });
const group = (sandbox: Sandbox, more: object = {}) => ({
  groupKey: 'collection',
  groupValue: sandbox.world.truth().collections()[0],
  ...more,
});

describe('the key', () => {
  test.each([null, '', 'wrong', 'sandbox '])('%j is refused with 401', async (key) => {
    const answer = await post(await start(), feed, key);
    expect(answer.status).toBe(401);
    expect(await answer.json()).toEqual({
      jsonrpc: '2.0',
      id: 'x',
      error: { code: -32401, message: 'invalid api key' },
    });
  });

  test('sandbox-forbidden is 403; a chosen key replaces the default one', async () => {
    const sandbox = await start({ apiKey: 'own' });
    expect((await post(sandbox, feed, 'sandbox-forbidden')).status).toBe(403);
    expect((await post(sandbox, feed, 'sandbox')).status).toBe(401);
    expect((await post(sandbox, feed, 'own')).status).toBe(200);
    expect(sandbox.requests.map((entry) => entry.status)).toEqual([403, 401, 200]);
  });
});

describe('what is refused', () => {
  test.each([
    ['getAssetsByGroup', { groupValue: 'x' }, -32602, 'missing parameter `groupKey`'],
    ['getAssetsByGroup', { groupKey: 'collection', groupValue: 1 }, -32602, '`groupValue` must be a string'],
    ['getAssetsByGroup', { groupKey: 'a', groupValue: 'b', Limit: 1 }, -32602, 'unknown parameter `Limit`'],
    ['getAssetsByGroup', { groupKey: 'a', groupValue: 'b', page: 0 }, -32602, '`page` starts at 1'],
    ['getAssetsByGroup', { groupKey: 'a', groupValue: 'b', page: '1' }, -32602, '`page` must be an integer'],
    ['getAssetsByGroup', { groupKey: 'a', groupValue: 'b', limit: 1001 }, -32602, 'above 1000'],
    ['getAssetsByGroup', { groupKey: 'a', groupValue: 'b', page: 1, cursor: '1' }, -32602, 'only one of'],
    ['getAssetsByGroup', { groupKey: 'a', groupValue: 'b', cursor: 'no key' }, -32602, '`cursor` is not'],
    ['getAssetsByGroup', { groupKey: 'a', groupValue: 'b', sortBy: { by: 1 } }, -32602, '`sortBy.by`'],
    [
      'getAssetsByGroup',
      { groupKey: 'a', groupValue: 'b', sortBy: { sortBy: 'updated' } },
      -32602,
      '`page` only',
    ],
    ['getAssetsByCreator', { creatorAddress: 'a', options: { showAll: true } }, -32602, '`options.showAll`'],
    ['getAssetBatch', { ids: 'one' }, -32602, '`ids` must be a list of strings'],
    ['getTokenAccounts', {}, -32602, 'one of `owner` and `mint`'],
    ['getTokenAccounts', { ownerAddress: 'a' }, -32602, 'unknown parameter `ownerAddress`'],
    ['getLatestCompressionSignatures', { cursor: '2' }, -32602, '`cursor` is not'],
    ['getLatestCompressionSignatures', [], -32602, '`params` must be an object'],
    ['getEverything', {}, -32601, 'getEverything'],
  ])('%s %j', async (method, params, code, message) => {
    const { error } = await call(await start(), method, params);
    expect(error).toEqual({ code, message: expect.stringContaining(message) });
  });

  test('no JSON, no JSON-RPC, other paths', async () => {
    const sandbox = await start();
    expect(await (await post(sandbox, '{"jsonrpc"')).json()).toMatchObject({
      id: null,
      error: { code: -32700 },
    });
    expect(await (await post(sandbox, [feed])).json()).toMatchObject({ error: { code: -32600 } });
    expect((await fetch(`${sandbox.url}/elsewhere?api-key=sandbox`)).status).toBe(404);
  });
});

test('the id is echoed, whatever it is', async () => {
  const sandbox = await start();
  for (const id of ['1', 'näme', 7, null]) {
    expect(((await (await post(sandbox, { ...feed, id })).json()) as { id: unknown }).id).toEqual(id);
  }
});

test('the same seed and the same requests give the same bytes; another seed others', async () => {
  const run = async (seed: number) => {
    const sandbox = await start({ seed });
    const texts: string[] = [];
    for (const ticks of [0, 2]) {
      sandbox.tick(ticks);
      texts.push(await callText(sandbox, 'getAssetsByGroup', group(sandbox)));
      texts.push(
        await callText(sandbox, 'getTokenAccounts', { owner: [...sandbox.world.truth().owners()][0] }),
      );
      texts.push(await callText(sandbox, 'getLatestCompressionSignatures', {}));
    }
    return texts.join('\n');
  };
  const [one, again, other] = [await run(1), await run(1), await run(2)];
  expect(again === one).toBe(true);
  expect(other === one).toBe(false);
});

test('the slot moves with every request, the content only with a tick', async () => {
  const sandbox = await start();
  const ids = [...sandbox.world.truth().assets()].map((asset) => asset.id);
  const read = async () => {
    const text = await callText(sandbox, 'getAssetBatch', { ids });
    const slot = Number(/"last_indexed_slot":(\d+)/.exec(text)?.[1]);
    return { slot, content: text.replaceAll(`"last_indexed_slot":${slot},`, '') };
  };
  const first = await read();
  const second = await read();
  expect([1, 2]).toContain(second.slot - first.slot);
  expect(second.content === first.content).toBe(true);
  const ticked = await fetch(`${sandbox.url}/_sandbox/tick`, { method: 'POST', body: '{"n":2}' });
  expect(await ticked.json()).toEqual({ ticks: 2, slot: sandbox.world.slot });
  const third = await read();
  expect(third.slot).toBeGreaterThan(second.slot + 2);
  expect(third.content === first.content).toBe(false);
  const log = (await (await fetch(`${sandbox.url}/_sandbox/requests`)).json()) as object[];
  expect(log).toEqual(sandbox.requests);
  expect(log.length).toBe(3);
});

test('above the rate: 429, Retry-After in seconds, and each pool for itself', async () => {
  const sandbox = await start({ rps: 0.5, burst: 2 });
  const statuses: number[] = [];
  for (let n = 0; n < 3; n += 1) statuses.push((await post(sandbox, feed)).status);
  expect(statuses).toEqual([200, 200, 429]);
  const refused = await post(sandbox, feed);
  expect(refused.headers.get('retry-after')).toBe('2');
  expect(await refused.json()).toMatchObject({ id: 'x', error: { code: -32429 } });
  expect((await post(sandbox, ask('getAssetBatch', { ids: [] }))).status).toBe(200);
});

test('each of the six pools has its own limit', async () => {
  const sandbox = await start({ rps: 0.5, burst: 1 });
  const rpc = (method: string, params: unknown) => async () =>
    (await post(sandbox, ask(method, params))).status;
  const rest = (path: string, method: string) => async () =>
    (await fetch(`${sandbox.url}${path}?api-key=sandbox`, { method })).status;
  const pools = [
    rpc('getAssetBatch', { ids: [] }),
    rpc('getCompressedAccount', { hash: '1'.repeat(32) }),
    rpc('getValidityProof', { hashes: [] }),
    rpc('getPriorityFeeEstimate', [{ accountKeys: [] }]),
    rest(`/v1/wallet/${'1'.repeat(32)}/transfers`, 'GET'),
    rest('/v0/webhooks/none', 'PATCH'),
  ];
  const statuses: number[][] = [];
  for (const asked of pools) statuses.push([await asked(), await asked()]);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 400].map((first) => [first, 429]));
});

test('faults come in a seeded order, each in its own way', async () => {
  const run = async () => {
    const sandbox = await start({ faultRate: 0.5, seed: 3 });
    const seen: string[] = [];
    for (let n = 0; n < 80; n += 1) {
      const outcome = await post(sandbox, ask('getAssetsByGroup', group(sandbox, { limit: 5 }))).then(
        async (answer) => {
          const text = await answer.text();
          const whole = /\}$/.test(text) ? 'whole' : text.startsWith('<') ? 'html' : 'other';
          return `${answer.status} ${whole}`;
        },
        () => 'reset',
      );
      seen.push(outcome);
    }
    return seen;
  };
  const seen = await run();
  expect(new Set(seen)).toEqual(
    new Set(['200 whole', '200 other', '500 whole', '502 html', '503 other', 'reset']),
  );
  expect(await run()).toEqual(seen);
});

test('pageOnly: no cursor ever, and one that is sent is ignored', async () => {
  const sandbox = await start({ pageOnly: true });
  const first = await call(sandbox, 'getAssetsByGroup', group(sandbox, { limit: 5 }));
  const cursor = first.result.items.at(-1).id;
  const again = await call(sandbox, 'getAssetsByGroup', group(sandbox, { limit: 5, cursor }));
  expect(first.result).not.toHaveProperty('cursor');
  expect(again.result.items).toEqual(first.result.items);
  const second = await call(sandbox, 'getAssetsByGroup', group(sandbox, { limit: 5, page: 2 }));
  expect(second.result.items).not.toEqual(first.result.items);
});

test('gzip only for those who accept it, and not for small answers', async () => {
  const sandbox = await start();
  const encodingOf = (limit: number, accept: string) =>
    new Promise((resolve, reject) => {
      const asked = request(
        `${sandbox.url}/?api-key=sandbox`,
        { method: 'POST', headers: { 'accept-encoding': accept } },
        (answer) => {
          answer.resume();
          resolve(answer.headers['content-encoding']);
        },
      );
      asked.on('error', reject).end(JSON.stringify(ask('getAssetsByGroup', group(sandbox, { limit }))));
    });
  expect(await encodingOf(50, 'gzip, deflate')).toBe('gzip');
  expect(await encodingOf(50, 'identity')).toBeUndefined();
  expect(await encodingOf(0, 'gzip')).toBeUndefined();
});

test('latencyMs holds every answer back', async () => {
  const sandbox = await start({ latencyMs: 40 });
  const from = performance.now();
  await post(sandbox, feed);
  expect(performance.now() - from).toBeGreaterThanOrEqual(39);
});
