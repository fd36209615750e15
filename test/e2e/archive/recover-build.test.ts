import { createHash } from 'node:crypto';
import { mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cutBatches } from '../../../src/archive/replay.ts';
import { readConfig } from '../../../src/config/config.ts';
import { type DataFolder, dataFolder, makeDataFolder } from '../../../src/data-folder.ts';
import { openSession } from '../../../src/run/open-session.ts';
import { bindSource, openBuild } from '../../../src/warehouse/build.ts';
import { blockBytes, type Database } from '../../../src/warehouse/database.ts';
import { findWrongChecksum } from '../../../src/warehouse/database-blocks.ts';
import { isBehindSnapshot, recoverBuild, verifyDatabase } from '../../../src/warehouse/recover-build.ts';
import { replaceSnapshot } from '../../../src/warehouse/snapshot.ts';
import { startReader } from '../../chaos/crash/reader.ts';

let folder: DataFolder;
const options = () => ({ memoryLimit: '256MB', threads: 1, tempDir: folder.temp });

beforeEach(async () => {
  folder = dataFolder(await mkdtemp(join(tmpdir(), 'recover-')));
  await makeDataFolder(folder);
});
afterEach(() => rm(folder.root, { recursive: true, force: true }));

async function fill(origin: string): Promise<void> {
  const build = await openBuild(folder, options());
  await bindSource(build, { rpc: origin });
  await build.run(
    'create or replace table wide as select range as n, md5(range::varchar) as text from range(50000)',
  );
  build.close();
}

async function readOrigin(): Promise<unknown> {
  const build = await openBuild(folder, options());
  const rows = await build.rows('select origin from meta.source');
  build.close();
  return rows;
}

const hashes = async () => {
  const names = (await readdir(folder.root)).filter((name) => name.includes('duckdb'));
  const files = names.map(async (name) => [
    name,
    createHash('sha256')
      .update(await readFile(join(folder.root, name)))
      .digest('hex'),
  ]);
  return Object.fromEntries(await Promise.all(files));
};

async function overwrite(path: string, offset: number, bytes: Buffer): Promise<void> {
  const file = await open(path, 'r+');
  await file.write(bytes, 0, bytes.length, offset);
  await file.close();
}

test('a new folder, and a build that opens, stay as they are', async () => {
  expect(await recoverBuild(folder, options())).toBeNull();
  await fill('https://a.example');
  const before = await hashes();
  expect(await recoverBuild(folder, options())).toBeNull();
  expect(await hashes()).toEqual(before);
});

test('a damaged build is set aside with its log, and rebuilt from the snapshot', async () => {
  await fill('https://a.example');
  await replaceSnapshot(folder, 0o640, options());
  await writeFile(folder.build, 'garbage');
  await writeFile(`${folder.build}.wal`, 'log');
  const recovery = await recoverBuild(folder, options());
  expect(recovery).toMatchObject({ base: 'snapshot', reason: expect.stringContaining('not a valid DuckDB') });
  const contents = await Promise.all(recovery!.setAside.map((path) => readFile(path, 'utf8')));
  expect(contents.sort()).toEqual(['garbage', 'log']);
  expect(await readOrigin()).toEqual([{ origin: 'https://a.example' }]);
});

test('with the snapshot damaged too, both are set aside', async () => {
  await fill('https://a.example');
  await writeFile(folder.build, 'garbage');
  await writeFile(folder.snapshot, 'garbage');
  expect(await recoverBuild(folder, options())).toMatchObject({ base: 'nothing', setAside: { length: 2 } });
  expect(await readOrigin()).toEqual([]);
});

test('a build that was restored from before the snapshot is noticed, and replaced by it', async () => {
  const openPublished = async (...runs: string[]) => {
    const build = await openBuild(folder, options());
    for (const run of runs)
      await build.run('insert into meta.runs (run_id, verb, started_at) values ($run, $verb, now())', {
        run,
        verb: 'run',
      });
    return build;
  };
  const isBehind = (build: Database) =>
    isBehindSnapshot(build, folder, options()).finally(() => build.close());
  expect(await isBehind(await openPublished('1'))).toBe(false);
  const backup = await readFile(folder.build);
  (await openPublished('2')).close();
  await replaceSnapshot(folder, 0o640, options());
  expect(await isBehind(await openPublished())).toBe(false);
  await writeFile(folder.build, backup);
  expect(await isBehind(await openPublished())).toBe(true);
  const session = await openSession({
    ...{
      config: await readConfig({ env: {}, cwd: folder.root, needsKey: false }),
      folder,
      log: pino({ level: 'silent' }),
    },
    ...{ verb: 'publish', jobs: [], origins: {} },
  });
  const runs = await session.withBuild((build) => build.rows('select run_id from meta.runs order by all'));
  await session.end(0, null);
  expect(runs).toEqual([{ run_id: '1' }, { run_id: '2' }]);
});

test('a build that somebody has open is not damaged', async () => {
  await fill('https://a.example');
  const reader = startReader(
    `await DuckDBInstance.create(path); console.log('open'); setInterval(() => {}, 1000);`,
    folder.build,
  );
  expect(await reader.nextLine()).toBe('open');
  const before = await hashes();
  await expect(recoverBuild(folder, options())).rejects.toMatchObject({ exitCode: 75 });
  expect(await hashes()).toEqual(before);
});

test('a build of a newer DuckDB or another ledgerlake is refused unchanged, also where the snapshot is', async () => {
  await fill('https://a.example');
  // The header with another storage version, and the checksum that belongs to it.
  const header = (await readFile(folder.build)).subarray(0, 4096);
  header.writeBigUInt64LE(9999n, 12);
  const words = Array.from({ length: 511 }, (_, n) => header.readBigUInt64LE(8 + 8 * n));
  const sum = words.reduce((all, word) => all ^ BigInt.asUintN(64, word * 0xbf58476d1ce4e5b9n), 5381n);
  header.writeBigUInt64LE(sum, 0);
  await overwrite(folder.build, 0, Buffer.from(header));
  const newer = await hashes();
  await expect(recoverBuild(folder, options())).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('newer DuckDB'),
  });
  expect(await hashes()).toEqual(newer);

  await rm(folder.build);
  await fill('https://a.example');
  const build = await openBuild(folder, options());
  await build.run('update meta.schema_version set version = 999');
  build.close();
  await replaceSnapshot(folder, 0o640, options());
  await expect(recoverBuild(folder, options())).rejects.toMatchObject({ exitCode: 2 });
  await writeFile(folder.build, 'garbage');
  const before = await hashes();
  await expect(recoverBuild(folder, options())).rejects.toMatchObject({ exitCode: 2 });
  expect(await hashes()).toEqual(before);
});

test('a wrong checksum anywhere is found; in a free block it does not matter', async () => {
  await fill('https://a.example');
  expect(await findWrongChecksum(folder.build)).toBeNull();
  const whole = await readFile(folder.build);
  for (const offset of [3, 4100, 9000, 3 * 4096, 3 * 4096 + blockBytes + 77, whole.length - 1]) {
    await overwrite(folder.build, offset, Buffer.from([(whole[offset] as number) ^ 8]));
    expect(await findWrongChecksum(folder.build), `offset ${offset}`).not.toBeNull();
    await overwrite(folder.build, offset, whole.subarray(offset, offset + 1));
  }
  const build = await openBuild(folder, options());
  await build.run('drop table wide');
  await build.run('checkpoint');
  build.close();
  const { length } = await readFile(folder.build);
  let harmless = 0;
  for (let offset = 3 * 4096; offset < length; offset += blockBytes) {
    const block = (await readFile(folder.build)).subarray(offset, offset + blockBytes);
    await overwrite(folder.build, offset, Buffer.alloc(blockBytes));
    expect(await findWrongChecksum(folder.build)).toBe(offset);
    harmless += await verifyDatabase(folder.build, options()).then(
      () => 1,
      () => 0,
    );
    await overwrite(folder.build, offset, Buffer.from(block));
  }
  expect(harmless).toBeGreaterThan(0);
  expect(harmless).toBeLessThan((length - 3 * 4096) / blockBytes);
});

test('a damaged build does not take the place of the snapshot', async () => {
  await fill('https://a.example');
  await replaceSnapshot(folder, 0o640, options());
  const before = (await hashes())['warehouse.duckdb'];
  const { length } = await readFile(folder.build);
  for (let offset = 3 * 4096; offset < length; offset += blockBytes)
    await overwrite(folder.build, offset + 100, Buffer.from('damage'));
  await expect(replaceSnapshot(folder, 0o640, options())).rejects.toMatchObject({ name: 'DamagedFile' });
  expect((await hashes())['warehouse.duckdb']).toBe(before);
});

test('segments are cut into batches where no crawl and no run spans the cut', () => {
  expect(cutBatches([], [])).toEqual([]);
  expect(cutBatches([1, 2, 3], [])).toEqual([[1], [2], [3]]);
  expect(
    cutBatches(
      [1, 2, 3, 4, 5],
      [
        { first: 4, last: 5 },
        { first: 1, last: 2 },
      ],
    ),
  ).toEqual([[1, 2], [3], [4, 5]]);
  expect(
    cutBatches(
      [1, 2, 3, 4, 5],
      [
        { first: 1, last: 3 },
        { first: 2, last: 4 },
      ],
    ),
  ).toEqual([[1, 2, 3, 4], [5]]);
});
