import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { withoutLimits } from './limits.ts';
import { readRows } from './nights.ts';
import { type Ended, runProgram } from './program.ts';
import { type Call, type Script, startScriptedApi } from './scripted-api.ts';

/** A folder with jobs and a config, whose program asks an API of the test's own. */
export interface CliPlace {
  root: string;
  data: string;
  /** The program, `hoursLater` than the last time: 24 for verbs that ask the API, else 0. */
  cli(args: readonly string[], hoursLater?: number): Promise<Ended>;
  /** What the API answers from now on. */
  answer(script: Script): void;
  /** What it was asked since. */
  calls(): readonly Call[];
  rows<T = Record<string, unknown>>(sql: string): Promise<T[]>;
}

/** Gone when the test ends. The lake has one table that stays empty. @param files by path: `jobs/a.yaml` */
export async function openCliPlace(files: Readonly<Record<string, string>>): Promise<CliPlace> {
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-place-'));
  const all = { 'ledgerlake.yaml': 'lake: {tables: [webhooks]}\n', ...files };
  for (const [path, text] of Object.entries(all)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), path === 'ledgerlake.yaml' ? withoutLimits(text) : text);
  }
  const api = await startScriptedApi();
  onTestFinished(async () => {
    await api.close();
    await rm(root, { recursive: true, force: true });
  });
  const { url } = api;
  const env = {
    ...{ LEDGERLAKE_API_KEY: 'sandbox' },
    ...{ LEDGERLAKE_RPC_URL: url, LEDGERLAKE_WALLET_URL: url },
  };
  let hours = 0;
  return {
    root,
    data: join(root, 'data'),
    cli(args, hoursLater = ['run', 'crawl'].includes(args[0] ?? '') ? 24 : 0) {
      hours += hoursLater;
      return runProgram(args, { cwd: root, env, aheadMs: hours * 3_600_000 });
    },
    answer: api.setScript,
    calls: () => api.calls,
    rows: (sql) => readRows(join(root, 'data/warehouse.duckdb'), sql),
  };
}
