import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';
import { daily } from '../levels.ts';
import { startProgram, until } from '../support/program.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';
import { listedDifferences } from './listed-rows.ts';
import { readQuarantine } from './table-rows.ts';

// Whole nights of the program; the requests are counted where they arrive.
/** A ledger of one collection, and a place with an incremental job for it. */
interface Collection {
  sandbox: Sandbox;
  place: Workplace;
  /** Runs the job and tells what the sandbox was asked meanwhile. */
  night(...args: string[]): Promise<{ code: number | null; asked: Params[]; saved: number }>;
  /** Writes the job's file. */
  writeJob(fields?: Partial<JobFields>): Promise<void>;
}

interface JobFields {
  params: string;
  fullEvery: string;
}

interface Params {
  page?: number;
  cursor?: string;
  sortBy?: { sortBy: string; sortDirection: string };
}

async function openCollection(options: SandboxOptions, pageSize: number): Promise<Collection> {
  const sandbox = await startSandbox({ seed: 5, collections: 1, owners: 200, ...options });
  const place = await openWorkplace(sandbox.url, {});
  const writeJob = async ({ params = '', fullEvery = '7d' }: Partial<JobFields> = {}) => {
    const text = `describe: One collection
method: getAssetsByGroup
params: { groupKey: collection${params} }
for_each: { groupValue: { values: [${sandbox.world.truth().collections()[0]}] } }
mode: incremental
full_every: ${fullEvery}
page_size: ${pageSize}
`;
    await mkdir(join(place.root, 'jobs'), { recursive: true });
    await writeFile(join(place.root, 'jobs/list.yaml'), text);
  };
  await writeJob();
  return {
    sandbox,
    place,
    writeJob,
    async night(...args) {
      const before = sandbox.requests.length;
      const { code, stdout, stderr } = await place.cli('run', '--json', '--log-level', 'warn', ...args);
      if (stdout === '') throw new Error(`exit ${code}: ${stderr}`);
      const asked = sandbox.requests.slice(before).map(({ params }) => params as Params);
      return { code, asked, saved: (JSON.parse(stdout) as { saved: number }).saved };
    },
  };
}

async function closeCollection({ sandbox, place }: Collection): Promise<void> {
  await sandbox.close();
  await place.remove();
}

async function expectListed({ sandbox, place }: Collection): Promise<void> {
  expect(await listedDifferences(sandbox, place)).toEqual([]);
}

describe('a collection of 6,000 assets, nights one after another', () => {
  let collection: Collection;
  /** A first night, a quiet one, one after 1 % has changed, and a quiet one. */
  const nights: (Awaited<ReturnType<Collection['night']>> & {
    differences: unknown;
    quarantine: unknown[];
  })[] = [];
  const fullRequests = 51;
  beforeAll(async () => {
    // 120 a page: pages and changes stand to each other as with 50,000 assets and pages of 1,000.
    collection = await openCollection({ assets: 6000 }, 120);
    for (const ticks of [0, 0, 1, 0]) {
      if (ticks > 0) collection.sandbox.tick(ticks);
      const night = await collection.night();
      const { sandbox, place } = collection;
      const differences = nights.length % 2 === 0 ? await listedDifferences(sandbox, place) : null;
      nights.push({ ...night, differences, quarantine: await readQuarantine(place) });
    }
    return () => closeCollection(collection);
  });

  test('the first night walks all of it by cursor', () => {
    const [first] = nights;
    expect(first).toMatchObject({ code: 0, saved: 0, differences: [] });
    expect(first!.asked.some(({ page, sortBy }) => page !== undefined || sortBy !== undefined)).toBe(false);
    // Its last page is full, so the empty page after it is requested twice.
    expect(first!.asked.length).toBe(fullRequests + 1);
  });

  test('nothing changed: one request', () => {
    const [first, second] = nights;
    expect(second).toMatchObject({ code: 0, saved: fullRequests - 1 });
    expect(second!.asked).toMatchObject([{ page: 1, sortBy: { sortBy: 'updated', sortDirection: 'desc' } }]);
    // What an incremental crawl did not look at is still not right.
    expect(first!.quarantine.length).toBeGreaterThan(0);
    expect(second!.quarantine).toEqual(first!.quarantine);
  });

  test('1 % changed: at most 5 % of the requests, and every row is what the ledger says', () => {
    const third = nights[2]!;
    const { asked } = third;
    expect(third).toMatchObject({ code: 0, saved: fullRequests - asked.length, differences: [] });
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.length).toBeLessThanOrEqual(0.05 * fullRequests);
  });

  test('the night after that is quiet again', () => {
    expect(nights[3]).toMatchObject({ asked: [{ page: 1 }], saved: fullRequests - 1 });
  });

  test('status says how far it is, and runs what every night cost', async () => {
    const [job] = JSON.parse((await collection.place.cli('status', '--json')).stdout).jobs;
    expect(job).toMatchObject({ job: 'list', targets: 1, complete: 1, quarantined: expect.any(Number) });
    expect(job.quarantined).toBeGreaterThan(0);
    expect(job.changes_seen_to).toBeGreaterThan(job.complete_as_of);
    expect(Date.parse(job.next_full_due) - Date.parse(job.last_full)).toBe(7 * 86_400_000);
    const text = await collection.place.cli('status', 'list');
    const slots = `full as of slot ${job.complete_as_of}, changes seen to ${job.changes_seen_to}, next full crawl after `;
    expect(text.stdout.split(slots).length, `${text.stdout}${text.stderr}`).toBe(3);
    const elsewhere = await collection.place.cli('status', '--json', '--jobs-dir', 'nowhere');
    expect(JSON.parse(elsewhere.stdout).jobs).toEqual([
      {
        ...job,
        ...{ has_file: null, never_complete: null, next_full_due: null },
        other_jobs_dir: join(collection.place.root, 'jobs'),
      },
    ]);
    const runs = JSON.parse((await collection.place.cli('runs', '--json')).stdout) as Record<
      string,
      unknown
    >[];
    const [, changed] = runs as { requests: number }[];
    const saved = 51 - changed!.requests;
    const cost = (requests: number, saved: number) => ({ requests, credits: 10 * requests, saved });
    expect(runs).toMatchObject(
      [cost(1, 50), cost(51 - saved, saved), cost(1, 50), cost(52, 0)].map((spent) => ({
        ...{ verb: 'run', jobs: ['list'], state: 'ended', exitCode: 0, stoppedBy: null, ...spent },
      })),
    );
    const table = await collection.place.rows(
      'select requests, credits, saved from meta.requests order by run_id desc',
    );
    expect(table).toEqual(
      runs.map(({ requests, credits, saved }) => ({
        requests: `${requests}`,
        credits: `${credits}`,
        saved: `${saved}`,
      })),
    );
    const last = await collection.place.cli('runs', '--limit', '1');
    expect(last.stdout.trimEnd().split('\n').slice(2)).toEqual([
      expect.stringContaining('list'),
      expect.stringMatching(/^ {2}\d+ requests? saved/),
    ]);
  });

  test('plan says what it would ask for', async () => {
    const { stdout } = await collection.place.cli('plan', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      requests: 1,
      jobs: [{ tasks: 1, incremental: 1, unknown: 0 }],
    });
  });
});

/** A small collection whose first night is over, and about 100 assets have changed since. */
async function openChanged(options: SandboxOptions = {}): Promise<Collection> {
  const collection = await openCollection({ assets: 600, ...options }, 20);
  onTestFinished(() => closeCollection(collection));
  expect((await collection.night()).code).toBe(0);
  collection.sandbox.tick(20);
  return collection;
}

daily('a budget in the middle: the next run goes on there, and pays for no page twice', async () => {
  const collection = await openChanged();
  const nights = [];
  for (const most of ['2', '2', '1000']) nights.push(await collection.night('--max-requests', most));
  expect(nights.map(({ code }) => code)).toEqual([75, 75, 0]);
  const pages = nights.flatMap(({ asked }) => asked.map(({ page }) => page));
  expect(pages.length).toBeGreaterThan(5);
  expect(pages).toEqual(pages.map((_, n) => n + 1));
  expect(nights.map(({ saved }) => saved)).toEqual([0, 0, 31 - pages.length]);
  await expectListed(collection);
  expect((await collection.night()).asked).toMatchObject([{ page: 1 }]);
});

daily('killed between pages: the next run goes on there', async () => {
  const collection = await openChanged({ latencyMs: 50 });
  const { sandbox, place } = collection;
  const before = sandbox.requests.length;
  const env = { LEDGERLAKE_RPC_URL: sandbox.url, LEDGERLAKE_API_KEY: 'sandbox' };
  for (const count of [2, 4]) {
    const run = startProgram(['run'], { cwd: place.root, env });
    await until(() => sandbox.requests.length - before >= count, run);
    run.child.kill('SIGKILL');
    await run.ended;
  }
  const { code } = await collection.night();
  expect(code).toBe(0);
  const asked = sandbox.requests.slice(before).map(({ params }) => (params as Params).page!);
  // At most the page in flight is asked for again.
  const again = asked.filter((page, n) => asked.indexOf(page) !== n);
  expect(again.length, `${asked}`).toBeLessThanOrEqual(2);
  expect([...new Set(asked)], `${asked}`).toEqual(
    Array.from({ length: Math.max(...asked) }, (_, n) => n + 1),
  );
  await expectListed(collection);
  expect((await collection.night()).asked).toMatchObject([{ page: 1 }]);
});

daily('a full crawl when it is due, and when the job is another; a new order is none', async () => {
  const collection = await openChanged();
  const isFull = ({ asked }: { asked: Params[] }) =>
    asked.length > 20 && asked.every(({ page, sortBy }) => page === undefined && sortBy === undefined);
  await collection.writeJob({ fullEvery: '1s' });
  await sleep(1100);
  const due = await collection.night();
  expect(isFull(due), JSON.stringify(due.asked)).toBe(true);
  await expectListed(collection);

  const byAction = ', sortBy: { sortBy: recent_action, sortDirection: desc }';
  await collection.writeJob({ params: byAction });
  const recent = await collection.night();
  expect(recent.asked).toMatchObject([
    { page: 1, sortBy: { sortBy: 'recent_action', sortDirection: 'desc' } },
  ]);
  collection.sandbox.tick();
  expect((await collection.night()).asked.length).toBeLessThan(5);
  await expectListed(collection);

  await collection.writeJob({ params: `${byAction}, options: { showUnverifiedCollections: true }` });
  expect(isFull(await collection.night())).toBe(true);
  const kinds = await collection.place.rows(
    `select kind, count(*) as n from meta.checkpoints
    where job = 'list' and state = 'complete' group by kind order by kind`,
  );
  expect(kinds).toEqual([
    { kind: 'full', n: '3' },
    { kind: 'incremental', n: '2' },
  ]);
});
