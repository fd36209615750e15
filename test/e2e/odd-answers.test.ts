import { expect, test } from 'vitest';
import { RpcError } from '../support/scripted-api.ts';
import { openScripted } from '../support/workplace.ts';

const config = { 'ledgerlake.yaml': 'lake: {tables: [webhooks]}\n' };
const owner = 'Who'.padEnd(40, '1');
const address = (name: string) => name.padEnd(40, '2');

const tokenJob = `describe: test
method: getTokenAccounts
params: {options: {showZeroBalance: true}}
for_each: {owner: {values: [${owner}]}}
`;

const account = (name: string, more = '') =>
  `{${more}"address":"${address(name)}","mint":"${address('Mint')}","owner":"${owner}","amount":7}`;

test('a record that cannot be read counts as shown, whichever of the keys in its text is its own', async () => {
  // DuckDB reads no half of a surrogate pair.
  const hook = `"extensions":{"hook":{"address":"${address('Hook')}","name":"\\ud800"}},`;
  let records = ['Ann', 'Bea', 'Cid'].map((name) => account(name));
  let slot = 100;
  const place = await openScripted(
    (_method, { cursor }) =>
      `{"last_indexed_slot":${slot},"limit":1000,"token_accounts":[${cursor ? '' : records.join(',')}]${cursor ? '' : ',"cursor":"1"'}}`,
    { ...config, 'jobs/tok.yaml': tokenJob },
  );
  await place.mustRun();
  slot = 200;
  records = [account('Ann'), account('Bea', hook)];
  await place.mustRun();
  expect(await place.rows('select address from token_accounts order by address')).toEqual([
    { address: address('Ann') },
    { address: address('Bea') },
  ]);
});

test('a page of nothing but nulls, with a cursor, does not end its list', async () => {
  const pages = [account('Ann'), 'null,null', account('Bea')];
  const place = await openScripted(
    (_method, { cursor = '0' }) =>
      `{"last_indexed_slot":100,"limit":1,"token_accounts":[${pages[Number(cursor)] ?? ''}]${Number(cursor) < 3 ? `,"cursor":"${Number(cursor) + 1}"` : ''}}`,
    { ...config, 'jobs/tok.yaml': tokenJob },
  );
  await place.mustRun();
  expect(await place.rows('select count(*) as n from token_accounts')).toEqual([{ n: '2' }]);
});

test('a batch that the API refuses for one unknown id brings the others', async () => {
  const ids = ['Aa', 'Bb', 'Cc', 'Dd', 'Ee'].map(address);
  const asked: number[] = [];
  const place = await openScripted(
    (_method, addresses: { address: string; tree: string }[]) => {
      asked.push(addresses.length);
      if (addresses.some((one) => one.address === ids[2])) throw new RpcError(-32_000, 'Tree Not Found: x');
      const proof = (one: { address: string; tree: string }) =>
        `{"address":"${one.address}","merkleTree":"${one.tree}","nextIndex":1,"proof":[],"root":"r","rootSeq":1,"lowElementLeafIndex":0,"lowerRangeAddress":"${address('L')}","higherRangeAddress":"${address('H')}"}`;
      return `{"context":{"slot":100},"value":[${addresses.map(proof).join(',')}]}`;
    },
    {
      ...config,
      'jobs/proofs.yaml': `describe: test
method: getMultipleNewAddressProofsV2
for_each: {sql: "select unnest([${ids.map((id) => `'${id}'`).join(', ')}]) as address, '${address('Tree')}' as tree"}
`,
    },
  );
  const { jobs } = await place.mustRun();
  expect(await place.rows('select address from new_address_proofs order by address')).toEqual(
    ids.filter((id) => id !== ids[2]).map((id) => ({ address: id })),
  );
  expect(jobs.proofs).toMatchObject({ records: 4, failed: 0 });
  expect(asked.length, 'by halves').toBeLessThanOrEqual(7);
});

test('a transfer that cannot be read, or has no signature, costs none of the others, and takes its place when it can', async () => {
  const [wallet, signature] = ['Who'.padEnd(40, '1'), 'Sig'.padEnd(80, '1')];
  let symbol = '\\ud800';
  const transfer = (amount: number, more: { signature?: string; symbol?: string } = {}) =>
    `{"signature":"${more.signature ?? signature}","timestamp":1700000000,"direction":"in","counterparty":"${address('Cp')}","mint":"${address('Mint')}","symbol":"${more.symbol ?? 'T'}","amount":1.5,"amountRaw":"${amount}","decimals":2}`;
  const pages = () => [
    [transfer(100), transfer(101, { symbol }), transfer(102)],
    [transfer(1, { signature: '' }), transfer(103, { symbol }), transfer(104)],
  ];
  const place = await openScripted(
    (_operation, { cursor = '0' }) =>
      `{"data":[${pages()[Number(cursor)]!.join(',')}],"pagination":{${cursor === '0' ? '"hasMore":true,"nextCursor":"1"' : '"hasMore":false'}}}`,
    {
      'jobs/transfers.yaml': `describe: test\nmethod: walletTransfers\nfor_each: {wallet: {values: [${wallet}]}}\n`,
    },
  );
  const night = async () => {
    const ended = await place.cli('run');
    expect(ended.code, ended.stderr).toBe(0);
    const rows = await place.rows<{ line: string }>(
      "select position || ': ' || amount_raw as line from wallet_transfers order by position",
    );
    return rows.map(({ line }) => line);
  };
  expect(await night()).toEqual(['0: 100', '2: 102', '4: 104']);
  symbol = 'T';
  expect(await night()).toEqual(['0: 100', '1: 101', '2: 102', '3: 103', '4: 104']);
});
