import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readApiKey } from '../../../src/api/api-key.ts';
import { createHttp, type Http, type HttpOptions } from '../../../src/api/http.ts';
import type { HttpFailure } from '../../../src/api/http-body.ts';
import { UsageError } from '../../../src/errors.ts';
import { canary, errorOf } from '../../support/api-client.ts';
import { reply, startServer } from '../../support/http-server.ts';

function httpOf(url: string, overrides: Partial<HttpOptions> = {}): Http {
  const http = createHttp({
    endpoints: { rpc: url, wallet: url, webhook: url },
    key: readApiKey({ LEDGERLAKE_API_KEY: canary }),
    timeoutMs: 5_000,
    connections: 4,
    userAgent: 'ledgerlake-test',
    ...overrides,
  });
  onTestFinished(() => http.close());
  return http;
}

const post = { transport: 'rpc', method: 'POST', path: '/', body: '{"id":"1"}' } as const;
const failed = async (http: Http) => (await errorOf(http.request(post))) as HttpFailure;

describe('endpoints', () => {
  test.each([
    ['http://api.example.com', 'is not https'],
    ['ftp://127.0.0.1', 'is not https'],
    ['no url', 'is not a URL'],
    [`https://api.example.com/?api-key=${canary}`, 'carries a query or credentials'],
    [`https://user:${encodeURIComponent(canary)}@api.example.com`, 'carries a query or credentials'],
  ])('%s is refused without being shown', (url, why) => {
    let error: unknown;
    try {
      httpOf(url);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).message).toContain(why);
    expect(inspect(error)).not.toContain('canary');
  });

  test('https anywhere, http on loopback; only the origin is shown', () => {
    expect(httpOf('https://api.example.com/v1/').origin('rpc')).toBe('https://api.example.com');
    expect(httpOf('http://localhost:8080').origin('rpc')).toBe('http://localhost:8080');
    expect(httpOf('http://[::1]:8080/x').origin('wallet')).toBe('http://[::1]:8080');
    expect(() => httpOf('https://a.example', { endpoints: {} }).origin('rpc')).toThrow(UsageError);
  });

  test('a base path is kept', async () => {
    const { url, requests } = await startServer((_, response) => reply(response, 200, '{}'));
    await httpOf(`${url}/base/`).request({ ...post, path: '/v1/x?y=1' });
    expect(requests[0]!.url).toBe(`/base/v1/x?y=1&api-key=${encodeURIComponent(canary)}`);
  });
});

describe('connections', () => {
  test('are kept alive and used again', async () => {
    const ports = new Set<string>();
    const { url } = await startServer((_, response) => {
      ports.add(String(response.socket?.remotePort));
      reply(response, 200, '{}');
    });
    const http = httpOf(url);
    for (let n = 0; n < 5; n += 1) await http.request(post);
    // Two, when undici has not yet marked the first free in the moment its answer ends.
    expect(ports.size).toBeLessThanOrEqual(2);
  });
});

describe('answers', () => {
  test('any status is an answer; Retry-After is passed on', async () => {
    const { url } = await startServer((_, response) => reply(response, 429, 'slow', { 'retry-after': '7' }));
    expect(await httpOf(url).request(post)).toEqual({
      status: 429,
      retryAfter: '7',
      date: null,
      age: null,
      body: Buffer.from('slow'),
      bytes: 4,
      release: expect.any(Function),
    });
  });

  test('a redirect is not followed', async () => {
    const { url, requests } = await startServer((_, response) =>
      reply(response, 307, '', { location: '/elsewhere' }),
    );
    expect(await httpOf(url).request(post)).toMatchObject({ status: 307, retryAfter: null });
    expect(requests).toHaveLength(1);
  });

  test('large gzip answers arrive whole', async () => {
    const body = Buffer.from(JSON.stringify(Array.from({ length: 200_000 }, (_, n) => n)));
    const packed = gzipSync(body);
    const { url } = await startServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
    });
    const answer = await httpOf(url).request(post);
    expect(answer.body.equals(body)).toBe(true);
    expect(answer.bytes).toBe(packed.length);
  });
});

describe('no answer', () => {
  test('a gzip bomb is stopped while it unpacks', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024));
    const { url } = await startServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    });
    const before = process.memoryUsage().rss;
    const error = await failed(httpOf(url, { maxBytes: 8 * 1024 * 1024 }));
    expect(error).toMatchObject({ name: 'HttpFailure', reason: 'too_big' });
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  test('a plain answer beyond the cap is stopped too', async () => {
    const { url } = await startServer((_, response) => reply(response, 200, 'x'.repeat(100_000)));
    expect(await failed(httpOf(url, { maxBytes: 50_000 }))).toMatchObject({ reason: 'too_big' });
  });

  test.each([
    ['headers that never come', false],
    ['a body that drips', true],
  ])('the deadline covers %s', async (_, drips) => {
    const { url } = await startServer((_, response) => {
      if (!drips) return;
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(timer));
    });
    const start = performance.now();
    expect(await failed(httpOf(url, { timeoutMs: 150 }))).toMatchObject({
      reason: 'timeout',
      message: 'no complete answer in 150 ms',
    });
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  test('nobody listens', async () => {
    expect(await failed(httpOf('http://127.0.0.1:1'))).toMatchObject({
      reason: 'unreachable',
      message: 'no connection (ECONNREFUSED)',
    });
  });

  test('the connection breaks: before, in and after the headers', async () => {
    const cuts = ['', 'HTTP/1.1 200 OK\r\ncontent-le', 'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"a":'];
    cuts.push('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"a":');
    for (const cut of cuts) {
      const server = createServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => socket.end(cut));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void server.close());
      const { port } = server.address() as { port: number };
      expect(await failed(httpOf(`http://127.0.0.1:${port}`)), cut).toMatchObject({ reason: 'broken' });
    }
  });

  test('gzip that is cut or is none, and encodings nobody asked for', async () => {
    const packed = gzipSync('{"a":1}'.repeat(100));
    const answers: [string, Buffer][] = [
      ['gzip', packed.subarray(0, -12)],
      ['gzip', Buffer.from('plain')],
      ['br', Buffer.from('x')],
    ];
    for (const [encoding, body] of answers) {
      const { url } = await startServer((_, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).end(body);
      });
      expect(await failed(httpOf(url)), encoding).toMatchObject({ reason: 'broken' });
    }
  });

  test('the caller aborts, before and during', async () => {
    const { url } = await startServer(() => {});
    const http = httpOf(url);
    const stop = new AbortController();
    const pending = errorOf(http.request({ ...post, signal: stop.signal }));
    setTimeout(() => stop.abort(), 20);
    expect(await pending).toMatchObject({ reason: 'aborted' });
    expect(await errorOf(http.request({ ...post, signal: stop.signal }))).toMatchObject({
      reason: 'aborted',
    });
  });

  test('no failure holds the key or the path', async () => {
    const { url } = await startServer((_, response) => void response.destroy());
    for (const target of [url, 'http://127.0.0.1:1']) {
      const shown = inspect(await failed(httpOf(target)), { depth: 9, showHidden: true });
      expect(shown).not.toContain('canary');
      expect(shown).not.toContain('api-key');
    }
  });
});
