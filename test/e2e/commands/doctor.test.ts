import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { canary } from '../../support/api-client.ts';
import { type Respond, reply, replyResult, startServer } from '../../support/http-server.ts';
import { echoesOf } from '../../support/key-echoes.ts';
import { runProgram } from '../../support/program.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledgerlake-doctor-'));
  mkdirSync(join(folder, 'jobs'));
  writeFileSync(
    join(folder, 'jobs/feed.yaml'),
    'describe: x\nmethod: getLatestCompressionSignatures\nsince: 1d\n',
  );
});
afterEach(() => rmSync(folder, { recursive: true }));

const fast = ['das', 'compression', 'proof', 'fee', 'wallet'].map((pool) => `${pool}: { rps: 10000 }`);

/** `doctor` against a server that answers so. */
async function doctorAt(respond: Respond, args: string[] = [], config = '') {
  const { url, requests } = await startServer(respond);
  writeFileSync(join(folder, 'ledgerlake.yaml'), `api:\n  limits: { ${fast.join(', ')} }\n${config}`);
  const env = { LEDGERLAKE_RPC_URL: url, LEDGERLAKE_WALLET_URL: url, LEDGERLAKE_API_KEY: canary };
  const ended = await runProgram(['doctor', ...args], { cwd: folder, env });
  for (const echo of Object.values(echoesOf(canary))) expect(ended.stdout + ended.stderr).not.toContain(echo);
  return { ...ended, requests, url };
}

const healthy: Respond = (request, response) => {
  const headers = {
    'x-ratelimit-limit': '50',
    'ratelimit-remaining': `49 of ${canary}`,
    date: new Date().toUTCString(),
  };
  if (request.method === 'GET') return reply(response, 404, { error: 'Not found', code: 404 }, headers);
  return reply(response, 200, { jsonrpc: '2.0', id: request.id, result: null }, headers);
};

test('one request an interface: what the provider answered, how fast, by which clock, and its limits', async () => {
  const { code, stdout, stderr, requests, url } = await doctorAt(healthy);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(requests.map(({ method, body }) => [method, body && JSON.parse(body).method])).toEqual([
    ['POST', 'getAsset'],
    ['GET', ''],
  ]);
  const lines = stdout.split('\n').map((line) => line.replace(/\d+ ms/, 'n ms').replace(/ +/g, ' '));
  expect(lines.slice(0, 4)).toEqual([
    expect.stringMatching(/^program ledgerlake \d.*, Node \d/),
    'data there is no data folder data yet: ledgerlake run makes it',
    'config ledgerlake.yaml',
    'key from LEDGERLAKE_API_KEY; sent to rpc as query (api-key), wallet as header x-api-key',
  ]);
  expect(lines).toContain('limits compression 10000 requests/s');
  expect(lines).toContain('next run at least 1 requests, 10 credits (no monthly budget): ledgerlake plan');
  expect(stdout).toMatch(/^disk +[\d,]+ [GM]B free, what the next run needs is not known yet$/m);
  const finding = new RegExp(
    `^rpc ${url}: getAsset answered in n ms, clocks differ by [01]\\.\\d s, x-ratelimit-limit: 50, ratelimit-remaining: 49 of \\[key\\]$`,
  );
  expect(lines.some((line) => finding.test(line))).toBe(true);
  expect(lines.at(-2)).toBe('nothing is wrong');
});

test('--offline asks nothing', async () => {
  const { code, requests } = await doctorAt(healthy, ['--offline']);
  expect(code).toBe(0);
  expect(requests).toEqual([]);
});

test('a key that is refused: 77, where it is from and how it was sent', async () => {
  const { code, stdout } = await doctorAt((_, response) =>
    reply(response, 401, { error: `no such key ${canary}` }),
  );
  expect(code).toBe(77);
  expect(stdout).toMatch(
    /^api: rpc at http:\/\/127\.0\.0\.1:\d+: the key is refused: no such key \[key\] \(it is sent as query \(api-key\); .*\)\n {2}export LEDGERLAKE_API_KEY=…$/m,
  );
});

test('with the key in the path, a path that is not there is a wrong key first of all', async () => {
  const { code, stdout } = await doctorAt(
    (request, response) => reply(response, 404, `nothing at ${request.url}`),
    [],
    '  auth: { rpc: path }\n',
  );
  expect(code).toBe(77);
  expect(stdout).toContain(
    'nothing is at this path: nothing at /[key] (a wrong key, or a wrong path of the URL, looks so)\n  export LEDGERLAKE_API_KEY=…\n',
  );
});

test.each<[string, Respond, number, string]>([
  ['no connection', (_, response) => void response.destroy(), 69, 'it failed (server)'],
  [
    'a failing API',
    (_, response) => reply(response, 502, '<title>Bad</title>'),
    69,
    'it failed (server (HTTP 502)',
  ],
  ['a throttle', (_, response) => reply(response, 429, 'slow down'), 0, 'too many requests: slow down'],
  [
    'a method that is not there',
    (request, response) =>
      reply(response, 200, {
        jsonrpc: '2.0',
        id: request.id,
        error: { code: -32601, message: 'Method not found' },
      }),
    0,
    'getAsset is not there: Method not found\n  ledgerlake doctor --methods',
  ],
])('%s is a finding', async (_, respond, exitCode, finding) => {
  const { code, stdout } = await doctorAt(respond);
  expect(code).toBe(exitCode);
  expect(stdout).toContain(finding);
});

test('nobody there, a clock that is wrong, and a budget that does not last', async () => {
  const ended = await runProgram(['doctor'], {
    cwd: folder,
    env: { LEDGERLAKE_RPC_URL: 'http://127.0.0.1:9', LEDGERLAKE_API_KEY: canary },
  });
  expect(ended.code).toBe(69);
  expect(ended.stdout).toContain('no connection');
  expect(ended.stdout).toContain('  curl -I http://127.0.0.1:9\n');
  const date = new Date(Date.now() - 3_600_000).toUTCString();
  const late = await doctorAt(
    (request, response) => reply(response, 200, { jsonrpc: '2.0', id: request.id, result: null }, { date }),
    [],
    '  monthly_credits: 5\n',
  );
  expect(late.stdout).toMatch(
    /^clock: this clock is 1 h 0 min ahead of http.*\n {2}sudo timedatectl set-ntp true$/m,
  );
  expect(late.stdout).toContain(
    'credits: the next run needs 10 credits, and this month has 5 left\n  ledgerlake plan',
  );
});

test('jobs with a mistake, and none at all', async () => {
  writeFileSync(join(folder, 'jobs/feed.yaml'), 'describe: x\nmethod: getLatest\n');
  const wrong = await doctorAt(healthy);
  expect(wrong.code).toBe(2);
  expect(wrong.stdout).toMatch(/^jobs: jobs\/feed\.yaml:2: method: [\s\S]*ledgerlake jobs check/m);
  rmSync(join(folder, 'jobs'), { recursive: true });
  expect(await doctorAt(healthy)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('there are none in jobs: ledgerlake init . creates some'),
  });
});

test('--methods: the credits first, then each method once, and what came of it', async () => {
  mkdirSync(join(folder, 'data'));
  const { code, stdout, stderr, requests } = await doctorAt(
    (one, response) => {
      const method = one.body === '' ? '' : JSON.parse(one.body).method;
      const refuse = (status: number, code: number, message: string) =>
        reply(response, status, { jsonrpc: '2.0', id: one.id, error: { code, message } });
      if (one.url.includes('/wallet/')) return reply(response, 404, '404 page not found');
      if (method === 'getAssetsByGroup')
        return replyResult(response, one, { items: [], total: 0, cursor: null });
      if (method === 'getAsset') return refuse(200, -32000, 'Asset Not Found');
      if (method === 'getAssetBatch') return refuse(403, -32403, 'not in your plan');
      if (method === 'getTokenAccounts') return refuse(200, -32602, 'unknown field owner');
      return refuse(200, -32601, 'Method not found');
    },
    ['--methods'],
  );
  expect(code).toBe(0);
  expect(stderr).toBe('ledgerlake: 23 methods are called once, which costs 851 credits\n');
  expect(requests).toHaveLength(23);
  const rowOf = (name: string) => stdout.split('\n').find((line) => line.startsWith(`${name} `)) ?? '';
  expect(rowOf('getAssetsByGroup')).toMatch(/ yes /);
  expect(rowOf('getAsset')).toMatch(/ yes, nothing under this id /);
  expect(rowOf('getAssetBatch')).toMatch(/ not in the plan .*not in your plan$/);
  expect(rowOf('getTokenAccounts')).toMatch(/ there, but refuses these parameters .*unknown field owner$/);
  expect(rowOf('getValidityProof')).toMatch(/ not there .*Method not found$/);
  expect(rowOf('walletBalances')).toMatch(/ not there .*404 page not found$/);
  const noted = readFileSync(join(folder, 'data/requests.ndjson'), 'utf8').trim().split('\n');
  expect(noted.map((line) => JSON.parse(line).credits).reduce((a, b) => a + b)).toBe(851);
  const poor = await doctorAt(healthy, ['--methods'], '  monthly_credits: 1000\n');
  expect(poor.code).toBe(2);
  expect(poor.stderr).toContain('costs 851 credits, and this month has 149 left');
});

test('--methods without a URL has nobody to ask', async () => {
  const { code, stderr } = await runProgram(['doctor', '--methods'], { cwd: folder });
  expect(code).toBe(2);
  expect(stderr).toContain('no URL is set, so there is no API to ask');
});
