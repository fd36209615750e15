import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type DataFolder, dataFolder, makeDataFolder } from '../../src/data-folder.ts';
import { createLandingLog } from '../../src/landing/writer.ts';
import { openBuild } from '../../src/warehouse/build.ts';
import { openDatabase } from '../../src/warehouse/database.ts';
import { createLoader, listUnloaded } from '../../src/warehouse/load.ts';
import { publish } from '../../src/warehouse/publish.ts';
import { newPage, newRecords, newSlice } from '../landing/pages.ts';

const a = 'A'.repeat(44);
const b = 'B'.repeat(44);

const options = { memoryLimit: '256MB', threads: 1, tempDir: tmpdir() };

/** Lands a batch of two ids whose slice was cut, and these answers to its parts; publishes what is complete. */
async function publishCut(answers: readonly (readonly string[])[]) {
  const folder: DataFolder = dataFolder(await mkdtemp(join(tmpdir(), 'slices-')));
  onTestFinished(() => rm(folder.root, { recursive: true, force: true }));
  await makeDataFolder(folder);
  const landing = createLandingLog({ dir: folder.landing });
  await landing.appendIds([newSlice(1, [a, b], true)]);
  await landing.appendIds([newSlice(2, [b], false), newSlice(1, [a], false)]);
  for (const [n, ids] of answers.entries())
    await landing.appendPage(
      newPage(n + 1, { operation: 'getAssetBatch', shape: 'asset', position: null, next: null, end: null }),
      newRecords(...ids.map((id) => JSON.stringify({ id }))),
    );
  await landing.close();
  const memory = await openDatabase(':memory:', options);
  const loader = await createLoader(memory, folder);
  for (const segment of await listUnloaded(folder)) await loader.loadSegment(segment);
  memory.close();
  const build = await openBuild(folder, options);
  const settings = { run: 'run-1', memoryBytes: 256e6, quarantineLimit: 0.01, acceptVanished: [] };
  const { refused } = await publish(build, folder, settings);
  const states = await build.rows('select state, pages from meta.checkpoints');
  const assets = await build.rows<{ id: string }>('select id from assets order by id');
  build.close();
  return { refused: refused.length, states, assets: assets.map(({ id }) => id) };
}

test('a batch whose slice was cut is complete with the answers to all its parts', async () => {
  expect(await publishCut([[a], [b]])).toEqual({
    refused: 0,
    states: [{ state: 'complete', pages: 2n }],
    assets: [a, b],
  });
  expect(await publishCut([[a]])).toMatchObject({ states: [{ state: 'open' }], assets: [] });
});

test('a part is answered with its own ids only', async () => {
  expect(await publishCut([[a, b], []])).toMatchObject({ refused: 1, assets: [] });
});
