// Who takes part in the benchmark's cases, and what each does in its turn.
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Measurement, measureSelf } from './measure.ts';
import { openPlace, operations } from './place.ts';
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
  /** Instead of `left`: bytes that it added. */
  leftBytes?: number;
  /** Bytes by which parts of the data folder grew. */
  grown?: Record<string, number>;
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

export const perTarget = { asset: 10_000, token_account: 20_000 };
export const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));
export const quiet = ['--json', '--no-progress', '--log-level', 'error'];
const names = {
  http: 'HTTP only',
  parse: 'HTTP + JSON.parse',
  peer: 'helius-sdk + JSON.parse + DuckDB appender',
};

/** Targets with so many records in all, from the given number on. */
export function targetsOf(kind: Kind, records: number, from = 0): Target[] {
  const size = Math.min(perTarget[kind], records);
  return listTargets(kind, from, from + Math.ceil(records / size), size);
}

/** Has the server make the pages of targets, so that nobody waits for it. */
export async function warm(bench: Bench, targets: readonly Target[]): Promise<void> {
  await askBench(bench, 'http', targets, bench.dir);
  await takeCounts(bench.url);
}

/** A client of the bench itself: a floor or a peer. */
export async function askBench(
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

export const sumRecords = (targets: readonly Target[]) =>
  targets.reduce((sum, { records }) => sum + records, 0);

/** The program in a folder of its own: one command after the other, taken together. */
export async function askLedgerlake(
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

/** Contestants over one list of targets, each turn in a folder of its own. */
export function contestantsOf(bench: Bench, targets: readonly Target[]) {
  return {
    client: (mode: 'http' | 'parse' | 'peer') => ({
      name: names[mode],
      turn: (_: number, dir: string) => askBench(bench, mode, targets, dir),
    }),
    program: (name: string, commands: readonly string[], lake = false) => ({
      name: `ledgerlake ${name}`,
      turn: (_: number, dir: string) => askLedgerlake(bench, dir, commands, targets, lake),
    }),
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
