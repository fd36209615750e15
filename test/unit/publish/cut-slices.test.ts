import { expect, test } from 'vitest';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { newPage, newRecords, newSlice } from '../../support/pages.ts';
import { loadLanded, makeFolder, publishLoaded } from '../../support/publish-landed.ts';

const a = 'A'.repeat(44);
const b = 'B'.repeat(44);

/** Lands a batch of two ids whose slice was cut, and these answers to its parts; publishes what is complete. */
async function publishCut(answers: readonly (readonly string[])[]) {
  const folder = await makeFolder();
  const landing = createLandingLog({ dir: folder.landing });
  await landing.appendIds([newSlice(1, [a, b], true)]);
  await landing.appendIds([newSlice(2, [b], false), newSlice(1, [a], false)]);
  for (const [n, ids] of answers.entries())
    await landing.appendPage(
      newPage(n + 1, { operation: 'getAssetBatch', shape: 'asset', position: null, next: null, end: null }),
      newRecords(...ids.map((id) => JSON.stringify({ id }))),
    );
  await landing.close();
  await loadLanded(folder);
  return publishLoaded(folder, 'run-1', async (build, { refused }) => {
    const states = await build.rows('select state, pages from meta.checkpoints');
    const assets = await build.rows<{ id: string }>('select id from assets order by id');
    return { refused: refused.length, states, assets: assets.map(({ id }) => id) };
  });
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
