import type { ProjectFile, ProjectOptions } from './project.ts';

const schemaLine = '# yaml-language-server: $schema=./job.schema.json\n';

/** Job files for the followed addresses, and their target files. Pure. */
export function jobFiles({ followed, isSample }: ProjectOptions): ProjectFile[] {
  const files: ProjectFile[] = [];
  const addJob = (name: string, text: string) =>
    files.push({ path: `jobs/${name}.yaml`, text: `${schemaLine}${text}` });
  const addTargets = (name: string, addresses: readonly string[]) =>
    files.push({ path: `jobs/targets/${name}.txt`, text: targetText(name, addresses, isSample) });
  const { collections, creators, owners, wallets } = followed;
  const lists: string[] = [];
  if (collections.length > 0) {
    lists.push('collections');
    addTargets('collections', collections);
    addJob('collections', collectionsJob);
  }
  if (creators.length > 0) {
    lists.push('creators');
    addTargets('creators', creators);
    addJob('creators', creatorsJob);
  }
  if (lists.length > 0) addJob('asset-content', contentJob(lists));
  if (owners.length > 0) {
    addTargets('owners', owners);
    addJob('owners', ownersJob);
  }
  if (wallets.length > 0) {
    addTargets('wallets', wallets);
    addJob('wallet-balances', walletJob('What the wallets of a list hold', 'walletBalances'));
    addJob(
      'wallet-transfers',
      walletJob('Every transfer in and out of the wallets of a list', 'walletTransfers'),
    );
  }
  return files;
}

function targetText(name: string, addresses: readonly string[], isSample: boolean): string {
  const sample = isSample ? ' These are from the sample API (`ledgerlake sandbox`): put your own here.' : '';
  return `# The ${name} we follow: one address a line; # starts a comment.${sample}\n${addresses.join('\n')}\n`;
}

const collectionsJob = `describe: Every asset of the collections we follow
method: getAssetsByGroup
params: { groupKey: collection }
for_each:
  groupValue: { file: targets/collections.txt }
# A full crawl requests every page every night. To request only changes, and everything once a week:
# mode: incremental
# full_every: 7d
# A collection of millions is crawled faster in parallel ranges of its ids:
# partitions: 8
`;

const creatorsJob = `describe: Every asset of the creators we follow, whatever its collection
method: getAssetsByCreator
for_each:
  creatorAddress: { file: targets/creators.txt }
# params: { onlyVerified: true }
# mode: incremental
`;

const contentJob = (
  after: readonly string[],
) => `describe: The content of assets that the lists gave without any
method: getAssetBatch
after: [${after.join(', ')}]
for_each:
  ids:
    # No answer has carried content yet, or the asset has changed since.
    sql: select id from assets where content_seen_at is null or content_slot < changed_slot order by id
`;

const ownersJob = `describe: Every token account, the empty ones too, of the owners we follow
method: getTokenAccounts
params:
  options: { showZeroBalance: true }
for_each:
  owner: { file: targets/owners.txt }
`;

const walletJob = (describe: string, method: string) => `describe: ${describe}
method: ${method}
for_each:
  wallet: { file: targets/wallets.txt }
`;
