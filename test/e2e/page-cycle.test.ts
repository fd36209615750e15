import { expect, test } from 'vitest';
import { openScripted } from '../support/workplace.ts';

const files = {
  'jobs/list.yaml': `describe: test
method: getTokenAccounts
for_each: {owner: {values: [Group11111111111111111111111111111111111111]}}
`,
};

test('a circle of pages that is longer than the budget of each run is found all the same', async () => {
  const asked: number[] = [];
  const place = await openScripted((_method, { cursor }) => {
    const page = Number(cursor ?? 0);
    asked.push(page);
    const address = 'Account'.padEnd(43, '1') + 'ABCDEF'.charAt(page);
    return `{"last_indexed_slot":100,"token_accounts":[{"address":"${address}","amount":1}],"cursor":"${(page + 1) % 6}"}`;
  }, files);
  const run = async () => (await place.cli('run', '--max-requests', '4')).code;
  expect(await run()).toBe(75);
  expect(await run()).toBe(3);
  expect(asked).toEqual([0, 1, 2, 3, 4, 5, 0]);
});
