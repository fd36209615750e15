import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { reply, startServer } from '../../support/http-server.ts';
import { runProgram, startProgram } from '../../support/program.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'ledgerlake-call-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
});

const group = JSON.stringify({ groupKey: 'collection', groupValue: 'g', limit: 2 });

test('the result is printed byte for byte, and the request is what was asked', async () => {
  const result = '{ "items":[ {"supply":18446744073709551615, "x":1.50,\n "u":"\\u00e9"}]\t,"cursor":null}';
  const { url, requests } = await startServer((request, response) =>
    reply(response, 200, `{"jsonrpc":"2.0", "result": ${result} ,"id":"${request.id}"}`),
  );
  const env = { LEDGERLAKE_RPC_URL: url, LEDGERLAKE_API_KEY: 'canary-key-17' };
  const { code, stdout, stderr } = await runProgram(['call', 'getAssetsByGroup', group], { cwd: root, env });
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${result}\n`, stderr: '' });
  expect(JSON.parse(requests[0]!.body)).toMatchObject({
    method: 'getAssetsByGroup',
    params: JSON.parse(group),
  });
  expect(await readdir(root)).toEqual([]);
});

test.each(['undici', 'fetch', 'UNDICI,websocket', '*'])(
  'NODE_DEBUG=%s does not show the key',
  async (words) => {
    const { url } = await startServer(({ id }, response) =>
      reply(response, 200, { jsonrpc: '2.0', id, error: { code: -32602, message: 'no such group' } }),
    );
    const env = { LEDGERLAKE_RPC_URL: url, LEDGERLAKE_API_KEY: 'canary-key-17', NODE_DEBUG: words };
    const { code, stderr } = await runProgram(['call', 'getAssetsByGroup', group], { cwd: root, env });
    expect(code).toBe(1);
    expect(stderr).toContain('no such group');
    expect(stderr).not.toContain('canary-key');
    // What it is to be silent about: the variable reaches the program.
    if (words === '*') expect(stderr).toMatch(/^NET /m);
  },
);

test('a JSON-RPC error goes to stderr, exit 1, and the data folder counts the credits', async () => {
  const { url } = await startServer(({ id }, response) =>
    reply(response, 200, { jsonrpc: '2.0', id, error: { code: -32602, message: 'no such group' } }),
  );
  await mkdir(join(root, 'data'));
  const env = { LEDGERLAKE_RPC_URL: url, LEDGERLAKE_API_KEY: 'canary-key-17' };
  const { code, stdout, stderr } = await runProgram(['call', 'getAssetsByGroup', group], { cwd: root, env });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('-32602');
  expect(stderr).toContain('no such group');
  const [line] = (await readFile(join(root, 'data', 'requests.ndjson'), 'utf8')).trim().split('\n');
  expect(JSON.parse(line!)).toMatchObject({ run: 'call', operation: 'getAssetsByGroup', credits: 10 });
});

test('--sample: the sandbox answers, says so, and leaves no file', async () => {
  const { code, stdout, stderr } = await runProgram(
    ['call', '--sample', 'getLatestCompressionSignatures', '{"limit": 3}'],
    {
      cwd: root,
    },
  );
  expect(code).toBe(0);
  expect(stderr).toContain('SAMPLE DATA');
  expect(JSON.parse(stdout).value.items).toHaveLength(3);
  expect(await readdir(root)).toEqual([]);
});

test('every problem of the parameters is reported before anything is sent', async () => {
  const { url, requests } = await startServer((_, response) => reply(response, 500, {}));
  const env = { LEDGERLAKE_RPC_URL: url, LEDGERLAKE_API_KEY: 'canary-key-17' };
  const call = async (...args: string[]) => {
    const { code, stdout, stderr } = await runProgram(['call', ...args], { cwd: root, env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    return stderr;
  };
  const many = await call('getAssetsByGroup', '{"groupKey": 1, "groupvalue": "g", "limit": 5000}');
  for (const part of ['groupKey: expected text', 'did you mean "groupValue"?', 'at most 1000']) {
    expect(many).toContain(part);
  }
  expect(await call('getTokenAccounts', '{"limit": 1}')).toContain('needs at least one of mint, owner');
  expect(await call('getAssetByGroup')).toContain('did you mean "getAssetsByGroup"?');
  expect(await call('getAssetsByGroup', '{"groupKey":')).toContain('are not JSON');
  expect(await call('getAssetsByGroup', '[]')).toContain('not a JSON object');
  expect(requests).toEqual([]);
});

test('a sandbox of its own serves the pipeline until it is stopped', async () => {
  const started = startProgram(
    ['sandbox', '--port', '0', '--assets', '500', '--owners', '50', '--slot', '400000000'],
    {
      cwd: root,
    },
  );
  const text = await started.stdoutWith('LEDGERLAKE_API_KEY');
  const env = Object.fromEntries(
    [...text.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]),
  );
  const args = ['call', 'getAssetsByGroup', group];
  const { code, stdout, stderr } = await runProgram(args, { cwd: root, env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout).last_indexed_slot).toBeGreaterThan(400_000_000);
  const port = new URL(env.LEDGERLAKE_RPC_URL!).port;
  expect(await runProgram(['sandbox', '--port', port], { cwd: root })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`port ${port} is in use`),
  });
  started.child.kill('SIGTERM');
  expect(await started.ended).toMatchObject({ code: 0, stderr: '' });
});

test('invalid sandbox options are refused', async () => {
  for (const args of [
    ['--port', 'x'],
    ['--fault-rate', '2'],
    ['--rps', '-1'],
    ['--assets', '1.5'],
  ]) {
    const { code, stdout } = await runProgram(['sandbox', ...args], { cwd: root });
    expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
  }
});
