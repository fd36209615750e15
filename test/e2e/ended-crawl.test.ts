import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openScripted, type Workplace } from '../support/workplace.ts';

const owners = ['Ann', 'Bob'].map((name) => name.padEnd(40, '1'));

const job = (targets: readonly string[]) => `describe: test
method: getTokenAccounts
params: {options: {showZeroBalance: true}}
for_each: {owner: {values: [${targets.join(', ')}]}}
`;

/** Two owners with six accounts each, in pages of two; every night has its slot and its amounts. */
async function openOwners() {
  const ledger = { slot: 1000, asked: [] as string[] };
  const place = await openScripted(
    (_method, { owner, cursor }) => {
      ledger.asked.push(`${owner}${cursor ?? ''}`);
      const from = cursor === undefined ? 0 : Number(cursor);
      const accounts = [from, from + 1].map(
        (n) =>
          `{"address":"${`${String(owner).slice(0, 3)}Account${n + 1}`.padEnd(40, '2')}","mint":"${'Mint'.padEnd(40, '1')}","owner":"${owner}","amount":${ledger.slot + n}}`,
      );
      const next = from < 4 ? `,"cursor":"${from + 2}"` : '';
      return `{"last_indexed_slot":${ledger.slot},"limit":2,"token_accounts":[${from < 6 ? accounts.join(',') : ''}]${next}}`;
    },
    { 'ledgerlake.yaml': 'lake: {tables: [webhooks]}\n', 'jobs/tok.yaml': job(owners) },
  );
  return { place, ledger };
}

const amounts = ({ rows }: Workplace) =>
  rows<{ amount: string; slot: string }>(
    `select amount, slot from token_accounts where owner = '${owners[0]}' order by amount`,
  );

test('a finished crawl is not resumed although the log keeps its first page for another crawl', async () => {
  const { place, ledger } = await openOwners();
  expect((await place.cli('run', '--max-requests', '3')).code).toBe(75);
  // Its open crawl keeps the segment of the first night in the landing log.
  await writeFile(join(place.root, 'jobs/tok.yaml'), job(owners.slice(0, 1)));
  ledger.slot = 2000;
  await place.mustRun();
  for (const slot of [3000, 4000]) {
    ledger.slot = slot;
    ledger.asked = [];
    await place.mustRun();
    expect(ledger.asked).toEqual(['', '2', '4'].map((cursor) => `${owners[0]}${cursor}`));
    expect(await amounts(place)).toEqual(
      Array.from({ length: 6 }, (_, n) => ({ amount: `${slot + n}`, slot: `${slot}` })),
    );
  }
  const before = await amounts(place);
  expect((await place.cli('rebuild', '--from-archive')).code).toBe(0);
  expect(await amounts(place)).toEqual(before);
});

test('what was received is not taken for a folder in which nothing was crawled when both databases are gone', async () => {
  const { place, ledger } = await openOwners();
  await place.mustRun();
  const before = await amounts(place);
  for (const name of ['build.duckdb', 'warehouse.duckdb']) await rm(join(place.data, name));
  for (const command of [['plan'], ['sql', 'select 1']]) {
    const { code, stderr } = await place.cli(...command);
    expect([code, stderr], command.join(' ')).toEqual([
      2,
      expect.stringContaining('`ledgerlake publish` restores it'),
    ]);
  }
  expect((await place.cli('status')).stdout).toContain('`ledgerlake publish` restores it');
  ledger.asked = [];
  expect((await place.cli('publish')).code).toBe(0);
  expect([await amounts(place), ledger.asked]).toEqual([before, []]);
});

test('an archive that cannot be read does not cost the build that there is', async () => {
  const { place, ledger } = await openOwners();
  await place.mustRun();
  const before = await amounts(place);
  const archive = join(place.data, 'archive');
  const records = (await readdir(archive)).find((name) => /^\d+\.parquet$/.test(name))!;
  await writeFile(join(archive, records), 'no Parquet at all');
  const rebuilt = await place.cli('rebuild', '--from-archive');
  expect([rebuilt.code, rebuilt.stderr]).toEqual([74, expect.stringContaining(records)]);
  // A night looks in it for texts that it has already: its rows are in, and it says what is to be done.
  ledger.slot = 2000;
  const night = await place.run();
  expect([night.code, night.stderr]).toEqual([74, expect.stringContaining('doctor --repair')]);
  expect(night.stderr).toContain(records);
  const later = before.map(({ amount }) => ({ amount: `${Number(amount) + 1000}`, slot: '2000' }));
  expect(await amounts(place)).toEqual(later);
  expect((await readdir(place.data)).filter((name) => name.includes('set-aside'))).toEqual([]);
  expect((await place.cli('doctor', '--repair')).code).toBe(0);
  await place.mustRun();
  expect(await amounts(place)).toEqual(later);
});
