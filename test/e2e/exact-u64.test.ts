import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bar, showFigure } from '../bars.ts';
import { readSeed } from '../support/random.ts';
import { readRows } from '../support/rows.ts';
import { openScripted } from '../support/workplace.ts';

const mint = 'Mint111111111111111111111111111111111111111';
const owner = 'Ann11111111111111111111111111111111111111111';
const max = 2n ** 64n - 1n;
const perPage = 1000;
const count = bar('amounts');
const seed = readSeed();

const jobs = {
  'ledgerlake.yaml': 'lake: {tables: [token_accounts]}\n',
  'jobs/accounts.yaml': `describe: test
method: getTokenAccounts
for_each: {mint: {values: [${mint}]}}
`,
};

/** Serves token accounts with these amounts, as written, in pages. */
function servePages(amounts: readonly string[]) {
  return (_method: string, { cursor = '0' }: { cursor?: string }): string => {
    const from = Number(cursor);
    const rows = amounts.slice(from, from + perPage).map((amount, n) => accountText(from + n, amount));
    const next = rows.length === 0 ? '' : `,"cursor":"${from + rows.length}"`;
    return `{"last_indexed_slot":100,"total":${rows.length},"limit":${perPage},"token_accounts":[${rows}]${next}}`;
  };
}

function accountText(n: number, amount: string): string {
  return `{"address":"${addressOf(n)}","mint":"${mint}","owner":"${owner}","amount":${amount},"delegated_amount":0,"frozen":false}`;
}

/** Any 44 letters of base58 that differ. */
function addressOf(n: number): string {
  const letters = [...String(n).padStart(6, '0')].map((digit) => 'ABCDEFGHJK'[Number(digit)]);
  return `${letters.join('')}${'1'.repeat(38)}`;
}

test(`${count} amounts from 0 to 2^64-1 are exact in the table, in Parquet and in the manifest (seed ${seed})`, async () => {
  const edges = [0n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n, max].flatMap((edge) => [
    edge - 1n,
    edge,
    edge + 1n,
  ]);
  const kept = edges.filter((edge) => edge >= 0n && edge <= max);
  const drawn = fc.sample(fc.bigInt({ min: 0n, max }), { numRuns: count - kept.length, seed });
  const amounts = [...kept, ...drawn];
  const place = await openScripted(servePages(amounts.map(String)), jobs);
  await place.mustRun();

  const expected = amounts.map((amount, n) => ({ address: addressOf(n), amount: String(amount) }));
  expected.sort((a, b) => (a.address < b.address ? -1 : 1));
  const query = 'select address, amount from';
  expect(await place.rows(`${query} token_accounts order by address`)).toEqual(expected);
  const lake = join(place.data, 'lake');
  const files = `'${lake}/token_accounts/*.parquet'`;
  expect(await readRows(':memory:', `${query} ${files} order by address`)).toEqual(expected);
  const manifest = JSON.parse(await readFile(join(lake, '_manifests/token_accounts.json'), 'utf8'));
  expect(manifest).toMatchObject({ rows: amounts.length });
  expect(manifest.sums.amount).toBe(String(amounts.reduce((sum, amount) => sum + amount, 0n)));
  expect(manifest.schema).toContainEqual({ name: 'amount', type: 'DECIMAL(20,0)' });
  showFigure('amounts', { done: amounts.length, seed });
});

test('a whole number is taken however it is written; anything else is NULL and in quarantine', async () => {
  const taken: [string, string | null][] = [
    ['"18446744073709551615"', String(max)],
    ['"0"', '0'],
    ['5.0', '5'],
    ['1e3', '1000'],
    ['12E+2', '1200'],
    ['"5.0"', '5'],
    ['"18446744073709551615.000"', String(max)],
    ['"1.5e1"', '15'],
    ['-0', '0'],
    ['null', null],
    ['""', null],
  ];
  const refused = [
    '-1',
    '18446744073709551616',
    '"18446744073709551616"',
    '340282366920938463463374607431768211456',
    '1.5',
    '"1.5"',
    '1e-1',
    '1e400',
    '18446744073709551615.5',
    '"9007199254740991.4"',
    '"900719925474099.14e1"',
    '"1.5.1e1"',
    '"0x10"',
    '"1_000"',
    '" 5"',
    '"٣"',
    '"five"',
    'true',
    '[5]',
    '{"amount":5}',
  ];
  const place = await openScripted(servePages([...taken.map(([amount]) => amount), ...refused]), jobs);
  await place.mustRun();
  const rows = await place.rows<{ amount: string | null }>(
    'select amount from token_accounts order by address',
  );
  expect(rows.map(({ amount }) => amount)).toEqual([
    ...taken.map(([, amount]) => amount),
    ...refused.map(() => null),
  ]);
  const entries = await place.rows(
    'select key, column_name, reason from meta.quarantine order by key, column_name',
  );
  expect(entries).toEqual(
    refused.map((_, n) => ({
      key: addressOf(taken.length + n),
      column_name: 'amount',
      reason: 'does not fit its type',
    })),
  );
});
