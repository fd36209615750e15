import { expect, onTestFinished, test } from 'vitest';
import { crawlTasks, type TaskFailure } from '../../../src/crawl/crawl-tasks.ts';
import { createPageSizes } from '../../../src/crawl/page-size.ts';
import { noShortPageEnds } from '../../../src/crawl/paging.ts';
import type { Task } from '../../../src/jobs/task.ts';
import { readLanding } from '../../../src/landing/reader.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { clientOf, jumpingTime } from '../../support/api-client.ts';
import { assets, ceilingAbove, cursorList, newTask, type Params } from '../../support/crawl.ts';
import { reply, startServer } from '../../support/http-server.ts';
import { makeLanding } from '../../support/pages.ts';

/** Crawls tasks from a source that answers 504 where `isSlow` says, with so many asked for. */
async function crawlAll(
  tasks: readonly { task: Task; ids?: readonly string[] }[],
  isSlow: (count: number, nth: number) => boolean,
  listRecords: (params: Params) => unknown,
) {
  const counts: number[] = [];
  const { url } = await startServer((request, response) => {
    const { params } = JSON.parse(request.body) as { params: Params };
    const count = (params.ids as string[] | undefined)?.length ?? Number(params.limit);
    counts.push(count);
    if (isSlow(count, counts.length)) reply(response, 504, '');
    else reply(response, 200, { jsonrpc: '2.0', id: request.id, result: listRecords(params) });
  });
  const dir = await makeLanding();
  const landing = createLandingLog({ dir });
  onTestFinished(() => landing.close().catch(() => undefined));
  const failures: (TaskFailure | null)[] = [];
  const starts = tasks.map((one) => ({
    ...{ ...one, crawl: 'run-1', resume: null },
    goal: { lastCompleteSlot: null, firstContent: null, seenSlot: null, coveredSlot: null },
  }));
  const stopped = await crawlTasks(starts, {
    ...{ client: clientOf(url).client, landing, run: 'run-1', wave: 1, batchConcurrency: 8, concurrency: 64 },
    ...{
      pageSizes: createPageSizes(),
      shortPages: noShortPageEnds,
      timing: jumpingTime(),
      isKnown: async () => false,
      onPage: () => undefined,
      slots: ceilingAbove(110),
    },
    onTaskEnd: (_, failure) => failures.push(failure),
  }).then(
    () => null,
    (error) => error,
  );
  await landing.close();
  const records = [...(await readLanding(dir)).values()].map((crawl) => crawl.records);
  return { counts, stopped, failures, records };
}

/** Crawls 30 targets of 300 records each, 1000 to a page. */
async function crawlTargets(isSlow: (limit: number, nth: number) => boolean) {
  const tasks = Array.from({ length: 30 }, (_, n) => ({
    task: newTask('getAssetsByGroup', {
      ...{ id: `task-${n}`, target: `${n}`, pageSize: 1000 },
      params: { groupKey: 'collection', groupValue: `${n}` },
    }),
  }));
  const { counts: limits, ...ended } = await crawlAll(tasks, isSlow, (params) => cursorList(300)(params, 0));
  return { limits, ...ended };
}

const done = { stopped: null, failures: Array(30).fill(null), records: Array(30).fill(300) };
const count = (limits: readonly number[], limit: number) => limits.filter((one) => one === limit).length;

test('a source that is slow at the whole size is asked for less by all targets, not given up', async () => {
  const { limits, ...ended } = await crawlTargets((limit) => limit > 250);
  expect(ended).toEqual(done);
  // Eight are in flight at once, each tried twice at most; who comes after them knows better.
  expect(count(limits, 1000)).toBeLessThanOrEqual(16);
  expect(Math.min(...limits)).toBe(250);
});

test('one that answers nothing for a moment is left alone for half a minute, and then asked as before', async () => {
  const { limits, ...ended } = await crawlTargets((_, nth) => nth <= 16);
  expect(ended).toEqual(done);
  expect(Math.min(...limits)).toBeGreaterThanOrEqual(250);
  expect(count(limits, 1000)).toBeGreaterThan(30);
});

test('one that answers nothing at all is down', async () => {
  const { limits, stopped } = await crawlTargets(() => true);
  expect(stopped).toMatchObject({ name: 'ApiStopped', reason: 'down' });
  // Sixteen before the rest, and then probes, one or two of each size.
  expect(limits.length).toBeLessThan(48);
});

test('a list that alone is slow leaves the others the whole size', async () => {
  const { limits, ...ended } = await crawlTargets((limit, nth) => limit === 1000 && nth % 10 === 1);
  expect(ended).toEqual(done);
  expect(count(limits, 1000)).toBeGreaterThan(30);
});

test('the slices of a batch learn from each other, also those that wait for a probe', async () => {
  const task = newTask('getAssetBatch', { pageSize: 64 });
  const ids = assets(0, 512).map(({ id }) => id);
  const answer = (params: Params) => (params.ids as string[]).map((id) => ({ id }));
  const { counts, ...ended } = await crawlAll([{ task, ids }], (asked) => asked > 8, answer);
  expect(ended).toEqual({ stopped: null, failures: [null], records: [512] });
  // Each size is given up after a probe or two, not after one of each of the eight slices.
  const given = counts.slice(0, counts.indexOf(8)).filter((count) => count < 64);
  expect(given.length).toBeLessThanOrEqual(8);
});
