import { expect, test } from 'vitest';
import { runProgram } from '../support/program.ts';
import { environmentOf, writeFiles } from '../support/project.ts';
import { openTinyWorld } from '../support/small-world.ts';

test('a small job beside a giant one takes turns with it, and does not wait for its end', async () => {
  // Answers take longer than a page takes to be written, even on a busy machine.
  const { sandbox, place } = await openTinyWorld({
    assets: 2000,
    owners: 400,
    collections: 5,
    latencyMs: 200,
  });
  const truth = sandbox.world.truth();
  const [collection] = truth
    .collections()
    .sort((a, b) => truth.idsInCollection(a).length - truth.idsInCollection(b).length);
  await writeFiles(place.root, {
    'ledgerlake.yaml': 'api: {limits: {das: {rps: 200, concurrency: 4}}}\n',
    'jobs/owners.txt': [...truth.owners()].join('\n'),
    'jobs/backfill.yaml': `
describe: Every token account of every owner
method: getTokenAccounts
for_each: { owner: { file: owners.txt } }
page_size: 1
`,
    'jobs/daily.yaml': `
describe: Two pages and an empty one
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { values: [${collection}] } }
page_size: ${Math.ceil(truth.idsInCollection(collection!).length / 2) + 10}
`,
  });
  const ended = await runProgram(['crawl', '--max-requests', '40'], {
    cwd: place.root,
    env: environmentOf(sandbox),
  });
  expect(ended.code, ended.stderr).toBe(75);
  const methods = sandbox.requests.map(({ method }) => method);
  expect(methods.filter((method) => method === 'getAssetsByGroup')).toHaveLength(3);
  // Its three pages come one after another, each as soon as one of four places is free.
  expect(methods.lastIndexOf('getAssetsByGroup')).toBeLessThan(20);
});
