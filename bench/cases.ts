// The cases of the benchmark: who takes part, and what each does in its turn.
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Measurement, measure, measureSelf } from './measure.ts';
import { openPlace, operations, type Place } from './place.ts';
import { type Kind, listTargets, type Target } from './records.ts';
import type { Counts } from './server.ts';

export interface Options {
  rounds: number;
  assets: number;
  accounts: number;
  /** Targets of five records. */
  targets: number;
  /** Assets that are in the warehouse before the nights that are measured. */
  warehouse: number;
  /** Assets of one such night. */
  next: number;
}

/** What a turn did, beside what it took. */
export interface Turn extends Measurement {
  rows: number;
  /** Folder or file that it left; measured, then removed with the turn's folder. */
  left?: string;
}

export interface BenchCase {
  title: string;
  floor: string;
  /** Before the rounds, and not measured: has the server make its pages, for one. */
  prepare(): Promise<void>;
  /** Turns build on each other; otherwise each round begins with another contestant. */
  inOrder?: true;
  /** By key: name and turn. Keys in the order of the first round. */
  contestants: Record<string, { name: string; turn(round: number, dir: string): Promise<Turn> }>;
  /** After them. */
  finish?(): void;
}

export interface Bench {
  options: Options;
  url: string;
  /** An empty folder for the whole run. */
  dir: string;
}

const perTarget = { asset: 10_000, token_account: 20_000 };
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const quiet = ['--json', '--no-progress', '--log-level', 'error'];
const names = {
  http: 'HTTP only',
  parse: 'HTTP + JSON.parse',
  peer: 'helius-sdk + JSON.parse + DuckDB appender',
};

/** Targets with so many records in all, from the given number on. */
function targetsOf(kind: Kind, records: number, from = 0): Target[] {
  const size = Math.min(perTarget[kind], records);
  return listTargets(kind, from, from + Math.ceil(records / size), size);
}

/** Small targets are numbered from here: the collections before them are large. */
const firstSmall = 1_000_000;

/** All that the server must know. */
export function listAllTargets(options: Options): Target[] {
  const warehouse = options.warehouse + options.rounds * options.next;
  return [
    ...targetsOf('asset', Math.max(options.assets, warehouse)),
    ...targetsOf('token_account', options.accounts),
    ...listTargets('asset', firstSmall, firstSmall + options.targets, 5),
  ];
}

export function listCases(bench: Bench): Record<string, BenchCase> {
  const { assets, accounts, targets, warehouse } = bench.options;
  return {
    assets: assetsCase(bench, targetsOf('asset', assets)),
    accounts: accountsCase(bench, targetsOf('token_account', accounts)),
    targets: targetsCase(bench, listTargets('asset', firstSmall, firstSmall + targets, 5)),
    ...warehouseCases(bench, targetsOf('asset', warehouse)),
    start: startCase(),
  };
}

/** Has the server make the pages of targets, so that nobody waits for it. */
async function warm(bench: Bench, targets: readonly Target[]): Promise<void> {
  await askBench(bench, 'http', targets, bench.dir);
  await takeCounts(bench.url);
}

/** A client of the bench itself: a floor or a peer. */
async function askBench(
  bench: Bench,
  mode: 'http' | 'parse' | 'peer',
  targets: readonly Target[],
  dir: string,
): Promise<Turn> {
  const operation = operations[targets[0]!.kind];
  const file = join(dir, 'targets.txt');
  writeFileSync(file, targets.map(({ name }) => `${name}\n`).join(''));
  const database = join(dir, 'peer.duckdb');
  const rows = sumRecords(targets);
  if (mode !== 'peer') {
    const floor = ['--import', 'tsx', script('floor.ts'), bench.url, mode, operation, file];
    return { ...(await measureSelf(floor)), rows };
  }
  const peer = [script('peers/helius-duckdb.mjs'), bench.url, operation, file, database];
  return { ...(await measureSelf(peer)), rows, left: database };
}

const sumRecords = (targets: readonly Target[]) => targets.reduce((sum, { records }) => sum + records, 0);

/** The program in a folder of its own: one command after the other, taken together. */
async function askLedgerlake(
  bench: Bench,
  dir: string,
  commands: readonly string[],
  targets: readonly Target[],
  lake = false,
): Promise<Turn> {
  const place = openPlace(dir, bench.url, { lake });
  place.addJob('all', targets);
  const turns: Measurement[] = [];
  for (const command of commands) {
    turns.push(await place.cli(command, ...(command === 'load' ? [] : ['all']), ...quiet));
  }
  return {
    seconds: turns.reduce((sum, { seconds }) => sum + seconds, 0),
    cpuSeconds: turns.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    peakMb: Math.max(...turns.map(({ peakMb }) => peakMb)),
    stdout: '',
    rows: sumRecords(targets),
    left: place.data,
  };
}

function assetsCase(bench: Bench, targets: readonly Target[]): BenchCase {
  return {
    title: `${sumRecords(targets).toLocaleString('en-US')} assets of 2 KB, pages of 1,000`,
    floor: 'parse',
    prepare: () => warm(bench, targets),
    contestants: {
      http: { name: names.http, turn: (_, dir) => askBench(bench, 'http', targets, dir) },
      parse: { name: names.parse, turn: (_, dir) => askBench(bench, 'parse', targets, dir) },
      peer: { name: names.peer, turn: (_, dir) => askBench(bench, 'peer', targets, dir) },
      crawl: { name: 'ledgerlake crawl', turn: (_, dir) => askLedgerlake(bench, dir, ['crawl'], targets) },
      run: {
        name: 'ledgerlake run, without export',
        turn: (_, dir) => askLedgerlake(bench, dir, ['run'], targets),
      },
      export: {
        name: 'ledgerlake run, with export',
        turn: (_, dir) => askLedgerlake(bench, dir, ['run'], targets, true),
      },
    },
  };
}

function accountsCase(bench: Bench, targets: readonly Target[]): BenchCase {
  return {
    title: `${sumRecords(targets).toLocaleString('en-US')} token accounts of 0.25 KB, pages of 1,000`,
    floor: 'parse',
    prepare: () => warm(bench, targets),
    contestants: {
      http: { name: names.http, turn: (_, dir) => askBench(bench, 'http', targets, dir) },
      parse: { name: names.parse, turn: (_, dir) => askBench(bench, 'parse', targets, dir) },
      peer: { name: names.peer, turn: (_, dir) => askBench(bench, 'peer', targets, dir) },
      rows: {
        name: 'ledgerlake crawl, then load: typed rows',
        turn: (_, dir) => askLedgerlake(bench, dir, ['crawl', 'load'], targets),
      },
      run: {
        name: 'ledgerlake run, without export',
        turn: (_, dir) => askLedgerlake(bench, dir, ['run'], targets),
      },
    },
  };
}

function targetsCase(bench: Bench, targets: readonly Target[]): BenchCase {
  return {
    title: `${targets.length.toLocaleString('en-US')} targets of 5 assets, two requests each`,
    floor: 'http',
    prepare: () => warm(bench, targets),
    contestants: {
      http: { name: names.http, turn: (_, dir) => askBench(bench, 'http', targets, dir) },
      crawl: { name: 'ledgerlake crawl', turn: (_, dir) => askLedgerlake(bench, dir, ['crawl'], targets) },
      run: {
        name: 'ledgerlake run, without export',
        turn: (_, dir) => askLedgerlake(bench, dir, ['run'], targets),
      },
    },
  };
}

/** Most assets crawled at once while the warehouse is filled: the landing log of more would fill a small disk. */
const fillAtOnce = 1_000_000;

/** Nights over a warehouse that is full, and its export: both on the same folder. */
function warehouseCases(bench: Bench, filled: readonly Target[]): Record<'warehouse' | 'export', BenchCase> {
  const { options, url, dir } = bench;
  const night = filled.slice(0, Math.ceil(options.next / perTarget.asset));
  const rows = sumRecords(night);
  const fresh = (round: number) => targetsOf('asset', options.next, filled.length + round * night.length);
  let full: Place;
  const total = options.warehouse.toLocaleString('en-US');
  return {
    warehouse: {
      title: `${rows.toLocaleString('en-US')} assets a night, ${total} in the warehouse`,
      floor: 'empty',
      inOrder: true,
      async prepare() {
        mkdirSync(join(dir, 'full'));
        full = openPlace(join(dir, 'full'), url, { lake: false });
        const chunk = fillAtOnce / perTarget.asset;
        for (let from = 0; from < filled.length; from += chunk) {
          full.addJob(`fill-${from}`, filled.slice(from, from + chunk));
          await full.cli('run', `fill-${from}`, ...quiet);
        }
        full.addJob('night', night);
        await full.cli('run', 'night', ...quiet);
      },
      contestants: {
        empty: {
          name: 'ledgerlake run into an empty warehouse',
          async turn(round, into) {
            await warm(bench, fresh(round));
            return askLedgerlake(bench, into, ['run'], fresh(round));
          },
        },
        next: {
          name: 'ledgerlake run, the same assets, into the full one',
          async turn(round) {
            full.addJob(`next-${round}`, fresh(round));
            return { ...(await full.cli('run', `next-${round}`, ...quiet)), rows, left: full.data };
          },
        },
        http: {
          name: 'HTTP only, of a night',
          async turn(_, into) {
            await warm(bench, night);
            return askBench(bench, 'http', night, into);
          },
        },
        night: {
          name: 'ledgerlake run, a night of unchanged assets',
          async turn() {
            await fetch(`${url}/_bench/night`);
            return { ...(await full.cli('run', 'night', ...quiet)), rows, left: full.data };
          },
        },
      },
    },
    export: {
      title: `Export of ${total} assets and more from the warehouse above`,
      floor: 'copy',
      prepare: async () => {},
      contestants: {
        copy: {
          name: "DuckDB's COPY, default settings",
          async turn(_, into) {
            const file = join(into, 'assets.parquet');
            const copy = [
              '--import',
              'tsx',
              script('copy.ts'),
              join(full.data, 'warehouse.duckdb'),
              'assets',
              file,
            ];
            return { ...(await measureSelf(copy)), rows: options.warehouse, left: file };
          },
        },
        export: {
          name: 'ledgerlake export assets',
          async turn() {
            const left = join(full.data, 'lake');
            rmSync(left, { recursive: true, force: true });
            return { ...(await full.cli('export', 'assets', ...quiet)), rows: options.warehouse, left };
          },
        },
      },
      finish: () => full.remove(),
    },
  };
}

function startCase(): BenchCase {
  return {
    title: 'Starting',
    floor: 'node',
    prepare: async () => {},
    contestants: {
      node: { name: 'node -e 0', turn: async () => ({ ...(await measure(['-e', '0'])), rows: 0 }) },
      version: {
        name: 'ledgerlake --version',
        turn: async () => ({ ...(await measure([script('../dist/cli.js'), '--version'])), rows: 0 }),
      },
    },
  };
}

/** Bytes of a file or a folder. */
export function sizeOf(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

/** What the server was asked since the last call. */
export async function takeCounts(url: string): Promise<Counts> {
  return (await fetch(`${url}/_bench/counts`)).json() as Promise<Counts>;
}
