import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ApiError, ApiStopped } from '../../../src/api/api-errors.ts';
import { realTiming } from '../../../src/api/timing.ts';
import { KeyRefused, StoppedEarly } from '../../../src/errors.ts';
import type { Pool } from '../../../src/operations/operation.ts';
import { canary, clientOf, errorOf, jumpingTime, operation, readJson } from '../../support/api-client.ts';
import { reply, replyResult, startServer } from '../../support/http-server.ts';

describe('a good answer', () => {
  test('JSON-RPC: the wire request, the page, the accounting', async () => {
    const { url, requests } = await startServer((request, response) =>
      replyResult(response, request, { id: 'a' }),
    );
    const { client, attempts } = clientOf(url);
    const answer = await client.send(operation(), { id: 'a' }, readJson);
    expect(answer).toEqual({
      page: { envelope: { jsonrpc: '2.0', id: requests[0]!.id, result: { id: 'a' } } },
      receivedAt: new Date('2026-01-01T00:00:00Z'),
      attempts: 1,
    });
    expect(requests[0]!.url).toBe(`/?api-key=${encodeURIComponent(canary)}`);
    expect(JSON.parse(requests[0]!.body)).toEqual({
      jsonrpc: '2.0',
      id: requests[0]!.id,
      method: 'getAsset',
      params: { id: 'a' },
    });
    expect(requests[0]!.headers).toMatchObject({
      'accept-encoding': 'gzip',
      'content-type': 'application/json',
      'user-agent': 'ledgerlake-test',
    });
    expect(attempts).toEqual([
      {
        at: '2026-01-01T00:00:00.000Z',
        operation: 'getAsset',
        pool: 'das',
        credits: 10,
        outcome: 'ok',
        status: 200,
        latencyMs: 0,
        bytes: expect.any(Number),
        attempt: 1,
      },
    ]);
  });

  test('gzip is decoded, and the wire bytes are counted', async () => {
    const text = JSON.stringify({ items: 'x'.repeat(100_000) });
    const packed = gzipSync(text);
    const { url } = await startServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
    });
    const { client, attempts } = clientOf(url);
    const { page } = await client.send(operation(), {}, (body) => ({ envelope: body.toString() }));
    expect(page.envelope).toBe(text);
    expect(attempts[0]!.bytes).toBe(packed.length);
  });

  test('every attempt has its own id, and names are changed at the wire', async () => {
    const { url, requests } = await startServer((request, response, nth) =>
      nth === 1 ? reply(response, 500, '') : replyResult(response, request),
    );
    const { client } = clientOf(url, { paramNames: { getTokenAccounts: { mint: 'mintAddress' } } });
    const answer = await client.send(
      operation({ name: 'getTokenAccounts' }),
      { mint: 'm', limit: 10 },
      readJson,
    );
    expect(answer.attempts).toBe(2);
    expect(requests[0]!.id).not.toBe(requests[1]!.id);
    expect(JSON.parse(requests[1]!.body).params).toEqual({ mintAddress: 'm', limit: 10 });
  });
});

/** Answers every request with this; counts them. */
async function always(status: number, body: unknown, headers: Record<string, string> = {}) {
  return startServer((_, response) => reply(response, status, body, headers));
}

/** The error of one request to a server, how often it was asked, and how long the client waited between. */
async function failureOf(server: { url: string; requests: readonly unknown[] }, asked = operation()) {
  const time = jumpingTime();
  const { client, attempts } = clientOf(server.url, {}, time);
  const error = await errorOf(client.send(asked, { wallet: 'w' }, readJson));
  return {
    error,
    asked: server.requests.length,
    outcomes: attempts.map((entry) => entry.outcome),
    slept: time.slept,
  };
}

const wallet = operation({
  name: 'walletIdentity',
  transport: 'wallet',
  rest: { method: 'GET', path: '/v1/wallet/{wallet}/identity' },
  pool: 'wallet',
  credits: 100,
});
const rpcError = (code: number, message: string) => ({ jsonrpc: '2.0', error: { code, message } });

describe('answers that end a request at once', () => {
  test('401: the key is refused, exit 77', async () => {
    const { error, asked } = await failureOf(await always(401, rpcError(-32401, 'invalid api key')));
    expect(error).toBeInstanceOf(KeyRefused);
    expect(error).toMatchObject({ exitCode: 77 });
    expect(asked).toBe(1);
  });

  test('403: forbidden', async () => {
    const { error, asked } = await failureOf(await always(403, { error: 'IP not allowed' }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      kind: 'forbidden',
      status: 403,
      serverMessage: 'IP not allowed',
      attempts: 1,
    });
    expect(asked).toBe(1);
  });

  test.each([
    [429, 'max usage reached'],
    [200, 'max usage reached'],
    [200, rpcError(-32429, 'max usage reached')],
  ])('%i %j: credits are gone, exit 69', async (status, body) => {
    const { error, asked, outcomes } = await failureOf(await always(status, body));
    expect(error).toBeInstanceOf(ApiStopped);
    expect(error).toMatchObject({ reason: 'credits_gone', exitCode: 69 });
    expect([asked, outcomes]).toEqual([1, ['credits_gone']]);
  });

  test('a JSON-RPC error without id, a 404 of a wallet, an answer too big', async () => {
    const rejected = await failureOf(await always(200, rpcError(-32602, 'Invalid params: page')));
    expect(rejected.error).toMatchObject({
      kind: 'rejected',
      code: -32602,
      serverMessage: 'Invalid params: page',
    });
    const nothing = await failureOf(await always(404, { error: 'Unknown' }), {
      ...wallet,
      mayBeUnknown: true,
    });
    expect(nothing.error).toMatchObject({ kind: 'no_data', operation: 'walletIdentity' });
    const big = await failureOf(await always(413, ''));
    expect(big.error).toMatchObject({ kind: 'too_big' });
    expect([rejected.asked, nothing.asked, big.asked]).toEqual([1, 1, 1]);
  });

  test('an error without an envelope, which the splitter takes for a record', async () => {
    const server = await always(200, { error: { code: -32602, message: 'bad' } });
    const { client } = clientOf(server.url);
    const swallowed = () => ({ envelope: null });
    expect(await errorOf(client.send(operation(), {}, swallowed))).toMatchObject({ kind: 'rejected' });
  });

  test("a bare record's own id is not taken for an echo", async () => {
    const server = await always(200, { id: 'asset' });
    const { client } = clientOf(server.url);
    expect((await client.send(operation(), {}, () => ({ envelope: null }))).attempts).toBe(1);
  });
});

describe('answers that are asked for again', () => {
  test.each([
    ['500', 500, ''],
    ['502 HTML', 502, '<html><title>Bad Gateway</title></html>'],
    ['200 HTML', 200, '<html><title>Welcome</title></html>'],
    ['cut JSON', 200, '{"jsonrpc":"2.0","result":{"ite'],
    ['empty', 200, ''],
    ['wrong id', 200, { jsonrpc: '2.0', id: 'somebody else', result: {} }],
    ['redirect', 302, ''],
    ['408', 408, ''],
  ])('%s: four attempts, then this request fails', async (_, status, body) => {
    const { error, asked, outcomes } = await failureOf(await always(status, body, { location: '/away' }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ kind: 'server', attempts: 4 });
    expect([asked, outcomes]).toEqual([4, Array(4).fill('server')]);
  });

  test('504 may pass once; no answer in time is tried four times: both are slow, and a list is asked for with less', async () => {
    const gateway = await failureOf(await always(504, '<html><title>Gateway Timeout</title></html>'));
    expect(gateway.error).toMatchObject({ name: 'ApiError', kind: 'slow', attempts: 2 });
    const { url } = await startServer(() => {});
    const { client } = clientOf(url, { timeoutMs: 40 });
    const error = await errorOf(client.send(operation(), {}, readJson));
    expect(error).toMatchObject({ name: 'ApiError', kind: 'slow', attempts: 4 });
  });

  test('where less can be asked for, a request that is too slow ends when its caller says so', async () => {
    const { url, requests } = await startServer(() => {});
    const { client } = clientOf(url, { timeoutMs: 40 });
    let limit = 1000;
    const asked: boolean[] = [];
    const givesUp = (isProbe: boolean) => asked.push(isProbe) === 2;
    const params = () => {
      limit -= 1;
      return { limit };
    };
    const error = await errorOf(client.send(operation(), params, readJson, { givesUp }));
    expect(error).toMatchObject({ name: 'ApiError', kind: 'slow', attempts: 2 });
    expect(asked).toEqual([false, false]);
    expect(
      requests.map(({ body }) => JSON.parse(body).params.limit),
      'each attempt asks anew',
    ).toEqual([999, 998]);
  });

  test('a probe that asks for less instead is followed by another; the API is not down', async () => {
    const { url, requests } = await startServer((request, response, nth) =>
      nth <= 21 ? reply(response, nth <= 20 ? 500 : 504, '') : replyResult(response, request),
    );
    const { client } = clientOf(url);
    for (let n = 0; n < 5; n += 1) await errorOf(client.send(operation(), {}, readJson));
    const givesUp = (isProbe: boolean) => isProbe;
    const tooMuch = await errorOf(client.send(operation(), {}, readJson, { givesUp }));
    expect(tooMuch).toMatchObject({ name: 'ApiError', kind: 'slow', attempts: 1 });
    expect((await client.send(operation(), {}, readJson)).attempts).toBe(1);
    expect(requests).toHaveLength(22);
  });

  test('one bad answer costs one retry', async () => {
    const { url } = await startServer((request, response, nth) =>
      nth === 1
        ? reply(response, 200, { jsonrpc: '2.0', id: 'x', result: {} })
        : replyResult(response, request),
    );
    const { client, attempts } = clientOf(url);
    expect((await client.send(operation(), {}, readJson)).attempts).toBe(2);
    expect(attempts.map(({ outcome, attempt }) => [outcome, attempt])).toEqual([
      ['server', 1],
      ['ok', 2],
    ]);
  });

  test('whatever read throws is a broken answer', async () => {
    const { url } = await startServer((request, response) => replyResult(response, request));
    const { client } = clientOf(url);
    let reads = 0;
    const answer = await client.send(operation(), {}, (body) => {
      reads += 1;
      if (reads < 3) throw new Error('malformed');
      return readJson(body);
    });
    expect(answer.attempts).toBe(3);
  });

  test('401 "try again later" is retried, and stops the run when it stays', async () => {
    const { error, asked } = await failureOf(await always(401, 'Please try again later'));
    expect(error).toMatchObject({ name: 'ApiStopped', reason: 'throttled', exitCode: 69 });
    expect(asked).toBe(4);
  });

  test('nobody listens: 69', async () => {
    const { error, outcomes } = await failureOf({ url: 'http://127.0.0.1:1', requests: [] });
    expect(error).toMatchObject({ reason: 'unreachable', exitCode: 69 });
    expect(outcomes).toEqual(Array(4).fill('unreachable'));
  });
});

describe('Retry-After', () => {
  test.each([
    ['2', 2_000],
    ['0', 0],
    ['-1', 0],
    ['junk', 0],
    ['Thu, 01 Jan 2026 00:00:09 GMT', 9_000],
  ])('%s: the next attempt waits %i ms at least', async (header, ms) => {
    const { url } = await startServer((request, response, nth) =>
      nth === 1 ? reply(response, 429, '', { 'retry-after': header }) : replyResult(response, request),
    );
    const time = jumpingTime();
    const { client } = clientOf(url, {}, time);
    const start = time.now();
    expect((await client.send(operation(), {}, readJson)).attempts).toBe(2);
    expect(time.now() - start).toBe(ms);
  });

  test('with a good answer it means nothing', async () => {
    const { url } = await startServer((request, response) => {
      const body = { jsonrpc: '2.0', id: request.id, result: {} };
      reply(response, 200, body, { 'retry-after': '600' });
    });
    const time = jumpingTime();
    const { client } = clientOf(url, {}, time);
    for (let n = 0; n < 3; n += 1) await client.send(operation(), {}, readJson);
    expect(time.slept).toEqual([]);
  });

  test('1e9 seconds are not waited for: 69', async () => {
    const { error, asked, slept } = await failureOf(await always(429, '', { 'retry-after': '1000000000' }));
    expect(error).toMatchObject({ reason: 'throttled', exitCode: 69 });
    expect([asked, slept]).toEqual([1, []]);
  });

  test('holds the whole pool', async () => {
    const arrivals: number[] = [];
    const time = jumpingTime();
    const { url } = await startServer((request, response, nth) => {
      arrivals.push(time.now());
      if (nth === 1) reply(response, 503, '', { 'retry-after': '5' });
      else replyResult(response, request);
    });
    const { client } = clientOf(url, { limits: { das: { concurrency: 1 } } }, time);
    await Promise.all([1, 2, 3].map(() => client.send(operation(), {}, readJson)));
    expect(arrivals.slice(1).every((at) => at >= arrivals[0]! + 5_000)).toBe(true);
  });
});

describe('down, or one bad page?', () => {
  test('after five requests in a row that fail for good, a probe half a minute later says that it is down', async () => {
    const server = await always(500, '');
    const time = jumpingTime();
    const { client } = clientOf(server.url, {}, time);
    const ask = async () => (await errorOf(client.send(operation(), {}, readJson))).name;
    const errors = [];
    for (let n = 0; n < 5; n += 1) errors.push(await ask());
    const openedAt = time.now();
    for (let n = 0; n < 2; n += 1) errors.push(await ask());
    const down = await errorOf(client.send(operation(), {}, readJson));
    expect(down).toMatchObject({ exitCode: 69, message: expect.stringMatching(/, the last with HTTP 500/) });
    errors.push(down.name);
    expect(errors).toEqual([...Array(5).fill('ApiError'), ...Array(3).fill('ApiStopped')]);
    expect(Math.floor((time.now() - openedAt) / 1000)).toBe(30);
    // 5 × 4 attempts (retries are within the budget of 10 % + 20), and the probe.
    expect(server.requests).toHaveLength(21);
    await errorOf(client.send(operation({ pool: 'proof' }), {}, readJson));
    expect(server.requests.length, 'another pool has its own breaker').toBeGreaterThan(21);
  });

  test('an answered probe lets the others go on, which waited for it without a request', async () => {
    const { url, requests } = await startServer((request, response, nth) =>
      nth <= 20 ? reply(response, 500, '') : replyResult(response, request),
    );
    const { client } = clientOf(url, { limits: { das: { concurrency: 8 } } });
    for (let n = 0; n < 5; n += 1) await errorOf(client.send(operation(), {}, readJson));
    const answers = await Promise.all([1, 2, 3, 4].map(() => client.send(operation(), {}, readJson)));
    expect([answers.map(({ attempts }) => attempts), requests.length]).toEqual([[1, 1, 1, 1], 24]);
  });

  test('a probe that a budget forbids is no answer: whoever waits is told of the budget', async () => {
    const server = await always(500, '');
    let left = 20;
    const takeAttempt = () => {
      left -= 1;
      if (left < 0) throw new StoppedEarly('--max-requests reached', 'Run again.');
    };
    const { client } = clientOf(server.url, { budget: { takeAttempt, giveBack() {} } });
    for (let n = 0; n < 5; n += 1) await errorOf(client.send(operation(), {}, readJson));
    const waiting = [1, 2, 3].map(() => errorOf(client.send(operation(), {}, readJson)));
    for (const error of await Promise.all(waiting)) expect(error.message).toBe('--max-requests reached');
    expect(server.requests).toHaveLength(20);
  });

  test('answers in between keep the run going', async () => {
    const { url } = await startServer((request, response) =>
      request.body.includes('bad') ? reply(response, 500, '') : replyResult(response, request),
    );
    const { client } = clientOf(url);
    for (let n = 0; n < 8; n += 1) {
      expect(await errorOf(client.send(operation(), { id: 'bad' }, readJson))).toBeInstanceOf(ApiError);
      await client.send(operation(), { id: 'good' }, readJson);
    }
  });

  test('retries stay within 10 % of first attempts + 20', async () => {
    const { url, requests } = await startServer((request, response, nth) =>
      request.body.includes('bad') || nth % 2 === 0
        ? reply(response, 500, '')
        : replyResult(response, request),
    );
    const { client } = clientOf(url);
    for (let n = 0; n < 60; n += 1) await client.send(operation(), {}, readJson).catch(() => {});
    expect(requests.length).toBeLessThanOrEqual(60 * 1.1 + 20);
  });
});

describe('budget, credits, signals', () => {
  test('every attempt asks the budget first; its error comes out as it is', async () => {
    const server = await always(500, '');
    const taken: number[] = [];
    const stopped = new StoppedEarly('--max-requests reached', 'Run again.');
    const takeAttempt = (credits: number) => {
      if (taken.length === 2) throw stopped;
      taken.push(credits);
    };
    const budget = { takeAttempt, giveBack() {} };
    const { client, attempts } = clientOf(server.url, { budget, credits: { getAsset: 7 } });
    expect(await errorOf(client.send(operation(), {}, readJson))).toBe(stopped);
    expect([taken, attempts.length, server.requests.length]).toEqual([[7, 7], 2, 2]);
  });

  test('a signal ends a request in flight, resumably, and the attempt is counted', async () => {
    const stop = new AbortController();
    const { url } = await startServer(() => stop.abort());
    const { client, attempts } = clientOf(url, { signal: stop.signal });
    expect(await errorOf(client.send(operation(), {}, readJson))).toMatchObject({ exitCode: 75 });
    expect(attempts).toMatchObject([{ outcome: 'aborted', status: null }]);
    expect(await errorOf(client.send(operation(), {}, readJson))).toMatchObject({ exitCode: 75 });
    expect(attempts).toHaveLength(1);
  });

  test('stopping ends waiting at once, and lets what is in flight arrive', async () => {
    const stopping = new AbortController();
    const reason = new StoppedEarly('SIGTERM', 'Run again.');
    const { url, requests } = await startServer((request, response) => {
      if (requests.length === 1) {
        reply(response, 429, '', { 'retry-after': '600' });
      } else {
        stopping.abort(reason);
        replyResult(response, request);
      }
    });
    const { client } = clientOf(
      url,
      { limits: { das: { concurrency: 1 } }, stopping: stopping.signal },
      realTiming,
    );
    const ask = (pool: Pool) =>
      client.send(operation({ pool }), {}, readJson).then(
        () => 'arrived',
        (error) => error,
      );
    const held = [ask('das'), ask('das')];
    while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await ask('proof')).toBe('arrived');
    expect(await Promise.all(held)).toEqual([reason, reason]);
    expect(await ask('proof')).toBe(reason);
    expect(requests).toHaveLength(2);
  });

  test('many requests on one signal are no leak', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    const { url } = await startServer((request, response) => replyResult(response, request));
    const { signal } = new AbortController();
    const { client } = clientOf(url, { signal, limits: { das: { concurrency: 30 } } });
    await Promise.all(Array.from({ length: 60 }, () => client.send(operation(), {}, readJson)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  });

  test("the caller's reason is what comes out", async () => {
    const reason = new StoppedEarly('SIGTERM', 'Run again.');
    const { url } = await startServer((request, response) => replyResult(response, request));
    const { client } = clientOf(url);
    const signal = AbortSignal.abort(reason);
    expect(await errorOf(client.send(operation(), {}, readJson, { signal }))).toBe(reason);
  });

  test('what a pool learnt is where the next run begins', async () => {
    const { url } = await startServer((request, response) => replyResult(response, request));
    const { client } = clientOf(url, { learntRates: { das: 37 } });
    await client.send(operation(), {}, readJson);
    await client.send(operation({ pool: 'fee' }), {}, readJson);
    expect(client.learntRates()).toEqual({ das: 37 });
  });
});

describe('the key stays inside', () => {
  const spellings = [canary, encodeURIComponent(canary), Buffer.from(canary).toString('base64')];
  const isFree = (value: unknown) => {
    const shown = inspect(value, { depth: 9, showHidden: true }) + JSON.stringify(value);
    return spellings.every((spelling) => !shown.includes(spelling));
  };

  test('wallet takes it as a header, never in the URL', async () => {
    const { url, requests } = await always(200, { address: 'w' });
    const { client } = clientOf(url);
    await client.send(wallet, { wallet: 'a/b' }, readJson);
    expect(requests[0]).toMatchObject({ method: 'GET', url: '/v1/wallet/a%2Fb/identity', body: '' });
    expect(requests[0]!.headers['x-api-key']).toBe(canary);
  });

  test.each([200, 401, 403, 429, 500])(
    'a server that repeats it with %i gets it into no error and no log',
    async (status) => {
      const server = await startServer(({ url, id }, response) =>
        reply(response, status, {
          jsonrpc: '2.0',
          id,
          error: { message: `no: ${url} ${canary}`, code: -32602 },
        }),
      );
      const { client, attempts } = clientOf(server.url);
      const error = await errorOf(client.send(operation(), {}, readJson));
      expect(isFree(error)).toBe(true);
      expect(isFree((error as ApiError).hint)).toBe(true);
      expect(isFree(attempts)).toBe(true);
      expect(isFree(client)).toBe(true);
    },
  );

  test('an answer that repeats it is refused as broken, and is never read', async () => {
    const { url } = await startServer(({ id }, response) =>
      reply(
        response,
        200,
        JSON.stringify({ jsonrpc: '2.0', id, result: { name: encodeURIComponent(canary) } }),
      ),
    );
    const { client } = clientOf(url);
    let reads = 0;
    const error = await errorOf(
      client.send(operation(), {}, (body) => {
        reads += 1;
        return readJson(body);
      }),
    );
    expect(error).toMatchObject({
      kind: 'server',
      serverMessage: 'the answer repeats the API key and was refused',
    });
    expect([reads, isFree(error)]).toEqual([0, true]);
  });

  test("the server's words are cut at 300 characters and cannot steer a terminal", async () => {
    const server = await always(400, `\u001b[2J\n${'x'.repeat(500)}`);
    const { error } = await failureOf(server);
    const { serverMessage } = error as ApiError;
    expect(serverMessage).toHaveLength(300);
    expect(serverMessage.startsWith('[2Jxxx')).toBe(false);
    expect(serverMessage).not.toContain('\u001b');
  });
});
