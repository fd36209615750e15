import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { archivedRecords, listArchived, listRecordFiles } from '../../../src/archive/archive-files.ts';
import { restoreSegment } from '../../../src/archive/restore-segment.ts';
import { chooseExpired, listExpired, readRemoved, removeArchived } from '../../../src/archive/retention.ts';
import { chooseSweep } from '../../../src/archive/sweep-texts.ts';
import { readConfig } from '../../../src/config/config.ts';
import { type DataFolder, dataFolder, makeDataFolder } from '../../../src/data-folder.ts';
import { pageFile, recordFile } from '../../../src/landing/segment-files.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { startLoading } from '../../../src/run/load-stage.ts';
import { openSession } from '../../../src/run/open-session.ts';
import { publishStage, snapshotStage } from '../../../src/run/publish-stage.ts';
import { sumRequests, sumRequestsByRun } from '../../../src/run/request-log.ts';
import { listOldRuns } from '../../../src/run/rounds.ts';
import type { RunEntry } from '../../../src/run/run-log.ts';
import type { Session } from '../../../src/run/session.ts';
import { sumRequestLog } from '../../../src/run/sum-requests.ts';
import { openDatabase } from '../../../src/warehouse/database.ts';
import { daily } from '../../levels.ts';
import { newPage, newRecords } from '../../support/pages.ts';
import { runProgram } from '../../support/program.ts';

let folder: DataFolder;
const letters = 'ABCDEFGHJKLMNPQRSTUV';
const id = (n: number) => `Asset${letters[Math.floor(n / 20)]}${letters[n % 20]}`.padEnd(40, '1');

beforeEach(async () => {
  folder = dataFolder(await mkdtemp(join(tmpdir(), 'retention-')));
  await makeDataFolder(folder);
});
afterEach(() => rm(folder.root, { recursive: true, force: true }));

async function inSession<T>(keepRawDays: number, work: (session: Session) => Promise<T>): Promise<T> {
  const config = await readConfig({ env: {}, cwd: folder.root, needsKey: false });
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
      newRecords(
        ...ids.map((one) => `{"id":"${id(one)}","interface":"Custom","ownership":{"owner":"${id(0)}"}}`),
      ),
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

test('crawls stay or go whole', () => {
  const old = (segment: number) => segment < 10;
  expect(chooseExpired([[1], [2, 3], [11]], old)).toEqual([1, 2, 3]);
  expect(chooseExpired([[1], [2, 11]], old)).toEqual([1]);
});

test('archived segments go after keep_raw_days, and the texts that only they had', async () => {
  await land('r1', [[0, 1], [2]], 10);
  await publishAll(30);
  await land('r2', [[0, 1], [3]], 20);
  await publishAll(30);
  const [first, second] = (await listArchived(folder.archive)) as [number, number];
  const options = { memoryLimit: '256MB', threads: 1, tempDir: folder.temp };
  const all = new Set([first, second]);
  const expired = async (settled: ReadonlySet<number>, before: number) =>
    (await listExpired(folder, options, settled, before)).segments;
  expect(await expired(all, first)).toEqual([]);
  expect(await expired(all, second)).toEqual([first]);
  expect(await expired(all, second + 1)).toEqual([first, second]);
  expect(await expired(new Set([first]), second + 1)).toEqual([first]);

  await land('r3', [[4]], 30);
  await publishAll(0);
  expect(await readdir(folder.archive)).toEqual(['removed.json']);
  expect(await readRemoved(folder.archive)).toBeGreaterThan(second);
  expect(await snapshotRows('select id from assets order by id')).toEqual(
    [0, 1, 2, 3, 4].map((n) => ({ id: id(n) })),
  );
  const rebuilt = await runProgram(['rebuild', '--from-archive', '--data-dir', folder.root], {
    cwd: folder.root,
  });
  expect(rebuilt).toMatchObject({ code: 2, stderr: expect.stringContaining('does not reach back') });
});

test('a text stays for as long as a page needs it, however old its first page is', async () => {
  const options = { memoryLimit: '256MB', threads: 1, tempDir: folder.temp };
  // Every night has the records of the last but the first ten, and ten new ones.
  const nights: number[][] = [];
  for (let night = 0; night < 6; night += 1) {
    await land(`r${night}`, [Array.from({ length: 30 }, (_, n) => night * 10 + n)], night + 10);
    await publishAll(30);
    nights.push(await listArchived(folder.archive));
  }
  const segments = nights.at(-1)!;
  const [fifth, sixth] = segments.slice(4) as [number, number];
  const expired = await listExpired(folder, options, new Set(segments), fifth);
  expect(expired.segments).toEqual(segments.slice(0, 4));
  // The first has 30 texts that nobody needs; the third and fourth ten each that the fifth has again.
  expect(expired.sweep).toMatchObject({
    remove: [
      { segment: segments[0], needed: 0 },
      { segment: segments[1], needed: 0 },
    ],
    merge: [],
  });
  await removeArchived(folder, options, expired);
  expect(await readdir(folder.archive)).toEqual(
    expect.arrayContaining(segments.slice(2).map((segment) => `${segment}.parquet`)),
  );
  expect(await readdir(folder.archive)).not.toContain(`${segments[1]}.parquet`);
  const restored = async (segment: number) => {
    const database = await openDatabase(':memory:', options);
    await restoreSegment(database, folder.archive, folder.landing, segment).finally(() => database.close());
    const text = await readFile(recordFile(folder.landing, segment), 'utf8');
    await rm(recordFile(folder.landing, segment));
    await rm(pageFile(folder.landing, segment));
    return text.match(/"id":"[^"]*"/g);
  };
  const ids = (night: number) => Array.from({ length: 30 }, (_, n) => `"id":"${id(night * 10 + n)}"`);
  expect(await restored(fifth)).toEqual(ids(4));
  expect(await restored(sixth)).toEqual(ids(5));
  // What is left of old texts is moved together when most of them are out of use.
  await writeFile(join(folder.archive, 'removed.json'), JSON.stringify({ last: segments[3] }));
  const later = await listExpired(folder, options, new Set(segments), fifth + 1);
  expect(later).toMatchObject({
    segments: [fifth],
    sweep: { remove: [{ segment: segments[2] }], merge: [] },
  });
  await removeArchived(folder, options, later);
  expect(await restored(sixth)).toEqual(ids(5));
});

test('old texts move together when few of them are needed, or when small files are many', () => {
  const file = (segment: number, needed: number, bytes = 8_000_000) => ({
    segment,
    bytes,
    texts: 100,
    needed,
  });
  const [whole, half, none] = [file(1, 90), file(2, 50), file(3, 0)];
  expect(chooseSweep([whole, half, none])).toEqual({ remove: [none], merge: [half] });
  const small = Array.from({ length: 17 }, (_, n) => file(n, 100, 1000));
  expect(chooseSweep(small)).toEqual({ remove: [], merge: small });
  expect(chooseSweep(small.slice(1))).toEqual({ remove: [], merge: [] });
});

test('texts that move together are whole, and a kill before their files are gone costs none', async () => {
  const options = { memoryLimit: '256MB', threads: 1, tempDir: folder.temp };
  for (const night of [0, 1, 2]) {
    await land(`r${night}`, [Array.from({ length: 10 }, (_, n) => night * 10 + n)], night + 10);
    await publishAll(30);
  }
  await land('last', [Array.from({ length: 9 }, (_, n) => n * 3)], 20);
  await publishAll(30);
  const segments = await listArchived(folder.archive);
  const last = segments.at(-1)!;
  const expired = await listExpired(folder, options, new Set(segments), last);
  expect(expired.sweep?.merge.map(({ segment }) => segment)).toEqual(segments.slice(0, 3));
  const copies = await Promise.all(
    segments.slice(0, 2).map((segment) => readFile(archivedRecords(folder.archive, segment))),
  );
  await removeArchived(folder, options, expired);
  const restored = async () => {
    const database = await openDatabase(':memory:', options);
    await restoreSegment(database, folder.archive, folder.landing, last).finally(() => database.close());
    const text = await readFile(recordFile(folder.landing, last), 'utf8');
    await rm(recordFile(folder.landing, last));
    await rm(pageFile(folder.landing, last));
    return text.match(/"id":"[^"]*"/g);
  };
  const wanted = Array.from({ length: 9 }, (_, n) => `"id":"${id(n * 3)}"`);
  expect(await listRecordFiles(folder.archive)).toEqual([segments[2]]);
  expect(await restored()).toEqual(wanted);
  for (const [n, copy] of copies.entries())
    await writeFile(archivedRecords(folder.archive, segments[n]!), copy);
  expect(await restored()).toEqual(wanted);
});

daily(
  'of old complete checkpoints the newest stays, and those whose pages are still in the landing log',
  async () => {
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
  },
);

daily('old runs leave the logs and stay in the tables; a billing month keeps its lines', async () => {
  const request = (run: string, at: string) =>
    `${JSON.stringify({ run, at, operation: 'getAsset', pool: 'das', attempt: 1, outcome: 'ok', credits: 10, latencyMs: 5, bytes: 9 })}\n`;
  const now = new Date().toISOString();
  const [first, second] = [200, 199].map((days) =>
    new Date(Date.now() - days * 86_400_000).toISOString(),
  ) as [string, string];
  const [old, long] = [`${first.replace(/[-:.]/g, '')}-aaaaaa`, `${second.replace(/[-:.]/g, '')}-bbbbbb`];
  await writeFile(folder.requests, request(old, first) + request(long, second) + request(long, now));
  const run = (name: string, at: string) =>
    `${JSON.stringify({ run: name, verb: 'run', jobs: ['a'], started_at: at })}\n${JSON.stringify({ run: name, finished_at: at, exit_code: 0, stopped_by: null })}\n`;
  await writeFile(folder.runs, run(old, first) + run(long, second));
  await publishAll(30);
  expect(await readFile(folder.requests, 'utf8')).toBe(request(long, second) + request(long, now));
  expect(await readFile(folder.runs, 'utf8')).not.toContain(first);
  await publishAll(30);
  expect(await snapshotRows(`select run_id, requests, credits from meta.requests order by run_id`)).toEqual([
    { run_id: old, requests: 1n, credits: 10n },
    { run_id: long, requests: 2n, credits: 20n },
  ]);
  expect(
    await snapshotRows(`select run_id from meta.runs where run_id in ('${old}', '${long}') order by run_id`),
  ).toEqual([{ run_id: old }, { run_id: long }]);
});

daily('attempts of runs that ended stand in the log as one line a day, and every sum stays', async () => {
  const path = join(folder.root, 'some-requests.ndjson');
  const attempt = (run: string, at: string, latencyMs: number, more = {}) =>
    JSON.stringify({
      ...{
        run,
        at,
        operation: 'getAsset',
        pool: 'das',
        attempt: 1,
        outcome: 'ok',
        credits: 10,
        latencyMs,
        bytes: 9,
      },
      ...more,
    });
  const ended = Array.from({ length: 1000 }, (_, n) =>
    attempt('a', `2026-01-0${1 + (n % 2)}T00:00:00.${String(n % 1000).padStart(3, '0')}Z`, n, {
      ...(n === 7 ? { attempt: 2, outcome: 'throttled', credits: 0 } : {}),
    }),
  );
  const atWork = attempt('b', '2026-01-02T01:00:00.000Z', 5);
  const saved = JSON.stringify({
    ...{ run: 'a', at: '2026-01-02T00:10:00.000Z', operation: 'getAsset', pool: 'das', credits: 0 },
    ...{ outcome: 'saved', saved: 3 },
  });
  await writeFile(path, `${[...ended, atWork, saved].join('\n')}\n`);
  const before = [await sumRequests(path, Date.parse('2026-01-02')), [...(await sumRequestsByRun(path))]];
  await sumRequestLog(path, (run) => run === 'a');
  expect([
    await sumRequests(path, Date.parse('2026-01-02')),
    [...(await sumRequestsByRun(path))].sort(),
  ]).toEqual(before);
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  expect(lines[0]).toBe(atWork);
  expect(lines.slice(1).map((line) => JSON.parse(line))).toEqual([
    {
      ...{ run: 'a', at: '2026-01-01T00:00:00.998Z', operation: 'getAsset', pool: 'das', outcome: 'sum' },
      ...{ requests: 500, retries: 0, throttles: 0, failures: 0, credits: 5000, saved: 0, bytes: 4500 },
      latency: { p50: 499, p95: 948.1, max: 998 },
    },
    {
      ...{ run: 'a', at: '2026-01-02T00:10:00.000Z', operation: 'getAsset', pool: 'das', outcome: 'sum' },
      ...{ requests: 500, retries: 1, throttles: 1, failures: 1, credits: 4990, saved: 3, bytes: 4500 },
      latency: { p50: 500, p95: 949.1, max: 999 },
    },
  ]);
  // The tables take them for what they stand for.
  await writeFile(folder.requests, await readFile(path));
  await publishAll(30);
  expect(
    await snapshotRows(
      `select run_id, requests::int as requests, credits::int as credits, throttles::int as throttles,
        saved::int as saved, latency_max_ms from meta.requests order by run_id`,
    ),
  ).toEqual([
    { run_id: 'a', requests: 1000, credits: 9990, throttles: 1, saved: 3, latency_max_ms: 999 },
    { run_id: 'b', requests: 1, credits: 10, throttles: 0, saved: 0, latency_max_ms: 5 },
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
    const ended = await runProgram(['clean', '--json', '--data-dir', folder.root, ...args], {
      cwd: folder.root,
    });
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
