import { describe, expect, test } from 'vitest';
import { classify, type OutcomeKind, parseRetryAfter, type Received } from '../../src/api/classify.ts';

const now = Date.UTC(2026, 0, 1, 12, 0, 0);

/** Judges a body as the client does: JSON that can be read has an envelope. */
function judge(status: number, body: unknown, overrides: Partial<Received> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const isPage = status === 200 && typeof body !== 'string';
  return classify({
    transport: 'rpc',
    status,
    retryAfter: null,
    text,
    sentId: 'me',
    records: { path: [], form: 'single' },
    now,
    ...(isPage ? { envelope: body } : {}),
    ...overrides,
  });
}

const rpcError = (code: number, message: string) => ({ jsonrpc: '2.0', error: { code, message } });
const html = '<!doctype html><html><head><title>502 Bad Gateway</title></head></html>';

describe('JSON-RPC', () => {
  const cases: [number, unknown, OutcomeKind][] = [
    [200, { jsonrpc: '2.0', id: 'me', result: { items: [] } }, 'ok'],
    [200, { context: { slot: 1 }, value: null }, 'ok'],
    [200, { id: 'an asset, bare', interface: 'V1_NFT' }, 'ok'],
    [200, { jsonrpc: '2.0', id: 'other', result: {} }, 'server'],
    [200, { jsonrpc: '2.0', id: 'me' }, 'server'],
    [200, '{"jsonrpc":"2.0","id":"me","result":{"items":[{"na', 'server'],
    [200, '', 'server'],
    [200, html, 'server'],
    [200, 'max usage reached', 'credits_gone'],
    [200, '{"items":[{"name":"max usage reached"}, {"cut', 'server'],
    [200, rpcError(-32429, 'slow down'), 'throttled'],
    [200, rpcError(-32029, ''), 'throttled'],
    [200, rpcError(-32005, 'limit'), 'throttled'],
    [200, rpcError(-32000, 'Too many requests'), 'throttled'],
    [200, rpcError(-32000, 'Asset Not Found'), 'no_data'],
    [200, rpcError(-32000, 'Cursor Validation Err: abc is invalid'), 'rejected'],
    [200, rpcError(-32000, 'Cursor not found'), 'rejected'],
    [200, rpcError(-32000, 'Server error'), 'server'],
    [200, rpcError(-32603, 'Internal error'), 'server'],
    [200, rpcError(-32602, 'Invalid params'), 'rejected'],
    [200, rpcError(-32600, 'Invalid request'), 'rejected'],
    [200, rpcError(-32601, 'Method not found'), 'rejected'],
    [200, rpcError(-32401, 'invalid api key'), 'key_refused'],
    [200, rpcError(-32401, 'please try again later'), 'try_again'],
    [200, rpcError(-32000, 'Node is behind by 120 slots'), 'node_behind'],
    [200, rpcError(-32603, 'No data has been indexed'), 'node_behind'],
    [200, rpcError(-32000, 'Response is too big'), 'too_big'],
    [200, rpcError(-32000, 'Requested page is too large'), 'too_big'],
    [200, rpcError(-32000, 'Deadline exceeded'), 'slow'],
    [200, rpcError(-32603, 'Query timed out'), 'slow'],
    [200, { error: { code: -32429, message: 'rate limited' } }, 'throttled'],
    [200, { error: 'max usage reached' }, 'credits_gone'],
    [302, '', 'server'],
    [400, rpcError(-32602, 'Invalid params'), 'rejected'],
    [400, rpcError(-32000, 'Server error'), 'rejected'],
    [401, rpcError(-32401, 'invalid api key'), 'key_refused'],
    [401, '', 'key_refused'],
    [401, 'Unauthorized, please try again later', 'try_again'],
    [403, rpcError(-32000, 'Not Found'), 'forbidden'],
    [404, 'Not Found', 'rejected'],
    [404, rpcError(-32000, 'Asset Not Found'), 'no_data'],
    [404, rpcError(-32000, 'Unknown cursor'), 'rejected'],
    [408, '', 'server'],
    [413, '', 'too_big'],
    [422, '', 'rejected'],
    [429, '', 'throttled'],
    [429, rpcError(-32602, 'Invalid params'), 'throttled'],
    [429, rpcError(-32429, 'max usage reached'), 'credits_gone'],
    [429, 'max usage reached', 'credits_gone'],
    [500, html, 'server'],
    [500, rpcError(-32602, 'Invalid params'), 'server'],
    [500, 'Response is too big', 'too_big'],
    [502, html, 'server'],
    [503, 'Node is behind by 3 slots', 'node_behind'],
    [504, html, 'slow'],
    [500, 'context deadline exceeded', 'slow'],
    [500, 'Result set too large', 'too_big'],
    [524, html, 'server'],
  ];
  test.each(cases)('%i %j is %s', (status, body, kind) => {
    expect(judge(status, body).kind).toBe(kind);
  });

  test('a list answer without its list is broken, not the end of the list', () => {
    const records = { path: ['value', 'items'], form: 'array' } as const;
    expect(judge(200, { status: 'maintenance' }, { records }).kind).toBe('server');
    expect(judge(200, { jsonrpc: '2.0', result: { value: {} } }, { records }).kind).toBe('server');
    expect(judge(200, { jsonrpc: '2.0', result: { value: null } }, { records }).kind).toBe('ok');
    expect(judge(200, { jsonrpc: '2.0', result: { value: { items: [] } } }, { records }).kind).toBe('ok');
  });
});

test('a value of another form where the records belong is a broken answer, not an empty page', () => {
  const path = ['value', 'items'];
  const list = { path, form: 'array' } as const;
  const keyed = { path, form: 'keyed' } as const;
  const at = (items: unknown) => ({ jsonrpc: '2.0', result: { value: { items } } });
  const kindOf = (body: unknown, records: Received['records']) =>
    judge(200, '', { envelope: body, records }).kind;
  for (const wrong of [{}, { id: 'a' }, '', '[]', 0, false])
    expect([wrong, kindOf(at(wrong), list)]).toEqual([wrong, 'server']);
  for (const wrong of [[], [1], '', '{}', 0, true])
    expect([wrong, kindOf(at(wrong), keyed)]).toEqual([wrong, 'server']);
  for (const [right, records] of [
    [[], list],
    [{}, keyed],
    [null, list],
    [null, keyed],
  ] as const)
    expect(kindOf(at(right), records)).toBe('ok');
  // A whole answer that is no object.
  const bare = { path: [], form: 'array' } as const;
  expect([kindOf([], bare), kindOf(null, bare), kindOf({}, bare), kindOf('maintenance', bare)]).toEqual([
    'ok',
    'ok',
    'server',
    'server',
  ]);
  expect([kindOf([], list), kindOf('maintenance', list), kindOf(null, list)]).toEqual([
    'server',
    'server',
    'ok',
  ]);
});

describe('wallet', () => {
  const cases: [number, unknown, OutcomeKind][] = [
    [200, { address: 'w', name: null }, 'ok'],
    [200, { data: [], pagination: {} }, 'ok'],
    [404, { error: 'Unknown wallet', code: 404 }, 'no_data'],
    [404, { error: 'Cursor not found', code: 404 }, 'rejected'],
    [404, '', 'no_data'],
    [404, html, 'rejected'],
    [404, { message: 'Route GET:/x not found', error: 'Not Found', statusCode: 404 }, 'rejected'],
    [400, { message: 'limit must be below 101', statusCode: 400 }, 'rejected'],
    [429, { error: 'Too many requests' }, 'throttled'],
  ];
  test.each(cases)('%i %j is %s', (status, body, kind) => {
    expect(judge(status, body, { transport: 'wallet', sentId: null }).kind).toBe(kind);
  });
});

test('the message is what the server said, from any form', () => {
  expect(judge(400, rpcError(-32602, 'bad id'))).toMatchObject({ message: 'bad id', code: -32602 });
  expect(judge(400, { error: 'bad', details: 'page < 1' }).message).toBe('bad: page < 1');
  expect(judge(400, { message: 'bad', statusCode: 400 }).message).toBe('bad');
  expect(judge(502, html).message).toBe('an HTML page: 502 Bad Gateway');
  expect(judge(503, '').message).toBe('HTTP 503');
});

describe('Retry-After', () => {
  const cases: [string | null, number | null][] = [
    ['2', 2_000],
    [' 0.5 ', 500],
    ['0', 0],
    ['-1', null],
    ['1000000000', 1e12],
    ['soon', null],
    ['', null],
    [null, null],
    ['1e9', null],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
    ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
    ['Thursday, 01-Jan-26 12:00:05 GMT', 5_000],
    ['Thu, 99 Foo 2026', null],
  ];
  test.each(cases)('%j is %s ms', (header, ms) => {
    expect(parseRetryAfter(header, now)).toBe(ms);
  });
});
