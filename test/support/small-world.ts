import { onTestFinished } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';
import { environmentOf, makeProject, type Project, writeFiles } from './project.ts';

/** A sandbox of this process over a small ledger whose content stands still. The caller closes it. */
export function startSmallWorld(seed: number, options: SandboxOptions = {}): Promise<Sandbox> {
  return startSandbox({ seed, assets: 1500, owners: 150, latencyMs: 8, ...options });
}

/** From here on answers come from one slot, until the ledger moves: what is compared then includes every slot. */
export function holdSlot({ world }: Sandbox): void {
  world.advanceSlot = () => world.slot;
}

/** A place with one job, a list of a few pages, at one slot until the ledger moves, and its sandbox, which is closed when the test ends. */
export async function openShortList(): Promise<{
  place: Project;
  sandbox: Sandbox;
  env: Record<string, string>;
}> {
  const place = await makeProject();
  const sandbox = await startSmallWorld(1, { assets: 24, owners: 4, latencyMs: 0 });
  holdSlot(sandbox);
  onTestFinished(() => sandbox.close());
  const [collection] = sandbox.world.truth().collections();
  await writeFiles(place.jobs, {
    'list.yaml': `
describe: Every asset of a collection
method: getAssetsByGroup
params: { groupKey: collection, groupValue: ${collection} }
page_size: 10
`,
  });
  return { place, sandbox, env: environmentOf(sandbox) };
}

/** Runs export these tables only: for tests that do not look at the lake, or at these. */
export async function exportOnly({ root }: Project, ...tables: readonly string[]): Promise<void> {
  await writeFiles(root, { 'ledgerlake.yaml': `lake: { tables: [${tables.join(', ')}] }\n` });
}

/** A sandbox over a ledger of 300 assets, closed when the test ends, and a project for it, where runs export an empty table. */
export async function openTinyWorld(
  options: SandboxOptions = {},
): Promise<{ sandbox: Sandbox; place: Project }> {
  const sandbox = await startSmallWorld(7, { assets: 300, owners: 30, latencyMs: 1, ...options });
  onTestFinished(() => sandbox.close());
  const place = await makeProject();
  await exportOnly(place, 'webhooks');
  return { sandbox, place };
}

/** One job: every collection, in pages of `pageSize`. */
export async function writeListJob({ jobs }: Project, { world }: Sandbox, pageSize = 20): Promise<void> {
  await writeFiles(jobs, {
    't.txt': world.truth().collections().join('\n'),
    'list.yaml': `
describe: Every asset of every collection
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { file: t.txt } }
page_size: ${pageSize}
`,
  });
}

/**
 * All kinds of paging over all tables, in pages small enough that there are many moments between two of them.
 * @param waves 3: targets are asked of the tables, after the jobs that bring them; 1: they are written down, so that
 *   all is crawled and published at once, for a third less time
 */
export async function writeJobs({ jobs }: Project, { world }: Sandbox, waves: 1 | 3 = 3): Promise<void> {
  const truth = world.truth();
  const targets = {
    1: { content: '{ file: targets/content.txt }', owners: '{ file: targets/owners.txt }' },
    3: {
      content: '{ sql: select id from assets where content_seen_at is null order by id }',
      owners: '{ sql: select distinct owner from assets where owner is not null order by owner }',
    },
  }[waves];
  await writeFiles(jobs, {
    'targets/content.txt': Array.from(truth.assets(), ({ id }) => id).join('\n'),
    'targets/owners.txt': [...truth.owners()].join('\n'),
    'targets/collections.txt': truth.collections().join('\n'),
    'targets/creators.txt': truth.creators().join('\n'),
    'collections.yaml': `
describe: Every asset of every collection
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { file: targets/collections.txt } }
page_size: 100
`,
    'creators.yaml': `
describe: Every asset of every creator
method: getAssetsByCreator
for_each: { creatorAddress: { file: targets/creators.txt } }
page_size: 200
`,
    'signatures.yaml': `
describe: Every signature
method: getLatestCompressionSignatures
since: all
page_size: 90
`,
    'content.yaml': `
describe: The content that lists leave out
method: getAssetBatch
after: [${waves === 1 ? '' : 'collections, creators'}]
for_each: { ids: ${targets.content} }
page_size: 20
`,
    'owners.yaml': `
describe: Every token account of every owner
method: getTokenAccounts
params: { options: { showZeroBalance: true } }
after: [${waves === 1 ? '' : 'content'}]
for_each: { owner: ${targets.owners} }
page_size: 50
`,
  });
}
