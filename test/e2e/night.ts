import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { onTestFinished } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import type { WorldOptions } from '../../src/sandbox/world.ts';
import { withoutLimits } from '../support/limits.ts';
import { type Ended, runProgram } from '../support/program.ts';
import { type Answer, type Recorder, startCannedApi, startRecorder } from './recorder.ts';

const root = new URL('../..', import.meta.url).pathname;

/** What `ledgerlake run --json` prints, as far as the tests look at it. */
export interface Report {
  run: string;
  requests: number;
  saved: number;
  jobs: Record<string, { tasks: number; done: number; failed: number; pages: number; records: number }>;
  published: {
    refused: { job: string; target: string; reason: string }[];
    tables: Record<
      string,
      Record<'seen' | 'inserted' | 'changed' | 'amended' | 'confirmed' | 'stale', number>
    >;
  };
}

export interface RunResult {
  code: number | null;
  stderr: string;
  /** Of a run that printed one. */
  report: Report;
}

/** A temporary folder with jobs, a config and a data folder, for one API. */
export interface Workplace {
  root: string;
  data: string;
  /** The program with these arguments, in this process. */
  cli(...args: string[]): Promise<Ended>;
  /** `ledgerlake run`, likewise. */
  run(...jobs: string[]): Promise<RunResult>;
  /** A run, for those that must be complete. @throws what it says on stderr, warnings included */
  mustRun(...jobs: string[]): Promise<Report>;
  /** The clock of what is started from now on goes ahead by so many hours more. */
  pass(hours: number): void;
  /** Rows of the snapshot: 64-bit numbers and times as text, structs as objects. */
  rows<T = Record<string, unknown>>(sql: string): Promise<T[]>;
  remove(): Promise<void>;
}

/** No rate to find out: the tests' servers have no limit. */
const limits = 'limits: {das: {rps: 5000, burst: 200}, compression: {rps: 5000, burst: 200}}';

/** @param files by path below the folder: `jobs/a.yaml`; `ledgerlake.yaml` for what the lake is to have, here one table */
export async function openWorkplace(rpcUrl: string, files: Record<string, string>): Promise<Workplace> {
  const place = await mkdtemp(join(tmpdir(), 'ledgerlake-e2e-'));
  const data = join(place, 'data');
  const config = `api: {${limits}}\nlake: {tables: [webhooks]}\n`;
  for (const [path, text] of Object.entries({ 'ledgerlake.yaml': config, ...files })) {
    await mkdir(dirname(join(place, path)), { recursive: true });
    await writeFile(join(place, path), path === 'ledgerlake.yaml' ? withoutLimits(text) : text);
  }
  const env = { LEDGERLAKE_RPC_URL: rpcUrl, LEDGERLAKE_API_KEY: 'sandbox' };
  let hoursAhead = 0;
  const cli = (...args: string[]) =>
    runProgram(args, { cwd: place, env, ...(hoursAhead > 0 && { aheadMs: hoursAhead * 3_600_000 }) });
  const run = async (...jobs: string[]): Promise<RunResult> => {
    const { code, stdout, stderr } = await cli('run', ...jobs, '--json', '--log-level', 'warn');
    return { code, stderr, report: stdout === '' ? ({} as Report) : JSON.parse(stdout) };
  };
  return {
    root: place,
    data,
    cli,
    run,
    async mustRun(...jobs) {
      const { code, stderr, report } = await run(...jobs);
      if (code !== 0 || stderr !== '') throw new Error(`exit ${code}: ${stderr}`);
      return report;
    },
    pass(hours) {
      hoursAhead += hours;
    },
    rows: (sql) => readRows(join(data, 'warehouse.duckdb'), sql),
    remove: () => rm(place, { recursive: true, force: true }),
  };
}

/** Rows of a database file, or with `:memory:` of files the statement names. */
export async function readRows<T>(path: string, sql: string): Promise<T[]> {
  const access = path === ':memory:' ? 'AUTOMATIC' : 'READ_ONLY';
  const instance = await DuckDBInstance.create(path, { access_mode: access, threads: '1' });
  const connection = await instance.connect();
  try {
    await connection.run("set timezone = 'UTC'");
    return (await connection.runAndReadAll(sql)).getRowObjectsJson() as T[];
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** A sandbox, a recorder of its answers, and a workplace with the shipped jobs aimed at its whole world. */
export interface Night extends Workplace {
  sandbox: Sandbox;
  wire: Recorder;
  close(): Promise<void>;
}

export async function startNight(options: WorldOptions): Promise<Night> {
  const sandbox = await startSandbox(options);
  const wire = await startRecorder(sandbox.url);
  const truth = sandbox.world.truth();
  const place = await openWorkplace(wire.url, {});
  await cp(join(root, 'jobs'), join(place.root, 'jobs'), { recursive: true });
  const targets = join(place.root, 'jobs/targets');
  await writeFile(join(targets, 'collections.txt'), truth.collections().join('\n'));
  await writeFile(join(targets, 'creators.txt'), truth.creators().join('\n'));
  return {
    ...place,
    sandbox,
    wire,
    async close() {
      await wire.close();
      await sandbox.close();
      await place.remove();
    },
  };
}

/** A workplace whose API answers as the test says; both are gone when the test ends. */
export async function openCannedPlace(answer: Answer, files: Record<string, string>): Promise<Workplace> {
  const api = await startCannedApi(answer);
  const place = await openWorkplace(api.url, files);
  onTestFinished(async () => {
    await api.close();
    await place.remove();
  });
  return place;
}
