import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { type DataFolder, dataFolder, makeDataFolder } from '../../../src/data-folder.ts';
import { listSegments, recordFile } from '../../../src/landing/segment-files.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { startLoading } from '../../../src/run/load-stage.ts';
import { openSession } from '../../../src/run/open-session.ts';
import { publishStage, snapshotStage } from '../../../src/run/publish-stage.ts';
import type { Session } from '../../../src/run/session.ts';
import { newRecord } from '../../support/pages.ts';

let folder: DataFolder;
const id = (n: number) => String(n + 1).repeat(40);

beforeEach(async () => {
  folder = dataFolder(await mkdtemp(join(tmpdir(), 'damage-')));
  await makeDataFolder(folder);
});
afterEach(() => rm(folder.root, { recursive: true, force: true }));

async function inSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
  const config = await readConfig({ env: {}, cwd: folder.root, needsKey: false });
  const log = pino({ level: 'silent' });
  const session = await openSession({ config, folder, log, verb: 'publish', jobs: [], origins: {} });
  try {
    return await work(session);
  } finally {
    await session.end(0, null);
  }
}

/** Lands a crawl of one page with these records; the target's name and a failure beside it hold half a pair. */
async function land(crawl: string, records: readonly string[]): Promise<void> {
  const landing = createLandingLog({ dir: folder.landing });
  const of = {
    task: crawl,
    crawl,
    run: crawl,
    job: 'job',
    target: 'half \ud800 pair',
    operation: 'getAssetsByGroup',
  };
  await landing.appendPage(
    {
      ...{
        ...of,
        shape: 'asset',
        params: {},
        carries: [],
        nulls: 0,
        last_slot: null,
        position: { limit: 9 },
      },
      ...{
        page: 1,
        slot: 10,
        next: null,
        end: 'exhausted',
        received_at: '2026-01-01T00:00:00.000Z',
        envelope: '{}',
      },
    },
    records.map((text) => newRecord(text, { key: 'key \udc00' })),
  );
  const reason = `${'😀'.repeat(3)}`.slice(0, 3);
  await landing.appendFailure({
    kind: 'failed',
    ...of,
    task: 'other',
    shape: 'asset',
    reason,
    failed_at: '2026-01-01T00:00:00.000Z',
  });
  await landing.close();
}

const publishAll = () =>
  inSession(async (session) => {
    await (await startLoading(session)).finish();
    await publishStage(session);
    await snapshotStage(session, { exitCode: 0, stoppedBy: null });
    return session.withBuild((build) => build.rows<{ id: string }>('select id from assets order by id'));
  });

test('half a surrogate pair in a target, a key or a failure does not stop a segment from loading', async () => {
  await land('r1', [`{"id":"${id(0)}"}`]);
  expect(await publishAll()).toEqual([{ id: id(0) }]);
});

test('a segment damaged after it was sealed is named, not published', async () => {
  await land('r1', [`{"id":"${id(0)}"}`, `{"id":"${id(1)}"}`]);
  const [segment] = await listSegments(folder.landing);
  const file = recordFile(folder.landing, segment as number);
  const whole = await readFile(file);
  for (const damage of [
    () => truncate(file, whole.indexOf(10) + 1),
    () => writeFile(file, Buffer.from(whole.toString().replace(id(1), id(2)))),
    () => writeFile(file, ''),
  ]) {
    await damage();
    await expect(publishAll()).rejects.toMatchObject({
      exitCode: 74,
      message: expect.stringContaining('damaged'),
    });
  }
  await writeFile(file, whole);
  expect(await publishAll()).toEqual([{ id: id(0) }, { id: id(1) }]);
});

test('a build that is missing is restored from the snapshot', async () => {
  await land('r1', [`{"id":"${id(0)}"}`]);
  await publishAll();
  await rm(folder.build);
  await land('r2', [`{"id":"${id(1)}"}`]);
  expect(await publishAll()).toEqual([{ id: id(0) }, { id: id(1) }]);
});

test('a run lock that a full disk left torn is rebuilt', async () => {
  await inSession(async () => undefined);
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(8192), Buffer.from('garbage')]) {
    await writeFile(folder.lock, bytes);
    await inSession(async () => undefined);
  }
});
