// The benchmark: what ledgerlake takes, against what no client could be faster than and what a user would write
// instead, in one run, taking turns. Prints the tables, writes bench/results/<date>.json. docs/performance.md explains.
//   make bench, or: npx tsx bench/run.ts [--quick] [--rounds 5] [--assets 200000] [--accounts 1000000]
//     [--targets 5000] [--warehouse 1000000] [--next 200000] [--only assets,start] [--dir /tmp]
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isMet, listBars } from './bars.ts';
import { listAllTargets, listCases } from './cases.ts';
import { type BenchCase, type Options, sizeOf, takeCounts } from './contestants.ts';
import { type BenchResult, type CaseResult, describeMachine } from './results.ts';
import { startServer } from './start-server.ts';
import { renderTables } from './tables.ts';

const sizes = {
  rounds: 5,
  assets: 200_000,
  accounts: 1_000_000,
  targets: 5000,
  warehouse: 1_000_000,
  next: 200_000,
};
const quickSizes = {
  rounds: 1,
  assets: 20_000,
  accounts: 100_000,
  targets: 500,
  warehouse: 40_000,
  next: 20_000,
};

function readOptions(): { options: Options; only: string[] | null; dir: string } {
  const sizeOptions = Object.fromEntries(
    Object.keys(sizes).map((name) => [name, { type: 'string' as const }]),
  );
  const { values } = parseArgs({
    options: {
      ...sizeOptions,
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      dir: { type: 'string', default: tmpdir() },
    },
  });
  const given = values as { [name: string]: unknown };
  const base = Object.entries(values.quick ? quickSizes : sizes);
  const options = Object.fromEntries(base.map(([name, size]) => [name, Number(given[name] ?? size)]));
  // Lists are of whole pages, and of one size, so that a target is the same one in every case.
  for (const name of ['assets', 'accounts', 'warehouse', 'next'])
    if (!(options[name]! > 0) || options[name]! % 20_000 !== 0)
      throw new Error(`--${name} takes a multiple of 20,000, not ${given[name]}`);
  return { options: options as never, only: values.only?.split(',') ?? null, dir: values.dir };
}

/** Every contestant once a round. */
async function playCase(
  name: string,
  one: BenchCase,
  url: string,
  rounds: number,
  dir: string,
): Promise<CaseResult> {
  await one.prepare();
  const players = Object.entries(one.contestants);
  const result: CaseResult = {
    title: one.title,
    floor: one.floor,
    contestants: Object.fromEntries(players.map(([key, { name }]) => [key, { name, samples: [] }])),
  };
  for (let round = 0; round < rounds; round += 1) {
    const shift = one.inOrder ? 0 : round % players.length;
    for (const [key, { turn }] of [...players.slice(shift), ...players.slice(0, shift)]) {
      const place = mkdtempSync(join(dir, `${name}-${key}-`));
      await takeCounts(url);
      const { seconds, cpuSeconds, peakMb, rows, left, leftBytes, grown } = await turn(round, place);
      const { requests, bytes } = await takeCounts(url);
      const diskMb = (leftBytes ?? (left === undefined ? 0 : sizeOf(left))) / 1e6;
      const sample = { seconds, cpuSeconds, peakMb, rows, requests, receivedMb: bytes / 1e6, diskMb };
      const grownMb = Object.entries(grown ?? {}).map(([part, bytes]) => [part, bytes / 1e6]);
      result.contestants[key]!.samples.push(
        grown === undefined ? sample : { ...sample, grownMb: Object.fromEntries(grownMb) },
      );
      rmSync(place, { recursive: true });
      process.stderr.write(`${name} ${round + 1}/${rounds} ${key}: ${seconds.toFixed(2)} s\n`);
    }
  }
  one.finish?.();
  return result;
}

async function main(): Promise<void> {
  const { options, only, dir: parent } = readOptions();
  const dir = mkdtempSync(join(parent, 'ledgerlake-bench-'));
  const server = await startServer(listAllTargets(options));
  const result: BenchResult = {
    date: new Date().toISOString(),
    command: ['npx tsx bench/run.ts', ...process.argv.slice(2)].join(' '),
    machine: describeMachine(),
    options: { ...options },
    cases: {},
  };
  try {
    for (const [name, one] of Object.entries(listCases({ options, url: server.url, dir }))) {
      if (only?.includes(name) === false) continue;
      result.cases[name] = await playCase(name, one, server.url, options.rounds, dir);
    }
  } finally {
    server.close();
    rmSync(dir, { recursive: true, force: true });
  }
  const folder = fileURLToPath(new URL('results/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${result.date.replaceAll(':', '')}.json`);
  writeFileSync(file, `${JSON.stringify(result, null, 1)}\n`);
  console.log(`${renderTables(result)}\n\nWritten to ${file}`);
  if (!listBars(result).every(isMet)) console.log('Some bars are not met.');
}

await main();
