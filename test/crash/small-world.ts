import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';
import { type Place, writeFiles } from './program.ts';

/** A sandbox of this process over a small ledger whose content stands still. The caller closes it. */
export function startSmallWorld(seed: number, options: SandboxOptions = {}): Promise<Sandbox> {
  return startSandbox({ seed, assets: 1500, owners: 150, latencyMs: 8, ...options });
}

/** All kinds of paging over all tables, in pages small enough that there are many moments between two of them. */
export async function writeJobs({ jobs }: Place, { world }: Sandbox): Promise<void> {
  const truth = world.truth();
  await writeFiles(jobs, {
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
page_size: 100
`,
    'content.yaml': `
describe: The content that lists leave out
method: getAssetBatch
after: [collections, creators]
for_each: { ids: { sql: select id from assets where content_seen_at is null order by id } }
page_size: 20
`,
    'owners.yaml': `
describe: Every token account of every owner
method: getTokenAccounts
params: { options: { showZeroBalance: true } }
after: [content]
for_each: { owner: { sql: select distinct owner from assets where owner is not null order by owner } }
page_size: 50
`,
  });
}
