import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { movedClock, startProgram } from '../../support/program.ts';
import { createDraw, type Draw } from '../../support/random.ts';
import { type AssetList, createAssetList, type Walks } from './asset-list.ts';
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
  /** What guards and audits refused. */
  refused: readonly string[];
}

/** Requests in flight at once, of each pool. */
export const inFlight = 8;
/** Slot that the feeds of the job `feed-slot` begin at. */
export const sinceSlot = feedStart + 40;
/** Feed jobs; the feeds are dealt out among them. */
const feedJobs = { 'feed-all': 'all', 'feed-slot': `{ slot: ${sinceSlot} }`, 'feed-pages': '{ pages: 2 }' };
export type FeedJob = keyof typeof feedJobs;
/** List jobs; the lists are dealt out among them. */
const listJobs = { lists: '', ranges: 'partitions: 3', recent: 'mode: incremental' };
export type ListJob = keyof typeof listJobs;

/** Hours between nights: enough for two answers to count as two, too few for the incremental job's next full crawl. */
const hoursApart = 3;

/** A data folder, its jobs, and the ledgers they follow. */
export interface MovingInstallation extends World {
  server: MovingServer;
  jobOf(feed: SignatureFeed): FeedJob;
  jobOfList(list: AssetList): ListJob;
  run(night: Night): Promise<NightEnded>;
  /** Null as long as there is no snapshot. */
  read(): Promise<Tables | null>;
  close(): Promise<void>;
}

export interface PlaceOptions {
  seeds: readonly number[];
  walks?: Walks;
}

export async function openMovingInstallation({
  seeds,
  walks = 'cursors',
}: PlaceOptions): Promise<MovingInstallation> {
  const draw = createDraw(seeds[0]!);
  const lists = seeds.map((seed) => createAssetList(seed, walks));
  const feeds = seeds.map(createSignatureFeed);
  const server = await startMovingServer({ lists, feeds }, seeds[0]!, 0.01);
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-moving-'));
  const feedNames = Object.keys(feedJobs) as FeedJob[];
  const listNames = Object.keys(listJobs) as ListJob[];
  const jobOf = ({ seed }: SignatureFeed) => feedNames[seed % 3]!;
  const jobOfList = ({ seed }: AssetList) =>
    walks === 'numbers' ? 'lists' : listNames[Math.max(0, (seed % 4) - 1)]!;
  await writePlace(root, [...listFiles(draw, lists, jobOfList), ...feedFiles(draw, feeds, jobOf)]);
  const snapshot = join(root, 'data/warehouse.duckdb');
  let nights = 0;
  return {
    ...{ lists, feeds, server, jobOf, jobOfList },
    run(night) {
      nights += 1;
      return runNight(root, server, night, nights * hoursApart);
    },
    read: async () => (existsSync(snapshot) ? readTables(snapshot) : null),
    async close() {
      await server.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function writePlace(root: string, files: readonly JobFile[]): Promise<void> {
  const pool = `{rps: 5000, burst: 200, concurrency: ${inFlight}}`;
  await mkdir(join(root, 'jobs/targets'), { recursive: true });
  await writeFile(
    join(root, 'ledgerlake.yaml'),
    `api: {limits: {das: ${pool}, compression: ${pool}}}\nlake: {tables: [webhooks]}\n`,
  );
  for (const { name, text, targets } of files) {
    await writeFile(join(root, `jobs/${name}.yaml`), text);
    await writeFile(join(root, `jobs/targets/${name}.txt`), targets.join('\n'));
  }
}

interface JobFile {
  name: string;
  text: string;
  targets: string[];
}

function listFiles(draw: Draw, lists: readonly AssetList[], jobOf: (list: AssetList) => ListJob): JobFile[] {
  const files = Object.entries(listJobs).map(([name, line]) => ({
    name,
    targets: lists.filter((list) => jobOf(list) === name).map(({ collection }) => collection),
    text: `describe: moving lists
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { file: targets/${name}.txt } }
page_size: ${draw.pick([4, 7, 15])}
${line}
`,
  }));
  const content = `describe: content that the lists leave out
method: getAssetBatch
after: [lists]
for_each: { ids: { sql: select id from assets where content_seen_at is null order by id } }
page_size: ${draw.pick([5, 20])}
`;
  const used = files.filter(({ targets }) => targets.length > 0);
  return [...used, { name: 'content', targets: [], text: content }];
}

function feedFiles(
  draw: Draw,
  feeds: readonly SignatureFeed[],
  jobOf: (feed: SignatureFeed) => FeedJob,
): JobFile[] {
  return Object.entries(feedJobs)
    .map(([name, since]) => ({
      name,
      targets: feeds.filter((feed) => jobOf(feed) === name).map(({ address }) => address),
      text: `describe: moving feeds
method: getCompressionSignaturesForAddress
for_each: { address: { file: targets/${name}.txt } }
since: ${since}
page_size: ${draw.pick([3, 8])}
`,
    }))
    .filter(({ targets }) => targets.length > 0);
}

/** @param hours by which the program's clock is ahead */
async function runNight(
  root: string,
  server: MovingServer,
  night: Night,
  hours: number,
): Promise<NightEnded> {
  const budget = night.kind === 'budget' ? ['--max-requests', `${night.requests}`] : [];
  let kill = (): void => {};
  server.beginNight((count) => {
    if (night.kind === 'kill' && count === night.atRequest) kill();
  });
  const { child, ended } = startProgram(['run', ...budget, '--json', '--log-level', 'warn'], {
    cwd: root,
    env: { LEDGERLAKE_RPC_URL: server.url, LEDGERLAKE_API_KEY: 'sandbox', ...movedClock(hours / 24) },
  });
  kill = () => {
    if (night.kind === 'kill') void sleep(night.afterMs).then(() => child.kill('SIGKILL'));
  };
  const { code, stdout, stderr } = await ended;
  return { night, code, stderr, ...(stdout === '' ? { written: null, refused: [] } : readPublished(stdout)) };
}

function readPublished(stdout: string): Pick<NightEnded, 'written' | 'refused'> {
  const { published } = JSON.parse(stdout) as {
    published: {
      tables: Record<string, Record<'inserted' | 'changed' | 'amended', number>>;
      refused: { reason: string }[];
    };
  };
  const { inserted, changed, amended } = published.tables.assets ?? { inserted: 0, changed: 0, amended: 0 };
  return { written: inserted + changed + amended, refused: published.refused.map(({ reason }) => reason) };
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
