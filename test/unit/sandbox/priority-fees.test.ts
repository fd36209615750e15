import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import { call, callText } from './sandbox-client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ assets: 100, owners: 10 });
});
afterAll(() => sandbox.close());

const accountKeys = ['So11111111111111111111111111111111111111112'];
const ask = async (params: object) => (await call(sandbox, 'getPriorityFeeEstimate', [params])).result;

test('one estimate, of the level asked for, or all levels', async () => {
  const levels = sandbox.world.truth().priorityFees(accountKeys);
  const ascending = Object.values(levels).sort((a, b) => a - b);
  expect(Object.values(levels)).toEqual(ascending);
  expect(await ask({ accountKeys })).toEqual({ priorityFeeEstimate: levels.medium });
  expect(await ask({ accountKeys, options: { priorityLevel: 'VeryHigh' } })).toEqual({
    priorityFeeEstimate: levels.veryHigh,
  });
  expect(await ask({ accountKeys, options: { includeAllPriorityFeeLevels: true } })).toEqual({
    priorityFeeLevels: levels,
  });
  expect(await ask({ accountKeys, options: { recommended: true } })).toEqual({
    priorityFeeEstimate: Math.max(levels.medium, 10_000),
  });
});

test('estimates are floats, of a transaction too, and move with a tick', async () => {
  const transaction = Buffer.from('any transaction').toString('base64');
  const params = [{ transaction, options: { transactionEncoding: 'Base64' } }];
  const text = await callText(sandbox, 'getPriorityFeeEstimate', params);
  expect(text).toMatch(/"priorityFeeEstimate":\d+\.\d+\}/);
  expect(await callText(sandbox, 'getPriorityFeeEstimate', params)).toBe(text);
  sandbox.tick();
  expect(await callText(sandbox, 'getPriorityFeeEstimate', params)).not.toBe(text);
});

test.each([
  [{ accountKeys }, '`params` must be an array'],
  [[], '`params` must hold one object'],
  [[{}], 'one of `transaction` and `accountKeys`'],
  [[{ transaction: 'a+b/' }], '`transaction` is not Base58'],
  [[{ accountKeys, options: { priorityLevel: 'medium' } }], '`options.priorityLevel` must be one of Min'],
  [[{ accountKeys, options: { lookbackSlots: 0 } }], '`lookbackSlots` must be'],
])('%j is refused', async (params, message) => {
  const { error } = await call(sandbox, 'getPriorityFeeEstimate', params);
  expect(error).toEqual({ code: -32602, message: expect.stringContaining(message) });
});
