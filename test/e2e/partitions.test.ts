import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { compareContent } from '../chaos/crash/content.ts';
import { daily } from '../levels.ts';
import { reply, startServer } from '../support/http-server.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

let sandbox: Sandbox;
/** What a single walk brings: its ledger stands still. */
let whole: Workplace;
beforeAll(async () => {
  sandbox = await startSandbox({ seed: 3, assets: 240, owners: 30, collections: 2 });
  whole = await openWorkplace(sandbox.url, { 'jobs/list.yaml': listJob(1) });
  await whole.mustRun();
  return async () => {
    await sandbox.close();
    await whole.remove();
  };
});

const listJob = (partitions: number) => `describe: Every asset of every collection
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { values: [${sandbox.world.truth().collections().join(', ')}] } }
page_size: 20
partitions: ${partitions}
`;

async function openPlace(partitions: number, url = sandbox.url): Promise<Workplace> {
  const place = await openWorkplace(url, { 'jobs/list.yaml': listJob(partitions) });
  onTestFinished(() => place.remove());
  return place;
}

const snapshotOf = ({ data }: Workplace) => join(data, 'warehouse.duckdb');

async function readJobs(place: Workplace) {
  const { stdout } = await place.cli('status', 'list', '--json');
  const { jobs, targets } = JSON.parse(stdout) as {
    jobs: Record<string, unknown>[];
    targets: Record<string, unknown>[];
  };
  return { job: jobs[0]!, targets };
}

describe('a job in ranges of ids', () => {
  test('brings what a single walk brings; every range has its checkpoint, every target its state', async () => {
    const split = await openPlace(8);
    const report = await split.mustRun();
    expect(report.jobs.list).toMatchObject({ tasks: 16, done: 16, failed: 0 });
    expect(await compareContent(snapshotOf(whole), snapshotOf(split), 'differ')).toEqual([]);
    const checkpoints = await split.rows<{ range: string; n: string }>(
      `select range, count(*)::varchar as n from meta.checkpoints where state = 'complete' group by range order by range`,
    );
    expect(checkpoints).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => ({ range: `${n}/8`, n: '2' })));
    const [{ slot } = { slot: '' }] = await split.rows<{ slot: string }>(
      'select min(last_indexed_slot)::varchar as slot from meta.checkpoints',
    );
    const { job, targets } = await readJobs(split);
    expect(job).toMatchObject({ targets: 2, complete: 2, open: 0, failed: 0, complete_as_of: Number(slot) });
    expect(targets.map(({ state }) => state)).toEqual(['complete', 'complete']);
    const rows = targets.reduce((sum, { records }) => sum + Number(records), 0);
    expect(rows).toBe(report.jobs.list?.records);
    const again = await split.mustRun();
    expect(again.published.tables.assets).toMatchObject({ inserted: 0, changed: 0, amended: 0 });
  });

  test('a budget stops it in the middle of ranges: nothing is asked for twice, and a part is not the whole', async () => {
    const [once, split] = [await openPlace(5), await openPlace(5)];
    const before = sandbox.requests.length;
    await once.mustRun();
    const needed = sandbox.requests.length - before;
    const states: unknown[] = [];
    let code: number | null;
    do {
      ({ code } = await split.cli('run', '--max-requests', '11', '--log-level', 'error'));
      const { job } = await readJobs(split);
      states.push(job.complete_as_of);
      if (code !== 0) expect(job.complete).not.toBe(2);
    } while (code === 75);
    expect(code).toBe(0);
    expect(sandbox.requests.length - before).toBe(2 * needed);
    expect(states.slice(0, -1).every((slot) => slot === null)).toBe(true);
    expect(states.at(-1)).toEqual(expect.any(Number));
    expect(await compareContent(snapshotOf(once), snapshotOf(split), 'differ')).toEqual([]);
  });

  daily('a job that is split later is complete as of its single walk until all ranges are', async () => {
    const place = await openPlace(1);
    await place.mustRun();
    const first = (await readJobs(place)).job.complete_as_of;
    await writeFile(join(place.root, 'jobs/list.yaml'), listJob(4));
    expect((await place.cli('run', '--max-requests', '6')).code).toBe(75);
    expect((await readJobs(place)).job).toMatchObject({ targets: 2, open: 2, complete_as_of: first });
    await place.mustRun();
    const { job } = await readJobs(place);
    expect(job).toMatchObject({ targets: 2, complete: 2 });
    expect(job.complete_as_of).toBeGreaterThan(first as number);
  });

  daily('plan counts its ranges', async () => {
    const place = await openPlace(4);
    const plan = async () => JSON.parse((await place.cli('plan', '--json')).stdout).jobs[0];
    expect(await plan()).toMatchObject({ tasks: 8, unknown: 8, requests: 8, open: 0 });
    const before = sandbox.requests.length;
    await place.mustRun();
    const used = sandbox.requests.length - before;
    expect(await plan()).toMatchObject({ tasks: 8, unknown: 0, requests: used });
  });
});

/** The sandbox behind a provider that answers in its own way. @param change the parameters it looks at, or its refusal */
async function startProvider(change: (params: Record<string, unknown>) => Record<string, unknown> | string) {
  const asked: Record<string, unknown>[] = [];
  const { url } = await startServer(async (request, response) => {
    const call = JSON.parse(request.body) as { params: Record<string, unknown> };
    asked.push(call.params);
    const params = change(call.params);
    if (typeof params === 'string')
      return reply(response, 200, {
        jsonrpc: '2.0',
        id: request.id,
        error: { code: -32602, message: params },
      });
    const answer = await fetch(`${sandbox.url}${request.url}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...call, params }),
    });
    reply(response, answer.status, await answer.text());
  });
  return { url, asked };
}

describe('a provider without the id sort', () => {
  const without = ({ sortBy: _, after: __, before: ___, ...known }: Record<string, unknown>) => known;
  daily.each<[string, (params: Record<string, unknown>) => Record<string, unknown> | string]>([
    ['refuses it', (params) => ('sortBy' in params ? 'unknown parameter `sortBy`' : params)],
    ['ignores it and the bounds', without],
    ['ignores the bounds', ({ after: _, before: __, ...known }) => known],
    ['ignores one bound', ({ before: _, ...known }) => known],
  ])(
    'that %s is walked singly, in the same run, and not tried again until the job changes',
    async (_, change) => {
      const provider = await startProvider(change);
      const place = await openPlace(8, provider.url);
      const report = await place.mustRun();
      expect(report.jobs.list).toMatchObject({ tasks: 16, done: 16, failed: 0 });
      expect(await compareContent(snapshotOf(whole), snapshotOf(place), 'differ')).toEqual([]);
      const tries = () => provider.asked.splice(0).filter((params) => 'sortBy' in params).length;
      const first = tries();
      expect(first).toBeGreaterThanOrEqual(2);
      // A range whose first page is within its bounds may ask for its second before another finds out.
      expect(first).toBeLessThan(2 * 16);
      expect((await readJobs(place)).job).toMatchObject({ targets: 2, complete: 2, open: 0, failed: 0 });
      await place.mustRun();
      expect(tries()).toBe(0);
      await writeFile(join(place.root, 'jobs/list.yaml'), listJob(4));
      await place.mustRun();
      expect(tries()).toBeGreaterThanOrEqual(2);
    },
  );

  // 16: all of it goes to finding out, and the walks have not begun.
  daily.each([16, 18])(
    'a budget of %d that ends before or in its single walk goes on with that',
    async (budget) => {
      const provider = await startProvider(without);
      const place = await openPlace(8, provider.url);
      const codes: (number | null)[] = [];
      do codes.push((await place.cli('run', '--max-requests', `${budget}`, '--log-level', 'error')).code);
      while (codes.at(-1) === 75);
      expect(codes.at(-1)).toBe(0);
      expect(codes.length).toBeGreaterThan(1);
      const asked = provider.asked.map((params) => JSON.stringify(params));
      expect(new Set(asked).size).toBe(asked.length);
      expect((await readJobs(place)).job).toMatchObject({ targets: 2, complete: 2 });
    },
  );
});
