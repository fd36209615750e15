import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';
import { clockGain } from './clock.ts';
import { type Ended, runProgram } from './program.ts';
import { writeFiles } from './project.ts';
import { readRows } from './rows.ts';
import { type Call, JsonText, type Script, startScriptedApi } from './scripted-api.ts';

/** What `ledgerlake run --json` prints, as far as the tests look at it. */
export interface Report {
  run: string;
  requests: number;
  saved: number;
  jobs: Record<string, { tasks: number; done: number; failed: number; pages: number; records: number }>;
  published: {
    refused: { id: string; job: string; target: string; reason: string }[];
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

type Files = Readonly<Record<string, string>>;

/** A temporary folder with jobs, a config and a data folder, whose program sends all requests to one API. */
export interface Workplace {
  root: string;
  data: string;
  /** The program with these arguments, in this process. */
  cli(...args: string[]): Promise<Ended>;
  /** The program, a day later than before. */
  nextDay(...args: string[]): Promise<Ended>;
  /** `ledgerlake run --json`. */
  run(...jobs: string[]): Promise<RunResult>;
  /** A run that must be complete. @throws stderr, warnings included, of one that is not */
  mustRun(...jobs: string[]): Promise<Report>;
  /** Moves the clock of the programs from now on ahead, by so many hours more. */
  pass(hours: number): void;
  /** Rows of the snapshot: 64-bit numbers and times as text, structs as objects. */
  rows<T = Record<string, unknown>>(sql: string): Promise<T[]>;
  write(files: Files): Promise<void>;
  /** Everything that its programs printed, and every byte of every file below the folder. */
  everyText(): Promise<string>;
  remove(): Promise<void>;
}

/** @param files by path below the folder: `jobs/a.yaml`; without a `ledgerlake.yaml`, one table is exported */
export async function openWorkplace(url: string, files: Files = {}): Promise<Workplace> {
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-workplace-'));
  const data = join(root, 'data');
  await writeFiles(root, { 'ledgerlake.yaml': 'lake: {tables: [webhooks]}\n', ...files });
  const env = {
    LEDGERLAKE_RPC_URL: url,
    LEDGERLAKE_WALLET_URL: url,
    LEDGERLAKE_WEBHOOK_URL: url,
    LEDGERLAKE_API_KEY: 'sandbox',
  };
  const printed: string[] = [];
  let aheadMs = 0;
  const cli = async (...args: string[]) => {
    const startedAt = performance.now();
    const ended = await runProgram(args, { cwd: root, env, ...(aheadMs > 0 && { aheadMs }) });
    if (aheadMs > 0) aheadMs += clockGain(performance.now() - startedAt);
    printed.push(ended.stdout, ended.stderr);
    return ended;
  };
  const run = async (...jobs: string[]): Promise<RunResult> => {
    const { code, stdout, stderr } = await cli('run', ...jobs, '--json', '--log-level', 'warn');
    return { code, stderr, report: stdout === '' ? ({} as Report) : JSON.parse(stdout) };
  };
  return {
    ...{ root, data, cli, run },
    nextDay(...args) {
      aheadMs += 24 * 3_600_000;
      return cli(...args);
    },
    async mustRun(...jobs) {
      const { code, stderr, report } = await run(...jobs);
      if (code !== 0 || stderr !== '') throw new Error(`exit ${code}: ${stderr}`);
      return report;
    },
    pass(hours) {
      aheadMs += hours * 3_600_000;
    },
    rows: (sql) => readRows(join(data, 'warehouse.duckdb'), sql),
    write: (texts) => writeFiles(root, texts),
    everyText: async () => [await readTree(root), ...printed].join('\n'),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

async function readTree(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1'));
  return (await Promise.all(texts)).join('\n');
}

/** Gives the `result` of a request as JSON text, or throws an RpcError or a RawReply. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads the parameters it expects
export type Answer = (operation: string, params: any) => string;

/** A workplace whose API answers by a script of JSON texts; both are gone when the test ends. */
export async function openScripted(answer: Answer, files: Files): Promise<ScriptedWorkplace> {
  const place = await openScriptable(files);
  place.answer(({ operation, params }) => new JsonText(answer(operation, params)));
  return place;
}

/** A workplace whose API answers as the test sets it. */
export interface ScriptedWorkplace extends Workplace {
  /** Sets what the API answers from now on. */
  answer(script: Script): void;
  /** Every request since that was set. */
  calls(): readonly Call[];
}

/** A workplace whose API the test scripts later; both are gone when the test ends. */
export async function openScriptable(files: Files): Promise<ScriptedWorkplace> {
  const api = await startScriptedApi();
  const place = await openWorkplace(api.url, files);
  onTestFinished(async () => {
    await api.close();
    await place.remove();
  });
  return { ...place, answer: api.setScript, calls: () => api.calls };
}

/** A workplace on a sandbox of its own. */
export interface SandboxWorkplace extends Workplace {
  sandbox: Sandbox;
}

/** A sandbox and a workplace on it, which the caller removes together. */
export async function makeSandboxWorkplace(
  options: SandboxOptions,
  files: Files = {},
): Promise<SandboxWorkplace> {
  const sandbox = await startSandbox({ assets: 1500, owners: 60, ...options });
  const place = await openWorkplace(sandbox.url, files);
  return {
    ...place,
    sandbox,
    async remove() {
      await sandbox.close();
      await place.remove();
    },
  };
}

/** The same, gone when the test ends. */
export async function openSandboxWorkplace(
  options: SandboxOptions,
  files: Files = {},
): Promise<SandboxWorkplace> {
  const place = await makeSandboxWorkplace(options, files);
  onTestFinished(() => place.remove());
  return place;
}
