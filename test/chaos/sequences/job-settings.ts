import type { Draw } from '../../support/random.ts';
import type { Ledger } from './ledger.ts';

/** What the jobs of a sequence are at one time. */
export interface JobSettings {
  /** Token accounts by owner; the owners may be those of the assets that were found. */
  owners: {
    name: string;
    targets: readonly string[] | 'of the assets';
    pageSize: number;
    showsEmpty: boolean;
  };
  /** Token accounts by mint, which the other job has too; null: there is no such job. */
  mints: { pageSize: number } | null;
  /** Assets by collection. */
  collections: {
    name: string;
    targets: readonly string[];
    pageSize: number;
    partitions: number;
    mode: 'full' | 'incremental';
  };
  /** The content that lists leave out: of all assets, or of those that never had any; null: there is no such job. */
  content: { of: 'all' | 'new'; pageSize: number } | null;
  /** Signatures, newest first. */
  feed: { name: string; pageSize: number };
  keepRawDays: number;
}

/** What somebody may do to the jobs between two nights, by name. */
const edits = {
  'page sizes': (settings, draw) => ({
    owners: { ...settings.owners, pageSize: draw.between(3, 30) },
    collections: { ...settings.collections, pageSize: draw.between(3, 30) },
    feed: { ...settings.feed, pageSize: draw.between(2, 20) },
  }),
  'fewer owners': (settings, draw, { owners }) => ({
    owners: { ...settings.owners, targets: owners.slice(0, draw.between(1, 2)) },
  }),
  'owners of the assets': (settings) => ({
    owners: { ...settings.owners, targets: 'of the assets' as const },
  }),
  'all owners': (settings, _, { owners }) => ({ owners: { ...settings.owners, targets: owners } }),
  'empty accounts': (settings) => ({
    owners: { ...settings.owners, showsEmpty: !settings.owners.showsEmpty },
  }),
  'the owners job is renamed': (settings, draw) => ({
    owners: { ...settings.owners, name: draw.pick(['owners', 'wallets']) },
  }),
  'a job over the same accounts': (settings, draw) => ({
    mints: settings.mints === null ? { pageSize: draw.between(5, 30) } : null,
  }),
  partitions: (settings, draw) => ({
    collections: { ...settings.collections, partitions: draw.pick([1, 2, 4]), mode: 'full' as const },
  }),
  mode: (settings, draw) => ({
    collections: {
      ...settings.collections,
      partitions: 1,
      mode: draw.pick(['full', 'incremental'] as const),
    },
  }),
  'one collection': (settings, draw, { collections }) => ({
    collections: { ...settings.collections, targets: [draw.pick(collections)] },
  }),
  'all collections': (settings, _, { collections }) => ({
    collections: { ...settings.collections, targets: collections },
  }),
  'the collections job is renamed': (settings, draw) => ({
    collections: { ...settings.collections, name: draw.pick(['collections', 'groups']) },
  }),
  content: (_, draw) => ({
    content: draw.pick([
      null,
      { of: 'all' as const, pageSize: 10 },
      { of: 'new' as const, pageSize: draw.between(3, 20) },
    ]),
  }),
  'the feed is renamed': (settings, draw) => ({
    feed: { ...settings.feed, name: draw.pick(['signatures', 'feed']) },
  }),
  keep_raw_days: (_, draw) => ({ keepRawDays: draw.pick([0, 2, 30]) }),
} satisfies Record<string, (settings: JobSettings, draw: Draw, ledger: Ledger) => Partial<JobSettings>>;

export type Edit = keyof typeof edits;

export const editNames = Object.keys(edits) as readonly Edit[];

export function editSettings(edit: Edit, settings: JobSettings, draw: Draw, ledger: Ledger): JobSettings {
  return { ...settings, ...edits[edit](settings, draw, ledger) };
}

/** The first jobs: of every kind there is, as likely as not. */
export function firstSettings(ledger: Ledger, draw: Draw): JobSettings {
  const settings: JobSettings = {
    owners: { name: 'owners', targets: ledger.owners, pageSize: 7, showsEmpty: true },
    mints: null,
    collections: {
      ...{ name: 'collections', targets: ledger.collections, pageSize: 6, partitions: 1 },
      mode: 'full',
    },
    content: { of: 'all', pageSize: 10 },
    feed: { name: 'signatures', pageSize: 5 },
    keepRawDays: 30,
  };
  const edited = Array.from({ length: draw.between(0, 8) }, () => draw.pick(editNames));
  return edited.reduce((before, edit) => editSettings(edit, before, draw, ledger), settings);
}

/** The last nights' settings: every target, in full, so that the tables can be told exactly. */
export function lastSettings(
  settings: JobSettings,
  { owners, collections }: Ledger,
  draw: Draw,
): JobSettings {
  return {
    ...settings,
    owners: { ...settings.owners, targets: owners },
    collections: { ...settings.collections, targets: collections, mode: 'full' },
    content: draw.pick([settings.content, { of: 'all', pageSize: 10 }]),
  };
}

/** The files of an installation, by path. */
export function installationFiles(settings: JobSettings, ledger: Ledger): Record<string, string> {
  const { owners, mints, collections, content, feed, keepRawDays } = settings;
  const list = (values: readonly string[]) => `{ values: [${values.join(', ')}] }`;
  return {
    'ledgerlake.yaml': `
api: { limits: { das: { rps: 2000, burst: 200, concurrency: ${inFlight / 2} }, compression: { rps: 2000, burst: 200, concurrency: ${inFlight / 2} } } }
warehouse: { keep_raw_days: ${keepRawDays} }
lake: { tables: [${lakeTables.join(', ')}] }
`,
    [`jobs/${owners.name}.yaml`]: `
describe: Token accounts of some owners
method: getTokenAccounts
params: { options: { showZeroBalance: ${owners.showsEmpty || mints !== null} } }
${
  owners.targets === 'of the assets'
    ? `for_each: { owner: { sql: select distinct owner from assets where owner is not null order by owner } }
after: [${collections.name}]`
    : `for_each: { owner: ${list(owners.targets)} }`
}
page_size: ${owners.pageSize}
`,
    ...(mints === null
      ? {}
      : {
          'jobs/mints.yaml': `
describe: Token accounts of some mints
method: getTokenAccounts
params: { options: { showZeroBalance: true } }
for_each: { mint: ${list(ledger.mints)} }
page_size: ${mints.pageSize}
`,
        }),
    [`jobs/${collections.name}.yaml`]: `
describe: Assets of some collections
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: ${list(collections.targets)} }
page_size: ${collections.pageSize}
partitions: ${collections.partitions}
mode: ${collections.mode}
${collections.mode === 'incremental' ? 'full_every: 2d' : ''}
`,
    ...(content === null
      ? {}
      : {
          'jobs/content.yaml': `
describe: The content that lists leave out
method: getAssetBatch
after: [${collections.name}]
for_each: { ids: { sql: select id from assets ${content.of === 'new' ? 'where content_seen_at is null' : ''} order by id } }
page_size: ${content.pageSize}
`,
        }),
    [`jobs/${feed.name}.yaml`]: `
describe: Signatures of an address
method: getCompressionSignaturesForAddress
params: { address: ${ledger.address} }
since: all
page_size: ${feed.pageSize}
`,
  };
}

/** Requests in flight at once, of all pools. */
export const inFlight = 16;

/** Tables that are exported. */
export const lakeTables = [
  'assets',
  'assets_history',
  'compression_signatures',
  'token_accounts',
  'token_accounts_history',
];
