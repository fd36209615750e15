import { mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { type DataFolder, dataFolder, makeDataFolder } from '../../../src/data-folder.ts';
import { openSession } from '../../../src/run/open-session.ts';
import { createNextSnapshot } from '../../../src/run/publish-stage.ts';
import { openBuild } from '../../../src/warehouse/build.ts';
import { blockBytes } from '../../../src/warehouse/database.ts';
import { beginSnapshot, replaceSnapshot } from '../../../src/warehouse/snapshot.ts';

// The next snapshot is begun with a copy of the one there is, beside a crawl, and gets what differs from the build.
let folder: DataFolder;
const options = () => ({ memoryLimit: '256MB', threads: 1, tempDir: folder.temp });
const goesOn = new AbortController().signal;

beforeEach(async () => {
  folder = dataFolder(await mkdtemp(join(tmpdir(), 'next-snapshot-')));
  await makeDataFolder(folder);
  await change('create table wide as select range as n, md5(range::varchar) as text from range(100000)');
  await replaceSnapshot(folder, 0o640, options());
});
afterEach(() => rm(folder.root, { recursive: true, force: true }));

async function change(sql: string): Promise<void> {
  const build = await openBuild(folder, options());
  await build.run(`${sql}; checkpoint`);
  build.close();
}

const drafts = async () => (await readdir(folder.root)).filter((name) => name.includes('duckdb.tmp'));
const isCurrent = async () => (await readFile(folder.snapshot)).equals(await readFile(folder.build));

test.each([
  ['nothing', 'select 1'],
  ['a few rows', "update wide set text = 'other' where n between 40000 and 40100"],
  ['more', 'insert into wide select range, md5(range::varchar) from range(100000, 200000)'],
  ['less', 'drop table wide'],
])('brought up to date with %s changed, it is the build, byte for byte', async (_, sql) => {
  const begun = await beginSnapshot(folder, goesOn);
  expect(await drafts()).toEqual(['warehouse.duckdb.tmp']);
  await change(sql);
  expect(await replaceSnapshot(folder, 0o640, options(), begun)).toEqual([]);
  expect(await isCurrent()).toBe(true);
  expect((await stat(folder.snapshot)).mode & 0o777).toBe(0o440);
  expect(await drafts()).toEqual([]);
});

test('blocks that are the same are not written again', async () => {
  const begun = await beginSnapshot(folder, goesOn);
  // What nobody has looked at stays, which shows that nobody wrote it.
  const file = await open(`${folder.snapshot}.tmp`, 'r+');
  const [mark, place] = [Buffer.from('mark'), 3 * 4096 + 4 * blockBytes + 100];
  await file.write(mark, 0, mark.length, place);
  await file.close();
  await change('insert into wide select range, md5(range::varchar) from range(100000, 101000)');
  await replaceSnapshot(folder, 0o640, options(), begun);
  const snapshot = await readFile(folder.snapshot);
  const build = await readFile(folder.build);
  expect(snapshot.subarray(place, place + mark.length)).toEqual(mark);
  build.copy(snapshot, place, place, place + mark.length);
  expect(snapshot.equals(build)).toBe(true);
});

test('a build that was damaged meanwhile does not take the place of the snapshot', async () => {
  const before = await readFile(folder.snapshot);
  const begun = await beginSnapshot(folder, goesOn);
  const { size } = await stat(folder.build);
  const file = await open(folder.build, 'r+');
  for (let offset = 3 * 4096; offset < size; offset += blockBytes)
    await file.write(Buffer.from('damage'), 0, 6, offset + 100);
  await file.close();
  await expect(replaceSnapshot(folder, 0o640, options(), begun)).rejects.toMatchObject({
    name: 'DamagedFile',
  });
  expect((await readFile(folder.snapshot)).equals(before)).toBe(true);
  expect(await drafts()).toEqual([]);
});

test('stopped, or without a snapshot, nothing is begun and nothing is left', async () => {
  const stopped = AbortSignal.abort(new Error('a signal'));
  expect(await beginSnapshot(folder, stopped)).toBeNull();
  expect(await drafts()).toEqual([]);
  await rm(folder.snapshot);
  expect(await beginSnapshot(folder, goesOn)).toBeNull();
  await replaceSnapshot(folder, 0o640, options(), null);
  expect(await isCurrent()).toBe(true);
});

test('a run that replaces no snapshot leaves nothing of the next one', async () => {
  const next = createNextSnapshot(folder, goesOn);
  next.begin();
  await vi.waitFor(async () => expect(await drafts()).not.toEqual([]));
  await next.drop();
  expect(await drafts()).toEqual([]);

  const taken = createNextSnapshot(folder, goesOn);
  taken.begin();
  expect(await taken.take()).not.toBeNull();
  expect(await taken.take()).toBeNull();
  await taken.drop();
  expect(await drafts()).not.toEqual([]);
});

test('a copy that somebody removed meanwhile is made whole', async () => {
  const begun = await beginSnapshot(folder, goesOn);
  await rm(`${folder.snapshot}.tmp`);
  await change('drop table wide');
  await replaceSnapshot(folder, 0o640, options(), begun);
  expect(await isCurrent()).toBe(true);
});

test('what a killed run had begun goes when the next one begins', async () => {
  await writeFile(`${folder.snapshot}.tmp`, 'half a copy');
  const log = pino({ level: 'silent' });
  const config = await readConfig({ env: {}, cwd: folder.root, needsKey: false });
  const session = await openSession({ config, folder, log, verb: 'load', jobs: [], origins: {} });
  await session.end(0, null);
  expect(await drafts()).toEqual([]);
});
