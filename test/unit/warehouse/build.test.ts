import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DataFolder, dataFolder, makeDataFolder } from '../../../src/data-folder.ts';
import { bindSource, openBuild, unbindEmpty } from '../../../src/warehouse/build.ts';
import type { Database } from '../../../src/warehouse/database.ts';

let folder: DataFolder;
let build: Database;

beforeEach(async () => {
  folder = dataFolder(await mkdtemp(join(tmpdir(), 'build-')));
  await makeDataFolder(folder);
  build = await openBuild(folder, { memoryLimit: '256MB', threads: 1, tempDir: folder.temp });
});
afterEach(async () => {
  build.close();
  await rm(folder.root, { recursive: true, force: true });
});

const sources = () => build.rows('select transport, origin from meta.source');

test('a folder is bound to its first origin, and another is refused', async () => {
  await bindSource(build, { rpc: 'https://a.example' });
  await bindSource(build, { rpc: 'https://a.example', wallet: 'https://w.example' });
  await expect(bindSource(build, { rpc: 'https://b.example' })).rejects.toMatchObject({ exitCode: 2 });
  expect(await sources()).toEqual([
    { transport: 'rpc', origin: 'https://a.example' },
    { transport: 'wallet', origin: 'https://w.example' },
  ]);
});

test('a folder that nothing was published in may be bound anew; one that holds data may not', async () => {
  await bindSource(build, { rpc: 'https://mistyped.example' });
  await unbindEmpty(build);
  await bindSource(build, { rpc: 'https://a.example' });
  await build.run(`insert into meta.segments values (1, 'asset', 1, 1, true, now())`);
  await unbindEmpty(build);
  expect(await sources()).toEqual([{ transport: 'rpc', origin: 'https://a.example' }]);
});
