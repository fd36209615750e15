import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCli } from '../run-cli.ts';
import { type AssetList, createAssetList } from './asset-list.ts';
import { createDraw, type Draw } from './draw.ts';
import { type MovingServer, startMovingServer, type World } from './moving-server.ts';
import { createSignatureFeed, feedStart, type SignatureFeed } from './signature-feed.ts';
import { readTables, type Tables } from './warehouse-rows.ts';

/** How a night ends: by itself, by SIGKILL, or because its requests are used up. */
export type Night =
  | { kind: 'full' }
  | { kind: 'budget'; requests: number }
  | { kind: 'kill'; atRequest: number; afterMs: number };

export interface NightEnded {
  night: Night;
  code: number | null;
  stderr: string;
  /** Rows of `assets` inserted, changed or amended; null when it told nothing. */
  written: number | null;
}

/** Requests in flight at once, of each pool. */
export const inFlight = 8;
/** Slot that the feeds of the job `feed-slot` begin at. */
export const sinceSlot = feedStart + 40;
/** Feed jobs; the targets are dealt out among them. */
const feedJobs = { 'feed-all': 'all', 'feed-slot': `{ slot: ${sinceSlot} }`, 'feed-pages': '{ pages: 2 }' };
export type FeedJob = keyof typeof feedJobs;

/** A data folder, its jobs, and the ledgers they follow. */
export interface MovingPlace extends World {
  server: MovingServer;
  jobOf(feed: SignatureFeed): FeedJob;
  run(night: Night): Promise<NightEnded>;
  /** Null as long as there is no snapshot. */
  read(): Promise<Tables | null>;
  close(): Promise<void>;
}

export interface PlaceOptions {
  seeds: readonly number[];
  /** The provider has page numbers only. */
  numbered?: boolean;
}

export async function openMovingPlace({ seeds, numbered = false }: PlaceOptions): Promise<MovingPlace> {
  const draw = createDraw(seeds[0]!);
  const lists = seeds.map((seed) => createAssetList(seed, numbered));
  const feeds = seeds.map(createSignatureFeed);
  const server = await startMovingServer({ lists, feeds }, seeds[0]!, 0.01);
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-moving-'));
  const names = Object.keys(feedJobs) as FeedJob[];
  const jobOf = (feed: SignatureFeed) => names[feed.seed % names.length]!;
  await writePlace(root, draw, lists, feeds, jobOf);
  const snapshot = join(root, 'data/warehouse.duckdb');
  return {
    ...{ lists, feeds, server, jobOf },
    run: (night) => runNight(root, server, night),
    read: async () => (existsSync(snapshot) ? readTables(snapshot) : null),
    async close() {
      await server.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function writePlace(
  root: string,
  draw: Draw,
  lists: readonly AssetList[],
  feeds: readonly SignatureFeed[],
  jobOf: (feed: SignatureFeed) => FeedJob,
): Promise<void> {
  const pool = `{rps: 5000, burst: 200, concurrency: ${inFlight}}`;
  const files: Record<string, string> = {
    'ledgerlake.yaml': `api: {limits: {das: ${pool}, compression: ${pool}}}\n`,
    'jobs/targets/lists.txt': lists.map(({ collection }) => collection).join('\n'),
    'jobs/lists.yaml': `describe: moving lists
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { file: targets/lists.txt } }
page_size: ${draw.pick([4, 7, 15])}
`,
  };
  for (const [job, since] of Object.entries(feedJobs)) {
    const own = feeds.filter((feed) => jobOf(feed) === job);
    if (own.length === 0) continue;
    files[`jobs/targets/${job}.txt`] = own.map(({ address }) => address).join('\n');
    files[`jobs/${job}.yaml`] = `describe: moving feeds
method: getCompressionSignaturesForAddress
for_each: { address: { file: targets/${job}.txt } }
since: ${since}
page_size: ${draw.pick([3, 8])}
`;
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function runNight(root: string, server: MovingServer, night: Night): Promise<NightEnded> {
  const budget = night.kind === 'budget' ? ['--max-requests', `${night.requests}`] : [];
  let kill = (): void => {};
  server.beginNight((count) => {
    if (night.kind === 'kill' && count === night.atRequest) kill();
  });
  const { child, ended } = startCli(['run', ...budget, '--json', '--log-level', 'warn'], {
    cwd: root,
    env: { LEDGERLAKE_RPC_URL: server.url, LEDGERLAKE_API_KEY: 'sandbox' },
  });
  kill = () => {
    if (night.kind === 'kill') void sleep(night.afterMs).then(() => child.kill('SIGKILL'));
  };
  const { code, stdout, stderr } = await ended;
  return { night, code, stderr, written: stdout === '' ? null : countWritten(stdout) };
}

function countWritten(stdout: string): number {
  const { published } = JSON.parse(stdout) as {
    published: { tables: Record<string, Record<'inserted' | 'changed' | 'amended', number>> };
  };
  const { inserted, changed, amended } = published.tables.assets ?? { inserted: 0, changed: 0, amended: 0 };
  return inserted + changed + amended;
}

/** How many requests a whole night takes is not known: a kill that comes too late is a full night. */
export function drawNights(seed: number, count: number, requests: number): Night[] {
  const draw = createDraw(seed + 7);
  return Array.from({ length: count }, () => {
    const kind = draw.pick(['full', 'budget', 'budget', 'kill', 'kill', 'kill'] as const);
    const at = draw.between(1, requests);
    if (kind === 'full') return { kind };
    if (kind === 'budget') return { kind, requests: at };
    // Some at once, some later: among the segments, in the publish, in the snapshot.
    return { kind, atRequest: at, afterMs: draw.pick([0, 0, draw.between(1, 800)]) };
  });
}
