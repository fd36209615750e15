import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readApiKey } from '../../../src/api/api-key.ts';
import { createClient } from '../../../src/api/client.ts';
import {
  defaultKeyPlaces,
  describeKeyPlace,
  type KeyPlaces,
  parseKeyPlace,
} from '../../../src/api/key-place.ts';
import { scanFolder } from '../../chaos/faults/scan.ts';
import { canary, errorOf, operation, readJson } from '../../support/api-client.ts';
import { type HttpRequest, reply, replyResult, startServer } from '../../support/http-server.ts';
import { echoesOf } from '../../support/key-echoes.ts';
import { runProgram } from '../../support/program.ts';

const encoded = encodeURIComponent(canary);

/** What the server sees of a JSON-RPC request at `/base`, by `api.auth`. */
const modes: Record<string, (request: HttpRequest) => string | undefined> = {
  query: ({ url }) => (url === `/base/?api-key=${encoded}` ? canary : url),
  'query:token': ({ url }) => (url === `/base/?token=${encoded}` ? canary : url),
  'header:X-Token': ({ url, headers }) => (url === '/base/' ? String(headers['x-token']) : url),
  bearer: ({ url, headers }) => (url === '/base/' ? headers.authorization?.replace(/^Bearer /, '') : url),
  path: ({ url }) => (url === `/base/${encoded}` ? canary : url),
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledgerlake-keys-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test.each([
  ['query', 'query (api-key)'],
  ['query:api_key', 'query (api_key)'],
  ['header:X-API-Key', 'header x-api-key'],
  ['header:Authorization', 'header authorization'],
  ['bearer', 'bearer'],
  [' path ', 'path'],
])('api.auth %s is %s', (text, described) => expect(describeKeyPlace(parseKeyPlace(text)!)).toBe(described));

test.each([
  '',
  'Query',
  'header',
  'header:',
  'header:Host',
  'header:content-type',
  'header:a b',
  'query:a&b',
  'bearer:x',
  'path:x',
])('api.auth "%s" is nothing', (text) => expect(parseKeyPlace(text)).toBe(null));

test.each([
  ['/v2', '/', `/v2/${encoded}`],
  ['/v2/{key}', '/', `/v2/${encoded}`],
  ['/v2/{key}/das', '/', `/v2/${encoded}/das`],
  ['/v2/%7Bkey%7D', '/v1/wallet/x?limit=2', `/v2/${encoded}/v1/wallet/x?limit=2`],
  // Somebody has pasted the whole URL, and set the key too.
  [`/v2/${encoded}`, '/', `/v2/${encoded}`],
])('in the path: %s and %s', (base, path, wire) => {
  const key = readApiKey({ LEDGERLAKE_API_KEY: canary }, { places: everywhere('path') });
  expect(key.authorize('rpc', { base, path, headers: {} })).toEqual({ path: wire, headers: {} });
});

describe.each(Object.entries(modes))('the key as %s', (mode, keyOf) => {
  test('is where the provider wants it, and in no error and no log line whatever the answer repeats', async () => {
    const answers = Object.values(echoesOf(canary));
    const { url, requests } = await startServer((one, response) => {
      // Pages that repeat the key, or the whole URL of the request; then an error that does.
      const echo = answers[requests.length % answers.length]!;
      const text = `${echo} of ${one.url}`;
      if (requests.length <= 4) return replyResult(response, one, { items: [{ id: text }] });
      return reply(response, 400, { error: { code: -32602, message: text } });
    });
    const attempts: unknown[] = [];
    const { client } = clientAt(`${url}/base`, mode, attempts);
    for (let n = 0; n < answers.length; n += 1) {
      const error = await errorOf(client.send(operation(), {}, readJson));
      const shown = inspect([error, attempts, client], { depth: 9, showHidden: true });
      for (const text of listSecrets()) expect(shown).not.toContain(text);
    }
    expect(requests.length).toBeGreaterThan(answers.length);
    for (const one of requests) expect(keyOf(one)).toBe(canary);
    await client.close();
  });

  test('is in no error of a server that is not there, and does not follow a redirect', async () => {
    const elsewhere = await startServer((_, response) => reply(response, 200, {}));
    const { url } = await startServer((one, response) =>
      reply(response, 307, '', { location: `${elsewhere.url}${one.url}` }),
    );
    for (const at of [`${url}/base`, 'http://127.0.0.1:9/base']) {
      const { client } = clientAt(at, mode);
      const error = await errorOf(client.send(operation(), {}, readJson));
      for (const text of listSecrets())
        expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(text);
      await client.close();
    }
    expect(elsewhere.requests).toEqual([]);
  });

  // Whole runs, for those that are new on the wire.
  test.for(['bearer', 'path'].filter((one) => one === mode))(
    'comes from .env beside the config; a run prints and keeps it nowhere',
    async () => {
      const page = { context: { slot: 5 }, value: { items: [], cursor: null } };
      const { url, requests } = await startServer((one, response) => {
        const echo = `${canary} at ${one.url}`;
        if (requests.length === 1) return reply(response, 500, echo);
        // A page that repeats the key is refused, and asked for again.
        if (requests.length === 2)
          return replyResult(response, one, { ...page, value: { items: [{ signature: echo }] } });
        return requests.length === 3
          ? replyResult(response, one, page)
          : reply(response, 401, { error: echo });
      });
      writeFileSync(
        join(folder, 'ledgerlake.yaml'),
        `api:\n  rpc_url: ${url}/base\n  auth: { rpc: "${mode}" }\n  limits: { compression: { rps: 1000 } }\n`,
      );
      writeFileSync(join(folder, '.env'), `LEDGERLAKE_API_KEY='${canary}'\n`, { mode: 0o600 });
      mkdirSync(join(folder, 'jobs'));
      writeFileSync(
        join(folder, 'jobs/feed.yaml'),
        'describe: x\nmethod: getLatestCompressionSignatures\nsince: all\n',
      );
      const ended = [];
      for (const args of [['run'], ['call', 'getLatestCompressionSignatures'], ['status', '--json']])
        ended.push(await runProgram([...args, '--log-level', 'debug'], { cwd: folder }));
      expect(ended.map(({ code }) => code)).toEqual([0, 77, 0]);
      expect(requests.map(keyOf)).toEqual(requests.map(() => canary));
      expect(requests).toHaveLength(4);
      for (const { stdout, stderr } of ended)
        for (const text of listSecrets()) expect(stdout + stderr).not.toContain(text);
      rmSync(join(folder, '.env'));
      expect(await scanFolder(folder, listSecrets())).toEqual([]);
      expect((await scanFolder(folder, ['getLatestCompressionSignatures'])).join()).toContain(
        'requests.ndjson',
      );
    },
  );
});

function everywhere(mode: string): KeyPlaces {
  const place = parseKeyPlace(mode)!;
  return { ...defaultKeyPlaces, rpc: place, wallet: place, webhook: place };
}

function listSecrets(): string[] {
  return [...new Set([...Object.values(echoesOf(canary)), encoded].map((text) => text.replace(/.?=+$/, '')))];
}

function clientAt(url: string, mode: string, attempts: unknown[] = []) {
  let now = 0;
  const client = createClient(
    {
      ...{ endpoints: { rpc: url }, limits: {}, credits: {}, timeoutMs: 5_000, paramNames: {} },
      ...{ userAgent: 'test', unlimited: true, onAttempt: (entry: unknown) => attempts.push(entry) },
    },
    {
      key: readApiKey({ LEDGERLAKE_API_KEY: canary }, { places: everywhere(mode) }),
      timing: {
        now: () => now,
        random: () => 0,
        async sleep(ms) {
          now += ms;
        },
      },
    },
  );
  return { client };
}
