import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/server.ts';
import { type Ended, runProgram } from '../../support/program.ts';
import { readRows } from '../night.ts';

/** A sandbox, and an installation whose three URLs lead to it. */
export interface Place {
  root: string;
  data: string;
  sandbox: Sandbox;
  /** Everything the program has said so far, on both streams. */
  said: string[];
  cli(...args: string[]): Promise<Ended>;
  /** `ledgerlake run --json`. @throws what it says on stderr unless it exits with 0 */
  run(...jobs: string[]): Promise<{
    jobs: Record<string, { done: number; failed: number; pages: number; records: number }>;
    published: { tables: Record<string, Record<string, number>> };
  }>;
  /** Rows of the snapshot: 64-bit numbers and times as text. */
  rows<T = Record<string, unknown>>(sql: string): Promise<T[]>;
  write(files: Readonly<Record<string, string>>): Promise<void>;
  /** Every byte of every file below the installation, as one text. */
  everyFile(): Promise<string>;
  remove(): Promise<void>;
}

const limits = ['das', 'compression', 'proof', 'fee', 'wallet', 'webhook']
  .map((pool) => `${pool}: {rps: 5000, burst: 200}`)
  .join(', ');

/** @param files by path below the installation's folder; without a `ledgerlake.yaml`, one table is exported */
export async function makePlace(
  options: SandboxOptions,
  files: Readonly<Record<string, string>> = {},
): Promise<Place> {
  const sandbox = await startSandbox({ assets: 1500, owners: 60, ...options });
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-operations-'));
  const data = join(root, 'data');
  const said: string[] = [];
  const env = {
    LEDGERLAKE_RPC_URL: sandbox.url,
    LEDGERLAKE_WALLET_URL: sandbox.url,
    LEDGERLAKE_WEBHOOK_URL: sandbox.url,
    LEDGERLAKE_API_KEY: 'sandbox',
  };
  const cli = async (...args: string[]) => {
    const ended = await runProgram(args, { cwd: root, env });
    said.push(ended.stdout, ended.stderr);
    return ended;
  };
  const write = async (texts: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(texts)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
  };
  await write({ 'ledgerlake.yaml': `api: {limits: {${limits}}}\nlake: {tables: [webhooks]}\n`, ...files });
  return {
    root,
    data,
    sandbox,
    said,
    cli,
    async run(...jobs) {
      const { code, stdout, stderr } = await cli('run', ...jobs, '--json', '--log-level', 'warn');
      if (code !== 0 || stderr !== '') throw new Error(`exit ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    rows: (sql) => readRows(join(data, 'warehouse.duckdb'), sql),
    write,
    everyFile: () => readTree(root),
    async remove() {
      await sandbox.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** The same, gone when the test ends. */
export async function openPlace(
  options: SandboxOptions,
  files: Readonly<Record<string, string>> = {},
): Promise<Place> {
  const place = await makePlace(options, files);
  onTestFinished(() => place.remove());
  return place;
}

/** Copies the shipped jobs and the examples of the documentation, some of which go on from them, as the place's jobs. */
export async function copyExamples(place: Place): Promise<void> {
  for (const folder of ['../../../jobs', '../../../docs/examples/jobs'])
    await cp(new URL(folder, import.meta.url).pathname, join(place.root, 'jobs'), { recursive: true });
}

async function readTree(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(
    files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')),
  );
  return texts.join('\n');
}
