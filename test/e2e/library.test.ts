import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openSnapshot, plan, run, StoppedEarly, UsageError } from '../../src/library.ts';
import { withoutLimits } from '../support/limits.ts';
import { writeFiles } from '../support/project.ts';
import { type Script, type ScriptedApi, startScriptedApi } from '../support/scripted-api.ts';
import { answerList } from '../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const owner = key('Ann');
const most = '18446744073709551615';

/** 15 accounts, in pages of ten. */
const accounts = Array.from({ length: 15 }, (_, n) => ({
  address: key(`Acc${'ABCDEFGHJKLMNPQ'[n]}`),
  ...{ mint: key('Mint'), owner, amount: most },
}));
const answerAccounts: Script = (call) => answerList(call, accounts, { slot: 1000, pageSize: 10 });

/** A project in a folder of its own, and the environment that names its API. */
async function openProject(): Promise<{
  api: ScriptedApi;
  options: { config: string; dataDir: string; jobsDir: string };
}> {
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-library-'));
  await writeFiles(root, {
    'ledgerlake.yaml': withoutLimits('lake: {tables: [webhooks]}\n'),
    'jobs/tokens.yaml': `describe: Accounts\nmethod: getTokenAccounts\nfor_each: {owner: {values: [${owner}]}}\npage_size: 10\n`,
  });
  const api = await startScriptedApi();
  api.setScript(answerAccounts);
  vi.stubEnv('LEDGERLAKE_RPC_URL', api.url);
  vi.stubEnv('LEDGERLAKE_API_KEY', 'sandbox');
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await api.close();
    await rm(root, { recursive: true, force: true });
  });
  const place = { config: join(root, 'ledgerlake.yaml'), dataDir: join(root, 'data') };
  return { api, options: { ...place, jobsDir: join(root, 'jobs') } };
}

/** What a caller would notice of the process. */
function watchProcess() {
  const printed = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')];
  const state = () => ({
    listeners: ['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => process.listenerCount(name)),
    umask: process.umask(),
    exitCode: process.exitCode,
  });
  const before = state();
  onTestFinished(() => void vi.restoreAllMocks());
  return () => {
    expect(state()).toEqual(before);
    for (const write of printed) expect(write).not.toHaveBeenCalled();
  };
}

test('a night is planned, run and read, with exact values, and the process stays as it was', async () => {
  const { options } = await openProject();
  const expectUntouched = watchProcess();
  expect(await plan(options)).toMatchObject({ targets: 1, requests: 2, creditsLeft: null });
  const lines: string[] = [];
  let listeners = -1;
  const log = (line: string) => {
    listeners = process.listenerCount('SIGTERM');
    lines.push(line);
  };
  const before = process.listenerCount('SIGTERM');
  const night = await run({ ...options, log });
  expect(night).toMatchObject({ exitCode: 0, stopped: null, requests: 3 });
  expect(night.jobs.tokens).toMatchObject({ tasks: 1, done: 1, records: 15 });
  expect(night.published.tables.token_accounts).toMatchObject({ inserted: 15 });
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.every((line) => typeof JSON.parse(line).msg === 'string')).toBe(true);
  expect(listeners).toBe(before);

  const snapshot = await openSnapshot(options);
  onTestFinished(() => snapshot.close());
  const [rows, values] = await Promise.all([
    snapshot.query('select distinct owner, amount from token_accounts'),
    snapshot.query(
      `select 0.10::decimal(20, 2) as price, {'a': [1, null]} as nested, timestamptz '2026-01-01 00:00:00+00' as at, null as none`,
    ),
  ]);
  expect(rows).toEqual([{ owner, amount: BigInt(most) }]);
  expect(values).toEqual([
    { price: '0.10', nested: { a: [1, null] }, at: '2026-01-01T00:00:00Z', none: null },
  ]);
  await expect(snapshot.query('from nothing')).rejects.toThrow(UsageError);
  expectUntouched();
});

test('an abort ends a run, which resolves and goes on the next time; an aborted query throws', async () => {
  const { api, options } = await openProject();
  const expectUntouched = watchProcess();
  const controller = new AbortController();
  api.setScript((call) => {
    controller.abort();
    return answerAccounts(call);
  });
  expect(await run({ ...options, signal: controller.signal })).toMatchObject({
    exitCode: 75,
    stopped: { reason: 'stopped by the AbortSignal' },
    jobs: { tokens: { done: 0, pages: 1 } },
  });
  api.setScript(answerAccounts);
  expect(await run(options)).toMatchObject({ exitCode: 0, jobs: { tokens: { done: 1, records: 5 } } });
  const snapshot = await openSnapshot({ ...options, signal: controller.signal });
  onTestFinished(() => snapshot.close());
  await expect(snapshot.query('from assets')).rejects.toThrow(StoppedEarly);
  expectUntouched();
});

test('errors are typed, and one process does not run twice in one data folder', async () => {
  const { api, options } = await openProject();
  await expect(openSnapshot(options)).rejects.toThrow(UsageError);
  await expect(run({ ...options, jobs: ['nosuch'] })).rejects.toMatchObject({
    name: 'UsageError',
    exitCode: 2,
    hint: expect.any(String),
  });
  const umask = process.umask();
  let second: Promise<unknown> | undefined;
  api.setScript(async (call) => {
    if (second === undefined) {
      second = run(options).catch((error: unknown) => error);
      await second;
    }
    return answerAccounts(call);
  });
  expect(await run(options)).toMatchObject({ exitCode: 0 });
  expect(await second).toBeInstanceOf(StoppedEarly);
  expect(process.umask()).toBe(umask);
});
