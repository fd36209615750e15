import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { rowGroupSize } from '../../../src/warehouse/build.ts';
import {
  chooseSparse,
  compactTables,
  listRowGroups,
  type RowGroup,
} from '../../../src/warehouse/compact-tables.ts';
import { type Database, openDatabase } from '../../../src/warehouse/database.ts';

async function openFile(): Promise<Database> {
  const dir = await mkdtemp(join(tmpdir(), 'ledgerlake-compact-'));
  const options = { memoryLimit: '128MB', threads: 1, tempDir: dir, rowGroupSize };
  const database = await openDatabase(join(dir, 'build.duckdb'), options);
  onTestFinished(async () => {
    database.close();
    await rm(dir, { recursive: true, force: true });
  });
  await database.run('set max_vacuum_tasks = 0');
  return database;
}

/** As DuckDB itself says. */
async function countGroups(database: Database, table: string): Promise<number> {
  const [row] = await database.rows<{ groups: bigint }>(
    'select count(distinct row_group_id) as groups from pragma_storage_info($table)',
    { table },
  );
  const groups = await listRowGroups(database, table);
  expect(groups).toHaveLength(Number(row?.groups ?? 0n));
  return groups.length;
}

const content = `
  select count(*)::varchar as rows, count(distinct id)::varchar as ids, sum(amount)::varchar as amounts,
    bit_xor(hash(id, amount, note))::varchar as hash
  from told`;

test('nights of a few rows each are merged into one row group, with every row as it was', async () => {
  const database = await openFile();
  await database.run(`create table told (id bigint, amount ubigint, note varchar)`);
  for (let night = 0; night < 30; night += 1) {
    await database.run(
      `insert into told select ${night * 100} + n, 18446744073709551615 - n, repeat('x', n::int) from range(100) t(n);
      delete from told where id % 7 = 3 and id < ${night * 100};
      checkpoint`,
    );
  }
  const before = await database.rows(content);
  expect(await countGroups(database, 'told')).toBe(30);
  expect(await compactTables(database)).toBe(30);
  expect(await database.rows(content)).toEqual(before);
  expect(await countGroups(database, 'told')).toBe(1);
  // Nothing to gain any more.
  expect(await compactTables(database)).toBe(0);
});

test('a table that lost most of its rows keeps its full row groups, and merges the others a part at a time', async () => {
  const database = await openFile();
  await database.run(
    `create schema past; create table past.versions (id bigint, note varchar);
    insert into past.versions select n, 'note ' || n from range(${40 * rowGroupSize}) t(n);
    checkpoint;
    -- A third of every group is left, but the last ten are whole.
    delete from past.versions where id % 3 > 0 and id < ${30 * rowGroupSize};
    checkpoint`,
  );
  const count = 'select count(*)::varchar as rows, sum(id)::varchar as ids from past.versions';
  const before = await database.rows(count);
  expect(await countGroups(database, 'past.versions')).toBe(40);
  // Eight row groups are filled by one run: two dozen thirds.
  expect(await compactTables(database)).toBe(24);
  expect(await countGroups(database, 'past.versions')).toBe(40 - 24 + 8);
  // The six thirds that are left would save four.
  expect(await compactTables(database)).toBe(0);
  expect(await database.rows(count)).toEqual(before);
});

/** Row groups of these many live rows, each as long as can be. */
function groupsOf(...liveRows: number[]): RowGroup[] {
  return liveRows.map((rows, n) => ({
    firstRow: n * rowGroupSize,
    endRow: (n + 1) * rowGroupSize,
    liveRows: rows,
  }));
}

test('what saves few row groups is left alone', () => {
  expect(chooseSparse(groupsOf(rowGroupSize, 10, 10, 10, 10, 10, 10, 10, 10))).toEqual([]);
  expect(chooseSparse(groupsOf(rowGroupSize, 10, 10, 10, 10, 10, 10, 10, 10, 10))).toHaveLength(9);
  expect(chooseSparse(groupsOf(...Array.from({ length: 50 }, () => rowGroupSize)))).toEqual([]);
});

test('one run moves at most eight row groups of rows, of the emptiest groups first', () => {
  const [half, eighth] = [rowGroupSize / 2, rowGroupSize / 8];
  const sparse = groupsOf(...Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? half : eighth)));
  const chosen = chooseSparse(sparse);
  expect(chosen.map(({ liveRows }) => liveRows)).toEqual(Array.from({ length: 64 }, () => eighth));
  expect(chosen).toEqual([...chosen].sort((a, b) => a.firstRow - b.firstRow));
});
