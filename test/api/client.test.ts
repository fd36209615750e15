import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ApiError, ApiStopped } from '../../src/api/api-errors.ts';
import { KeyRefused, StoppedEarly } from '../../src/errors.ts';
import {
  canary,
  clientOf,
  errorOf,
  jumpingTime,
  operation,
  readJson,
  reply,
  replyResult,
  startServer,
} from './local-server.ts';

describe('a good answer', () => {
  test('JSON-RPC: the wire request, the page, the accounting', async () => {
    const { url, seen } = await startServer((request, response) =>
      replyResult(response, request, { id: 'a' }),
    );
    const { client, attempts } = clientOf(url);
    const answer = await client.send(operation(), { id: 'a' }, readJson);
    expect(answer).toEqual({
      page: { envelope: { jsonrpc: '2.0', id: seen[0]!.id, result: { id: 'a' } } },
      receivedAt: new Date('2026-01-01T00:00:00Z'),
      attempts: 1,
    });
    expect(seen[0]!.url).toBe(`/?api-key=${encodeURIComponent(canary)}`);
    expect(JSON.parse(seen[0]!.body)).toEqual({
      jsonrpc: '2.0',
      id: seen[0]!.id,
      method: 'getAsset',
      params: { id: 'a' },
    });
    expect(seen[0]!.headers).toMatchObject({
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
    const { url, seen } = await startServer((request, response, nth) =>
      nth === 1 ? reply(response, 500, '') : replyResult(response, request),
    );
    const { client } = clientOf(url, { paramNames: { getTokenAccounts: { mint: 'mintAddress' } } });
    const answer = await client.send(
      operation({ name: 'getTokenAccounts' }),
      { mint: 'm', limit: 10 },
      readJson,
    );
    expect(answer.attempts).toBe(2);
    expect(seen[0]!.id).not.toBe(seen[1]!.id);
    expect(JSON.parse(seen[1]!.body).params).toEqual({ mintAddress: 'm', limit: 10 });
  });
});
