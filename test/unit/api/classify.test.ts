import { describe, expect, test } from 'vitest';
import {
  type AnswerTraits,
  classify,
  type OutcomeKind,
  parseRetryAfter,
  type ReceivedAnswer,
} from '../../../src/api/classify.ts';

const now = Date.UTC(2026, 0, 1, 12, 0, 0);

const lookup: AnswerTraits = { transport: 'rpc', records: { path: [], form: 'single' }, mayBeUnknown: true };

/** Judges a body as the client does: JSON that can be read has an envelope. */
function judge(status: number, body: unknown, overrides: Partial<ReceivedAnswer> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const isPage = status === 200 && typeof body !== 'string';
  return classify({
    operation: lookup,
    status,
    retryAfter: null,
    text,
    sentId: 'me',
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
    // A gateway's: it may pass by itself.
    [404, 'Not Found', 'server'],
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
    const operation = { ...lookup, records: { path: ['value', 'items'], form: 'array' } } as const;
    expect(judge(200, { status: 'maintenance' }, { operation }).kind).toBe('server');
    expect(judge(200, { jsonrpc: '2.0', result: { value: {} } }, { operation }).kind).toBe('server');
    expect(judge(200, { jsonrpc: '2.0', result: { value: { items: [] } } }, { operation }).kind).toBe('ok');
  });

  test.each([
    'Service not found',
    'Method not found',
    'Index Not Found',
    'Page was not found',
    'Not Found: no route',
  ])('what the service itself lacks is no word on the resource: %s', (message) =>
    expect(judge(200, rpcError(-32000, message)).kind).toBe('server'),
  );

  test.each([
    'Asset Not Found',
    'Not Found',
    'Database Error: RecordNotFound Error: Asset Not Found',
    'Tree Not Found: x',
  ])('%s', (message) => {
    expect(judge(200, rpcError(-32000, message)).kind).toBe('no_data');
    const { mayBeUnknown: _, ...list } = lookup;
    expect(judge(200, rpcError(-32000, message), { operation: list }).kind, 'to a list').toBe('server');
  });
});

test('a value of another form where the records belong, null too, is a broken answer, not an empty page', () => {
  const path = ['value', 'items'];
  const list = { path, form: 'array' } as const;
  const keyed = { path, form: 'keyed' } as const;
  const at = (items: unknown) => ({ jsonrpc: '2.0', result: { value: { items } } });
  const kindOf = (body: unknown, records: AnswerTraits['records'], operation: Partial<AnswerTraits> = {}) =>
    judge(200, '', { envelope: body, operation: { transport: 'rpc', records, ...operation } }).kind;
  for (const wrong of [{}, { id: 'a' }, '', '[]', 0, false, null])
    expect([wrong, kindOf(at(wrong), list)]).toEqual([wrong, 'server']);
  for (const wrong of [[], [1], '', '{}', 0, true, null])
    expect([wrong, kindOf(at(wrong), keyed)]).toEqual([wrong, 'server']);
  expect([kindOf(at([]), list), kindOf(at({}), keyed)]).toEqual(['ok', 'ok']);
  // On the way to them.
  for (const records of [list, keyed])
    expect([kindOf({ result: { value: null } }, records), kindOf({ result: null }, records)]).toEqual([
      'server',
      'server',
    ]);
  // A whole answer that is no object.
  const bare = { path: [], form: 'array' } as const;
  const whole = [[], null, {}, 'maintenance'].map((body) => kindOf(body, bare));
  expect(whole).toEqual(['ok', 'server', 'server', 'server']);
  const inside = [[], 'maintenance', null].map((body) => kindOf(body, list));
  expect(inside).toEqual(['server', 'server', 'server']);
  // One record that may not exist.
  const single = { path: ['value'], form: 'single' } as const;
  expect(kindOf({ result: null }, single)).toBe('server');
  expect(kindOf({ result: null }, single, { mayBeUnknown: true })).toBe('ok');
  expect(kindOf({ result: { value: null } }, single, { mayBeUnknown: true })).toBe('ok');
  expect(kindOf({ result: 'maintenance' }, single, { mayBeUnknown: true })).toBe('server');
});

describe('wallet', () => {
  const operation = { ...lookup, transport: 'wallet' } as const;
  const { mayBeUnknown: _, ...list } = operation;
  const cases: [number, unknown, OutcomeKind][] = [
    [200, { address: 'w', name: null }, 'ok'],
    [200, { data: [], pagination: {} }, 'ok'],
    [404, { error: 'Unknown wallet', code: 404 }, 'no_data'],
    [404, { error: 'Identity not found', code: 'NOT_FOUND', details: 'x' }, 'no_data'],
    [404, { message: 'Wallet not found', error: 'Not Found', statusCode: 404 }, 'no_data'],
    [404, { error: 'Cursor not found', code: 404 }, 'rejected'],
    // Not the API's own form, or not of the resource: a gateway's, or another server's.
    [404, '', 'server'],
    [404, 'Not Found', 'server'],
    [404, 'default backend - 404', 'server'],
    [404, '404 page not found', 'server'],
    [404, html, 'server'],
    [404, { message: 'no Route matched with those values' }, 'server'],
    [404, { error: 'Not Found', path: '/v1/x', timestamp: 'now', status: 404 }, 'server'],
    [404, { error: 'Service not found' }, 'server'],
    [404, { message: 'Route GET:/x not found', error: 'Not Found', statusCode: 404 }, 'server'],
    [400, { message: 'limit must be below 101', statusCode: 400 }, 'rejected'],
    [429, { error: 'Too many requests' }, 'throttled'],
  ];
  test.each(cases)('%i %j is %s', (status, body, kind) => {
    expect(judge(status, body, { operation, sentId: null }).kind).toBe(kind);
  });

  test('a list has no 404 that is an answer', () =>
    expect(judge(404, { error: 'Unknown wallet' }, { operation: list, sentId: null }).kind).toBe('server'));
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
