import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type DataFolder, dataFolder, makeDataFolder } from '../../../src/data-folder.ts';
import { openBuild, schemaVersion } from '../../../src/warehouse/build.ts';
import { type Database, openDatabase } from '../../../src/warehouse/database.ts';
import { startProgram } from '../../support/program.ts';

const options = { memoryLimit: '256MB', threads: 1 };

async function makeFolder(): Promise<DataFolder> {
  const folder = dataFolder(await mkdtemp(join(tmpdir(), 'schema-')));
  await makeDataFolder(folder);
  onTestFinished(() => rm(folder.root, { recursive: true, force: true }));
  return folder;
}

async function withBuild<T>(folder: DataFolder, work: (build: Database) => Promise<T>): Promise<T> {
  const build = await openBuild(folder, { ...options, tempDir: folder.temp });
  try {
    return await work(build);
  } finally {
    build.close();
  }
}

/** A build as the first version made it. */
async function makeOldBuild(folder: DataFolder, ...more: string[]): Promise<void> {
  const build = await openDatabase(folder.build, { ...options, tempDir: folder.temp });
  const schema = await readFile(new URL('../../fixtures/schema-1.sql', import.meta.url), 'utf8');
  for (const text of [schema, ...more]) await build.run(text);
  build.close();
}

/** Everything a query could name. */
const readModel = (build: Database) =>
  build.rows(`
    select schema_name, table_name, column_name, data_type, is_nullable, column_default, comment
    from duckdb_columns() where not internal
    union all
    select schema_name, function_name, '', macro_definition, null, null, null
    from duckdb_functions() where not internal
    order by all`);

test('an old build is brought forward to what a new one is, with its rows', async () => {
  const [old, fresh] = [await makeFolder(), await makeFolder()];
  await makeOldBuild(
    old,
    `insert into token_accounts by name select 'a' as address, 7 as amount, 100 as slot, 90 as changed_slot,
      timestamptz '2026-11-20 03:00:00Z' as seen_at, '20261119T020000123Z-abcdef' as run_id, 5 as record_hash`,
    `insert into assets by name select 'b' as id, 100 as slot, timestamptz '2026-11-20 03:00:00Z' as seen_at,
      '20261119T020000123Z-abcdef' as run_id, 5 as record_hash, 5 as base_hash`,
    `insert into meta.checkpoints by name select 'job' as job, 't' as target, 'full' as kind, 'complete' as state,
      1 as pages, 1 as records, 0 as quarantined, 'r' as run_id, 'task' as task, 'r' as crawl`,
  );
  // Opened again: DuckDB tells a macro's text a little differently once it is on disk.
  await withBuild(fresh, async () => undefined);
  const model = await withBuild(fresh, readModel);
  expect(model.length).toBeGreaterThan(500);
  await withBuild(old, async () => undefined);
  for (let times = 0; times < 2; times += 1) {
    await withBuild(old, async (build) => {
      expect(await readModel(build)).toEqual(model);
      expect(await build.rows('select version from meta.schema_version')).toEqual([
        { version: schemaVersion },
      ]);
      expect(
        await build.rows(
          'select address, amount, changed_at, valid_from, valid_to from token_accounts join token_accounts_history using (address, amount)',
        ),
      ).toEqual([
        {
          ...{ address: 'a', amount: 7n, valid_to: null },
          // Not kept then: the run that received the change is the best there is.
          ...{ changed_at: new Date('2026-11-19T02:00:00Z'), valid_from: new Date('2026-11-19T02:00:00Z') },
        },
      ]);
      expect(await build.rows('select job, range from meta.checkpoints')).toEqual([
        { job: 'job', range: '' },
      ]);
    });
  }
});

test('a build that a newer version made is refused, unchanged', async () => {
  const folder = await makeFolder();
  await makeOldBuild(folder, `update meta.schema_version set version = ${schemaVersion + 1}`);
  const before = await readFile(folder.build);
  await expect(withBuild(folder, readModel)).rejects.toMatchObject({ exitCode: 2 });
  expect((await readFile(folder.build)).equals(before)).toBe(true);
});

test('what only reads tells how to bring an old snapshot forward', async () => {
  const folder = await makeFolder();
  await makeOldBuild(folder);
  await copyFile(folder.build, folder.snapshot);
  for (const args of [['status'], ['plan', '--jobs-dir', 'jobs']]) {
    const { code, stderr } = await startProgram([...args, '--data-dir', folder.root], { cwd: process.cwd() })
      .ended;
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('ledgerlake publish') });
  }
});
