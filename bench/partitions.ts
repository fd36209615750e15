// How much faster is a collection in 8 ranges of ids than in one walk, and how much of the plan's rate is used?
// The real program, against a sandbox in a process of its own; both crawls in one run. See docs/how-to.md.
//   npx tsx bench/partitions.ts [--pages 200] [--latency 300] [--rps 20]
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import type { ReceivedRequest } from '../src/sandbox/front-desk.ts';
import { startSandbox } from '../src/sandbox/server.ts';

const { values: option } = parseArgs({
  options: {
    pages: { type: 'string', default: '200' },
    latency: { type: 'string', default: '300' },
    rps: { type: 'string', default: '20' },
    serve: { type: 'boolean', default: false },
  },
});
const [pages, latencyMs, rps] = [Number(option.pages), Number(option.latency), Number(option.rps)];
const pageSize = 100;
const here = fileURLToPath(import.meta.url);

/** Where the sandbox listens, and the one collection it has. */
interface Served {
  url: string;
  collection: string;
}

async function serve(): Promise<void> {
  const world = { assets: pages * pageSize, collections: 1, owners: 1000, quirks: false };
  const sandbox = await startSandbox({ ...world, latencyMs, rps });
  process.send?.({ url: sandbox.url, collection: sandbox.world.truth().collections()[0]! } satisfies Served);
  process.on('disconnect', () => void sandbox.close());
}

/** Crawls the collection into an empty folder; what the sandbox saw of it. */
async function crawl({ url, collection }: Served, partitions: number) {
  const root = mkdtempSync(join(tmpdir(), 'bench-partitions-'));
  mkdirSync(join(root, 'jobs'));
  writeFileSync(join(root, 'ledgerlake.yaml'), `api: { limits: { das: { rps: ${rps} } } }\n`);
  writeFileSync(
    join(root, 'jobs/list.yaml'),
    `describe: One collection
method: getAssetsByGroup
params: { groupKey: collection, groupValue: ${collection} }
page_size: ${pageSize}
partitions: ${partitions}
`,
  );
  const before = (await readRequests(url)).length;
  const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url));
  const env = { PATH: process.env.PATH, LEDGERLAKE_RPC_URL: url, LEDGERLAKE_API_KEY: 'sandbox' };
  const args = [...process.execArgv, cli, 'crawl', '--json', '--no-progress', '--log-level', 'error'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env });
  rmSync(root, { recursive: true });
  const asked = (await readRequests(url)).slice(before);
  const { records } = (JSON.parse(stdout) as { jobs: { list: { records: number } } }).jobs.list;
  // The last answer waits as long as any.
  const seconds = (asked.at(-1)!.at - asked[0]!.at + latencyMs) / 1000;
  return { partitions, records, requests: asked.length, throttled: countThrottled(asked), seconds };
}

async function readRequests(url: string): Promise<ReceivedRequest[]> {
  return (await fetch(`${url}/_sandbox/requests`)).json() as Promise<ReceivedRequest[]>;
}

function countThrottled(asked: readonly ReceivedRequest[]): number {
  return asked.filter(({ status }) => status === 429).length;
}

async function compare(): Promise<void> {
  const child = fork(here, [
    '--serve',
    '--pages',
    option.pages,
    '--latency',
    option.latency,
    '--rps',
    option.rps,
  ]);
  try {
    const [served] = (await once(child, 'message')) as [Served];
    const runs = [await crawl(served, 1), await crawl(served, 8)];
    console.log(
      `one collection in pages of ${pageSize}, ${latencyMs} ms an answer, ${rps} requests/s allowed\n`,
    );
    console.log('| partitions | records | requests | 429 | seconds | requests/s | of the limit |');
    console.log('|---|---|---|---|---|---|---|');
    for (const { partitions, records, requests, throttled, seconds } of runs) {
      const rate = requests / seconds;
      const share = `${((100 * rate) / rps).toFixed(0)} %`;
      const cells = [partitions, records, requests, throttled, seconds.toFixed(1), rate.toFixed(1), share];
      console.log(`| ${cells.join(' | ')} |`);
    }
    const [one, many] = runs as [(typeof runs)[0], (typeof runs)[0]];
    console.log(`\n${(one.seconds / many.seconds).toFixed(1)} times faster`);
    if (one.records !== many.records) throw new Error('the two crawls brought different numbers of records');
  } finally {
    child.disconnect();
  }
}

await (option.serve ? serve() : compare());
