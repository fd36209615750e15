// What is the least that a run of assets takes on this machine? Its steps as plain statements of DuckDB, one thread each:
// no quarantine, no checks, no hashes, no history, values that do not fit end it. Beside it the real crawl and the real
// run over the same pages, in turns, in CPU seconds: two cores can end no earlier than after half of them.
//   npx tsx bench/least.ts [--assets 100000] [--rounds 3] [--dir /tmp]
import { closeSync, copyFileSync, fsyncSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { landingStructure } from '../src/model/describe-mapping.ts';
import { readTableModels, type TableModel } from '../src/model/table-model.ts';
import { askBench, askLedgerlake, type Bench, quiet, targetsOf, warm } from './contestants.ts';
import { openPlace } from './place.ts';
import { startServer } from './start-server.ts';

const { values: option } = parseArgs({
  options: {
    assets: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    dir: { type: 'string', default: tmpdir() },
  },
});
const [assets, rounds] = [Number(option.assets), Number(option.rounds)];
const structure = landingStructure(readTableModels().find(({ name }) => name === 'assets') as TableModel);

/** The type that DuckDB reads a record as. Attributes are a list or a map: JSON. */
function typeOf(shape: unknown, name = ''): string {
  if (typeof shape === 'string') return shape;
  if (name === 'attributes') return 'JSON';
  if (Array.isArray(shape)) return `${typeOf(shape[0])}[]`;
  const members = Object.entries(shape as object).map(
    ([name, member]) => `"${name}" ${typeOf(member, name)}`,
  );
  return `STRUCT(${members.join(', ')})`;
}

/** CPU seconds by step, of the landing log of a crawl. */
async function takeSteps(root: string, landing: string): Promise<Record<string, number>> {
  const logs = readdirSync(landing).filter((name) => /^\d+\.ndjson$/.test(name));
  const spent: Record<string, number> = {};
  const step = async (name: string, work: () => unknown) => {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    spent[name] = (spent[name] ?? 0) + (user + system) / 1e6;
  };
  const file = join(root, 'tables.duckdb');
  const instance = await DuckDBInstance.create(file, { threads: '1', memory_limit: '512MB' });
  const connection = await instance.connect();
  const longest = 'maximum_object_size = 8388608';
  const columns = `{page: 'BIGINT', n: 'BIGINT', record: '${typeOf(JSON.parse(structure))}'}`;
  const parquet = '(format parquet, compression zstd, compression_level 1, row_group_size 8192)';
  for (const log of logs) {
    const [from, staged, archived] = [
      join(landing, log),
      join(root, `${log}.rows`),
      join(root, `${log}.text`),
    ];
    await step('typed rows, as Parquet', () =>
      connection.run(
        `copy (select page, n, record.* from read_json('${from}', records = true, format = 'newline_delimited', ${longest}, columns = ${columns}))
        to '${staged}' ${parquet}`,
      ),
    );
    await step('records as they came, as Parquet', () =>
      connection.run(
        `copy (select json from read_ndjson_objects('${from}', ${longest})) to '${archived}' ${parquet}`,
      ),
    );
    await step('fsync of both', () => [staged, archived].forEach(sync));
  }
  await step('rows into a table', async () => {
    await connection.run(`create table assets as from read_parquet('${root}/*.rows')`);
    await connection.run('checkpoint');
  });
  connection.closeSync();
  instance.closeSync();
  await step('a copy of the tables for readers', () => {
    copyFileSync(file, `${file}.copy`);
    sync(`${file}.copy`);
  });
  return spent;
}

function sync(path: string): void {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
}

const median = (all: readonly number[]) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)]!;

const targets = targetsOf('asset', assets);
const server = await startServer(targets);
const dir = mkdtempSync(join(option.dir, 'bench-least-'));
const bench = { url: server.url, dir } as Bench;
const taken = new Map<string, number[]>();
const note = (name: string, value: number) => taken.set(name, [...(taken.get(name) ?? []), value]);
try {
  await warm(bench, targets);
  for (let round = 0; round < rounds; round += 1) {
    note('HTTP + JSON.parse, wall', (await askBench(bench, 'parse', targets, dir)).seconds);
    const run = await askLedgerlake(bench, dir, ['run'], targets);
    note('ledgerlake run', run.cpuSeconds);
    note('ledgerlake run, wall', run.seconds);
    const place = openPlace(dir, server.url, { lake: false });
    place.addJob('all', targets);
    note('ledgerlake crawl', (await place.cli('crawl', 'all', ...quiet)).cpuSeconds);
    const root = mkdtempSync(join(dir, 'plain-'));
    const steps = await takeSteps(root, join(place.data, 'landing'));
    for (const [name, seconds] of Object.entries(steps)) note(name, seconds);
    for (const left of readdirSync(dir)) rmSync(join(dir, left), { recursive: true, force: true });
  }
} finally {
  server.close();
  rmSync(dir, { recursive: true, force: true });
}
const of = (name: string) => median(taken.get(name)!);
const steps = [...taken.keys()].filter((name) => name !== 'ledgerlake run' && !name.endsWith('wall'));
const least = steps.reduce((sum, name) => sum + of(name), 0);
console.log(`${assets} assets, medians of ${rounds}\n\n| CPU seconds | |\n|---|---|`);
for (const name of steps) console.log(`| ${name} | ${of(name).toFixed(2)} |`);
console.log(
  `| **these together** | **${least.toFixed(2)}** |\n| ledgerlake run | ${of('ledgerlake run').toFixed(2)} |`,
);
const floor = of('HTTP + JSON.parse, wall');
console.log(`
HTTP + JSON.parse takes ${floor.toFixed(2)} s, the run ${of('ledgerlake run, wall').toFixed(2)} s: ${(floor / of('ledgerlake run, wall')).toFixed(2)}.
Two cores that never wait end these steps after ${(least / 2).toFixed(2)} s: ${((floor * 2) / least).toFixed(2)}.`);
