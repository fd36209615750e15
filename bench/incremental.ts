// What does a night cost when only what changed is asked for? An incremental job over a collection of N assets: the
// first night, a quiet one, one after a tick (about 1 % changed), and a quiet one again. The requests are counted where
// they arrive, and the table is compared with the ledger row by row.
//   npm run build && npx tsx bench/incremental.ts [--assets 100000]
import { parseArgs } from 'node:util';
import { startSandbox } from '../src/sandbox/server.ts';
import { listedDifferences } from '../test/e2e/listed-rows.ts';
import { openWorkplace } from '../test/support/workplace.ts';

const { values } = parseArgs({ options: { assets: { type: 'string', default: '100000' } } });
const sandbox = await startSandbox({ assets: Number(values.assets), collections: 1 });
const place = await openWorkplace(sandbox.url, {
  'jobs/collection.yaml': `describe: One collection
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { values: [${sandbox.world.truth().collections()[0]}] } }
mode: incremental
`,
});
try {
  console.log(`${values.assets} assets, pages of 1,000\n`);
  console.log('| night | requests | saved | new and changed rows | s |\n|---|---|---|---|---|');
  for (const [night, ticks] of [
    ['the first: everything', 0],
    ['nothing changed', 0],
    ['about 1 % changed', 1],
    ['nothing changed', 0],
  ] as const) {
    if (ticks > 0) sandbox.tick(ticks);
    const before = sandbox.requests.length;
    const started = performance.now();
    const { saved, published } = await place.mustRun();
    const seconds = (performance.now() - started) / 1000;
    const { inserted = 0, changed = 0 } = published.tables.assets ?? {};
    const asked = sandbox.requests.length - before;
    console.log(`| ${night} | ${asked} | ${saved} | ${inserted + changed} | ${seconds.toFixed(1)} |`);
    const different = await listedDifferences(sandbox, place);
    if (different.length > 0) throw new Error(`${night}: ${different.join('\n')}`);
  }
} finally {
  await sandbox.close();
  await place.remove();
}
