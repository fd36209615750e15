import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startServer } from '../../support/http-server.ts';
import { echoesOf } from '../../support/key-echoes.ts';
import { runProcess } from '../../support/program.ts';
import { makeProject, type Project, writeFiles } from '../../support/project.ts';
import { expectFailure } from '../crash/failure.ts';

/** What a server may send to do harm, against the program as users run it. */

const MB = 1024 * 1024;

interface Asked {
  id: string;
  params: { limit?: number; cursor?: string };
}

/** A server that answers as the test says; gone when the test ends. */
async function startHostile(
  answer: (asked: Asked, response: ServerResponse) => void | Promise<void>,
): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const { url } = await startServer(async ({ body }, response) => {
    asked.push(JSON.parse(body || '{}') as Asked);
    await answer(asked.at(-1)!, response);
  });
  return { url, asked };
}

/** Writes peak memory (KB) and CPU time (µs) of the program to stderr as it ends: other programs disturb neither. */
const writeUsage = `data:text/javascript,${encodeURIComponent(
  `process.on('exit', () => {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
    process._rawDebug('usage ' + maxRSS + ' ' + (userCPUTime + systemCPUTime));
  });`,
)}`;

/** Runs the program. @returns besides how it ended: the peak of its memory in bytes, and its CPU time */
async function run(place: Project, url: string, ...args: string[]) {
  const env = { LEDGERLAKE_RPC_URL: url, LEDGERLAKE_API_KEY: key, NODE_OPTIONS: `--import=${writeUsage}` };
  const ended = await runProcess(args, { cwd: place.root, env });
  const [line = '', kilobytes, microseconds] = /usage (\d+) (\d+)\n/.exec(ended.stderr) ?? [];
  const stderr = ended.stderr.replace(line, '');
  return { ...ended, stderr, peak: Number(kilobytes) * 1024, cpuMs: Number(microseconds) / 1000 };
}

const key = 'hostile-4f7a-91';
const callOne = ['call', 'getAsset', '{"id":"11111111111111111111111111111111"}'] as const;

/** What one small answer takes: the program's own share of memory and time. */
async function measureSmall(place: Project) {
  const { url } = await startHostile(({ id }, response) => {
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
  });
  const ended = await run(place, url, ...callOne);
  expect(ended.code, ended.stderr).toBe(0);
  return ended;
}

/** Waits until more can be written, or nobody listens any more; leaves no listener behind. */
async function drained(response: ServerResponse): Promise<void> {
  const done = new AbortController();
  const events = ['drain', 'close'].map((event) => once(response, event, { signal: done.signal }));
  await Promise.race(events).finally(() => done.abort());
}

/** So many zeros, packed: a megabyte for a gigabyte. */
function packZeros(bytes: number): Buffer {
  return gzipSync(Buffer.alloc(bytes), { level: 9 });
}

test.each<[string, (response: ServerResponse) => void]>([
  [
    'a gzip bomb of 1 GB',
    (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      // Members one after another are one stream.
      const member = packZeros(128 * MB);
      for (let n = 0; n < 8; n += 1) response.write(member);
      response.end();
    },
  ],
  [
    'a page of 100 MB',
    async (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const chunk = Buffer.alloc(MB, ' ');
      for (let n = 0; n < 100 && !response.destroyed; n += 1)
        if (!response.write(chunk)) await drained(response);
      response.end();
    },
  ],
])('%s: refused within a second of CPU, with less than 100 MB', async (_, send) => {
  const place = await makeProject();
  const small = await measureSmall(place);
  const { url, asked } = await startHostile((_asked, response) => send(response));
  const ended = await run(place, url, ...callOne);
  expectFailure(ended, 1, /getAsset at .*: too big .* more than 67108864 bytes/);
  expect(asked, 'it is not asked for again').toHaveLength(1);
  expect((ended.peak - small.peak) / MB).toBeLessThan(100);
  expect(ended.cpuMs - small.cpuMs).toBeLessThan(1000);
});

test.each([
  ['percent signs', '%41', 20e6],
  ['JSON escapes', '\\u0041', 10e6],
  ['backslashes', '\\', 60e6],
  ['backslashes in pairs', '\\\\x', 20e6],
])(
  'a 400 of 60 MB of %s behind the key: reported in seconds of CPU, with little memory',
  async (_, unit, times) => {
    const place = await makeProject();
    const small = await measureSmall(place);
    // The key is escaped, too, or it would be found before any escape is read.
    const echo = echoesOf(key)['every character percent-encoded'];
    const body = gzipSync(
      Buffer.concat([Buffer.from(`no: ${echo} `), Buffer.alloc(unit.length * times, unit)]),
    );
    const { url } = await startHostile((_asked, response) => {
      response.writeHead(400, { 'content-encoding': 'gzip' }).end(body);
    });
    const ended = await run(place, url, ...callOne);
    // What may be the first part of a key where the text was cut is not told: of nothing but backslashes, all.
    expectFailure(ended, 1, unit === '\\' ? /HTTP 400\n/ : /getAsset at .*no: \[key\]/);
    expect((ended.peak - small.peak) / MB).toBeLessThan(350);
    expect(ended.cpuMs - small.cpuMs).toBeLessThan(10_000);
  },
);

test('a list whose page would be 100 MB comes in halves', async () => {
  const place = await makeProject();
  const filler = 'x'.repeat(100_000);
  const idOf = (n: number) => `${'1'.repeat(28)}${String(1000 + n).replaceAll('0', 'z')}`;
  const { url, asked } = await startHostile(
    async ({ id, params: { limit = 1000, cursor = '0' } }, response) => {
      const from = Number(cursor);
      const to = Math.min(1000, from + limit);
      const next = to > from ? `,"cursor":"${to}"` : '';
      response.write(`{"jsonrpc":"2.0","id":"${id}","result":{"last_indexed_slot":5${next},"items":[`);
      for (let n = from; n < to && !response.destroyed; n += 1) {
        const record = JSON.stringify({ id: idOf(n), filler });
        if (!response.write(`${n > from ? ',' : ''}${record}`)) await drained(response);
      }
      response.end(']}}');
    },
  );
  await writeFiles(place.root, {
    'jobs/list.yaml': `
describe: A list of large records
method: getAssetsByGroup
params: { groupKey: collection, groupValue: v }
`,
  });
  const ended = await run(place, url, 'crawl');
  expect(ended.code, ended.stderr).toBe(0);
  expect(asked.map(({ params }) => params.limit)).toEqual([1000, 500, 500, 500, 500]);
  const landing = join(place.data, 'landing');
  const files = (await readdir(landing)).filter((name) => /^\d+\.ndjson$/.test(name)).sort();
  const ids: string[] = [];
  for (const name of files)
    for (const [, id] of (await readFile(join(landing, name), 'latin1')).matchAll(/"id":"([^"]+)"/g))
      ids.push(id!);
  expect(ids).toEqual(Array.from({ length: 1000 }, (_, n) => idOf(n)));
  expect(ended.peak / MB).toBeLessThan(512);
});

test('redirects lead nowhere: neither request nor key follows', async () => {
  const place = await makeProject();
  const elsewhere = await startHostile((_, response) => void response.end('{}'));
  const statuses = [301, 302, 303, 307, 308];
  const { url, asked } = await startHostile((_, response) => {
    response.writeHead(statuses[asked.length % statuses.length]!, { location: `${elsewhere.url}/` });
    response.end();
  });
  for (let times = 0; times < 2; times += 1)
    expectFailure(await run(place, url, ...callOne), 1, /getAsset at .*: server \(HTTP 30\d, 4 attempts\)/);
  expect([asked.length, elsewhere.asked.length]).toEqual([8, 0]);
});

test.each(['headers', 'body', 'packed body'])('%s that drip: the deadline ends it', async (part) => {
  const place = await makeProject();
  await writeFiles(place.root, { 'ledgerlake.yaml': 'api: {timeout_s: 0.3}\n' });
  const packed = packZeros(MB);
  const { url, asked } = await startHostile((_, response) => {
    const socket = response.socket!;
    const encoding = part === 'packed body' ? 'content-encoding: gzip\r\n' : '';
    socket.write(
      `HTTP/1.1 200 OK\r\n${part === 'headers' ? 'x-a: ' : `${encoding}content-length: 99999\r\n\r\n`}`,
    );
    let sent = 0;
    const timer = setInterval(() => {
      socket.write(part === 'packed body' ? packed.subarray(sent, sent + 1) : ' ');
      sent += 1;
    }, 20);
    socket.on('close', () => clearInterval(timer));
  });
  const ended = await run(place, url, ...callOne);
  expectFailure(ended, 1, /getAsset at .*: slow \(4 attempts\): no complete answer in 300 ms/);
  expect(asked).toHaveLength(4);
});
