import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { type DataFolder, dataFolder, makeDataFolder } from '../../src/data-folder.ts';
import { createLandingLog } from '../../src/landing/writer.ts';
import { startLoading } from '../../src/pipeline/load-stage.ts';
import { publishStage, snapshotStage } from '../../src/pipeline/publish-stage.ts';
import { listOldRuns, type RunEntry } from '../../src/pipeline/run-log.ts';
import { openSession, type Session } from '../../src/pipeline/session.ts';
import { listArchived } from '../../src/warehouse/archive-files.ts';
import { openDatabase } from '../../src/warehouse/database.ts';
import { chooseExpired, listExpired, readRemoved } from '../../src/warehouse/retention.ts';
import { newPage, newRecords } from '../landing/pages.ts';
import { runCli } from '../run-cli.ts';

let folder: DataFolder;
const id = (n: number) => String(n + 1).repeat(40);

beforeEach(async () => {
  folder = dataFolder(await mkdtemp(join(tmpdir(), 'retention-')));
  await makeDataFolder(folder);
});
afterEach(() => rm(folder.root, { recursive: true, force: true }));

async function inSession<T>(keepRawDays: number, work: (session: Session) => Promise<T>): Promise<T> {
  const config = await readConfig({ env: {}, cwd: folder.root });
  const session = await openSession({
    config: { ...config, warehouse: { ...config.warehouse, keepRawDays } },
    ...{ folder, log: pino({ level: 'silent' }), verb: 'publish', jobs: [], origins: {} },
  });
  try {
    return await work(session);
  } finally {
    await session.end(0, null);
  }
}

/** Lands a complete crawl, a page for each list of records. */
async function land(crawl: string, pages: readonly (readonly number[])[], slot: number): Promise<void> {
  const landing = createLandingLog({ dir: folder.landing });
  for (const [n, ids] of pages.entries())
    await landing.appendPage(
      newPage(n + 1, {
        ...{ crawl, run: crawl, slot, end: n === pages.length - 1 ? 'exhausted' : null },
        received_at: new Date().toISOString(),
      }),
      newRecords(...ids.map((one) => `{"id":"${id(one)}"}`)),
    );
  await landing.close();
}

const publishAll = (keepRawDays: number) =>
  inSession(keepRawDays, async (session) => {
    await (await startLoading(session)).finish();
    await publishStage(session);
    await snapshotStage(session, { exitCode: 0, stoppedBy: null });
  });

async function snapshotRows<T>(sql: string): Promise<T[]> {
  const options = { memoryLimit: '256MB', threads: 1, tempDir: folder.temp, readOnly: true };
  const database = await openDatabase(folder.snapshot, options);
  return database.rows<T>(sql).finally(() => database.close());
}

test('what stays keeps the records it refers to, and whole crawls', () => {
  const old = (segment: number) => segment < 10;
  expect(chooseExpired([[1], [2], [11]], [], old)).toEqual([1, 2]);
  expect(chooseExpired([[1], [2], [11]], [{ segment: 11, kept: 1 }], old)).toEqual([2]);
  // 11 needs 3, whose crawl has a part in 2, which needs 1.
  const references = [
    { segment: 11, kept: 3 },
    { segment: 2, kept: 1 },
  ];
  expect(chooseExpired([[1], [2, 3], [4], [11]], references, old)).toEqual([4]);
  expect(chooseExpired([[1], [2, 11]], [], old)).toEqual([1]);
});

test('archived segments go after keep_raw_days, except those whose records younger pages refer to', async () => {
  await land('r1', [[0, 1], [2]], 10);
  await publishAll(30);
  await land('r2', [[0, 1], [3]], 20);
  await publishAll(30);
  const [first, second] = (await listArchived(folder.archive)) as [number, number];
  const options = { memoryLimit: '256MB', threads: 1, tempDir: folder.temp };
  const all = new Set([first, second]);
  expect(await listExpired(folder, options, all, second)).toEqual([]);
  expect(await listExpired(folder, options, all, second + 1)).toEqual([first, second]);
  expect(await listExpired(folder, options, new Set([first]), second + 1)).toEqual([]);

  await land('r3', [[4]], 30);
  await publishAll(0);
  expect(await readdir(folder.archive)).toEqual(['removed.json']);
  expect(await readRemoved(folder.archive)).toBeGreaterThan(second);
  expect(await snapshotRows('select id from assets order by id')).toEqual(
    [0, 1, 2, 3, 4].map((n) => ({ id: id(n) })),
  );
  const rebuilt = await runCli(['rebuild', '--from-archive', '--data-dir', folder.root], {
    cwd: folder.root,
  });
  expect(rebuilt).toMatchObject({ code: 2, stderr: expect.stringContaining('does not reach back') });
});

test('of old complete checkpoints the newest stays, and those whose pages are still in the landing log', async () => {
  for (const [crawl, slot] of [
    ['r1', 10],
    ['r2', 20],
    ['r3', 30],
  ] as const) {
    await land(crawl, [[slot]], slot);
    await publishAll(30);
  }
  const slots = () =>
    snapshotRows<{ slot: bigint }>('select last_indexed_slot as slot from meta.checkpoints order by slot');
  expect(await slots()).toHaveLength(3);
  await land('r4', [[4]], 40);
  // Younger than keep_raw_days is what finished today.
  await publishAll(30);
  expect(await slots()).toHaveLength(4);
  await publishAll(0);
  expect(await slots()).toEqual([{ slot: 40n }]);
});

test('old runs leave the logs and stay in the tables; a billing month keeps its lines', async () => {
  const request = (run: string, at: string) =>
    `${JSON.stringify({ run, at, operation: 'getAsset', pool: 'das', attempt: 1, outcome: 'ok', credits: 10, latencyMs: 5, bytes: 9 })}\n`;
  const [old, long] = ['20250101T000000000Z-aaaaaa', '20250102T000000000Z-bbbbbb'];
  const now = new Date().toISOString();
  await writeFile(
    folder.requests,
    request(old, '2025-01-01T00:00:00.000Z') + request(long, '2025-01-02T00:00:00.000Z') + request(long, now),
  );
  const run = (name: string, at: string) =>
    `${JSON.stringify({ run: name, verb: 'run', jobs: ['a'], started_at: at })}\n${JSON.stringify({ run: name, finished_at: at, exit_code: 0, stopped_by: null })}\n`;
  await writeFile(folder.runs, run(old, '2025-01-01T00:00:00.000Z') + run(long, '2025-01-02T00:00:00.000Z'));
  await publishAll(30);
  expect(await readFile(folder.requests, 'utf8')).toBe(
    request(long, '2025-01-02T00:00:00.000Z') + request(long, now),
  );
  expect(await readFile(folder.runs, 'utf8')).not.toMatch(/2025/);
  await publishAll(30);
  expect(await snapshotRows(`select run_id, requests, credits from meta.requests order by run_id`)).toEqual([
    { run_id: old, requests: 1n, credits: 10n },
    { run_id: long, requests: 2n, credits: 20n },
  ]);
  expect(await snapshotRows(`select run_id from meta.runs where run_id < '2026' order by run_id`)).toEqual([
    { run_id: old },
    { run_id: long },
  ]);
});

test('runs of an unfinished round, and the last run, stay in the log', () => {
  const entry = (run: string, exitCode: number | null, jobs = ['a']): RunEntry => ({
    ...{
      run,
      verb: 'run',
      jobs,
      startedAt: `${run}-01-01T00:00:00.000Z`,
      finishedAt: null,
      exitCode,
      stoppedBy: null,
    },
  });
  const before = Date.parse('2030-01-01');
  expect([...listOldRuns([], before)]).toEqual([]);
  expect([...listOldRuns([entry('2001', 0), entry('2002', 0)], before)]).toEqual(['2001']);
  const runs = [
    entry('2001', 0),
    entry('2002', 75),
    entry('2003', 0, ['b']),
    entry('2004', 75),
    entry('2005', 0, ['b']),
  ];
  expect([...listOldRuns(runs, before)]).toEqual(['2001']);
});

test('clean removes what was set aside and left over, and nothing that was received', async () => {
  await land('r1', [[0, 1], [2]], 10);
  await publishAll(30);
  await land('r2', [[3]], 20);
  const leftovers = [
    'build.duckdb.set-aside-x',
    'build.duckdb.tmp',
    'archive/1.parquet',
    'archive/2.pages.parquet.tmp',
    'temp/spilled',
    'staging/7/assets.parquet',
  ];
  for (const name of leftovers) {
    await mkdir(join(folder.root, name, '..'), { recursive: true });
    await writeFile(join(folder.root, name), '12345');
  }
  const clean = async (...args: string[]) => {
    const ended = await runCli(['clean', '--json', '--data-dir', folder.root, ...args], { cwd: folder.root });
    expect(ended.code, ended.stderr).toBe(0);
    return JSON.parse(ended.stdout);
  };
  const list = async () => (await readdir(folder.root, { recursive: true })).sort();
  const before = await list();
  const would = await clean('--dry-run');
  expect(await list()).toEqual(before);
  expect(would).toMatchObject({ dryRun: true, archive: { segments: 0 }, bytes: 30 });
  expect(would.leftovers).toHaveLength(6);
  expect(await clean()).toEqual({ ...would, dryRun: false });
  const gone = new Set(['staging/7', ...leftovers]);
  expect(await list()).toEqual(before.filter((name) => !gone.has(name)));
});
