import { expect, test } from 'vitest';
import { encodeRequest } from '../../../src/api/wire.ts';
import { UsageError } from '../../../src/errors.ts';
import { operation } from '../../support/api-client.ts';

const paramsOf = (name: string, params: Record<string, unknown>) =>
  JSON.parse(encodeRequest(operation({ name }), params, {}, '1').body!).params;

const history = operation({
  name: 'walletHistory',
  transport: 'wallet',
  rest: { method: 'GET', path: '/v1/wallet/{wallet}/history' },
});
const webhook = operation({
  name: 'setWebhookActive',
  transport: 'webhook',
  rest: { method: 'PATCH', path: '/v0/webhooks/{webhookID}' },
});

test('JSON-RPC params are the object as given; two methods take an array', () => {
  expect(paramsOf('getAssetsByGroup', { groupKey: 'collection', page: undefined })).toEqual({
    groupKey: 'collection',
  });
  expect(paramsOf('getPriorityFeeEstimate', { transaction: 't' })).toEqual([{ transaction: 't' }]);
  const one = { address: 'a', tree: 't' };
  expect(paramsOf('getMultipleNewAddressProofsV2', { addresses: [one, one] })).toEqual([one, one]);
  expect(paramsOf('getMultipleNewAddressProofsV2', one)).toEqual([one]);
});

test('REST: the path is filled, the rest is query or body, renames apply to both', () => {
  expect(
    encodeRequest(history, { wallet: 'a/b?c', limit: 100, before: null, type: 'A&B' }, { type: 'kind' }, '1'),
  ).toEqual({
    transport: 'wallet',
    method: 'GET',
    path: '/v1/wallet/a%2Fb%3Fc/history?limit=100&kind=A%26B',
  });
  expect(encodeRequest(history, { wallet: 'w' }, {}, '1').path).toBe('/v1/wallet/w/history');
  expect(encodeRequest(webhook, { webhookID: 'id', active: false }, {}, '1')).toEqual({
    transport: 'webhook',
    method: 'PATCH',
    path: '/v0/webhooks/id',
    body: '{"active":false}',
  });
});

test.each([undefined, '', '.', '..', null, {}])(
  'a path parameter %j would be another endpoint: refused',
  (wallet) => {
    expect(() => encodeRequest(history, { wallet }, {}, '1')).toThrow(UsageError);
  },
);
