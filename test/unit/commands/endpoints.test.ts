import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Context } from '../../../src/commands/context.ts';
import { type Endpoints, openEndpoints } from '../../../src/commands/endpoints.ts';
import { readConfig } from '../../../src/config/config.ts';
import { dataFolder } from '../../../src/data-folder.ts';

let root: string;
let said: string[];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'ledgerlake-endpoints-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  said = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0);
});

afterEach(() => vi.restoreAllMocks());

async function contextOf(env: NodeJS.ProcessEnv): Promise<Context> {
  const config = await readConfig({ env, cwd: root, sample: Object.keys(env).length === 0 });
  const tell = (line: string) => void said.push(line);
  return { config, folder: dataFolder(join(root, 'data')), tell } as unknown as Context;
}

async function askSlot({ endpoints }: Endpoints): Promise<number> {
  const body = {
    jsonrpc: '2.0',
    id: '1',
    method: 'getAssetsByGroup',
    params: { groupKey: 'collection', groupValue: 'none' },
  };
  const answer = await fetch(`${endpoints.rpc}/?api-key=sandbox`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return ((await answer.json()) as { result: { last_indexed_slot: number } }).result.last_indexed_slot;
}

test('without URLs the sandbox answers, says so once, and never goes back in slots', async () => {
  const context = await contextOf({});
  const first = await openEndpoints(context);
  expect(first.sandbox).toBe(true);
  expect(first.key?.isSet).toBe(true);
  expect(said).toEqual([expect.stringContaining('SAMPLE DATA')]);
  const before = await askSlot(first);
  await first.close();

  const second = await openEndpoints(context);
  const between = await askSlot(second);
  expect(between).toBeGreaterThan(before);
  // Killed: it never says how far it came.
  const third = await openEndpoints(context);
  expect(await askSlot(third)).toBeGreaterThan(between);
  await second.close();
  await third.close();
});

test('a damaged slot file is no reason to stop', async () => {
  const context = await contextOf({});
  const first = await openEndpoints(context);
  await first.close();
  await writeFile(join(context.folder.root, 'sandbox.json'), '{"slot":9007199254740991');
  const second = await openEndpoints(context);
  expect(await askSlot(second)).toBeGreaterThan(300_000_000);
  await second.close();
});

test('keepSlot: false writes nothing', async () => {
  const context = await contextOf({});
  const endpoints = await openEndpoints(context, { keepSlot: false });
  await endpoints.close();
  expect(await readdir(root)).toEqual([]);
});

test('configured URLs are handed on, and nothing is served or said', async () => {
  const context = await contextOf({
    LEDGERLAKE_RPC_URL: 'https://rpc.example.com',
    LEDGERLAKE_WALLET_URL: 'https://wallet.example.com',
    LEDGERLAKE_API_KEY: 'a-key',
  });
  const endpoints = await openEndpoints(context);
  expect({ ...endpoints, close: null, key: endpoints.key.isSet }).toEqual({
    key: false,
    endpoints: { rpc: 'https://rpc.example.com', wallet: 'https://wallet.example.com' },
    sandbox: false,
    close: null,
  });
  expect(said).toEqual([]);
  await endpoints.close();
});
