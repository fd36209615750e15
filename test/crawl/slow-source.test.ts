import { expect, onTestFinished, test } from 'vitest';
import { crawlTasks, type TaskFailure } from '../../src/crawl/crawl-tasks.ts';
import { createLearntSizes } from '../../src/crawl/learnt-size.ts';
import { readLanding } from '../../src/landing/reader.ts';
import { createLandingLog } from '../../src/landing/writer.ts';
import { clientOf, jumpingTime, reply, startServer } from '../api/local-server.ts';
import { makeLanding } from '../landing/pages.ts';
import { assets, newTask } from './crawl.ts';

/** Crawls targets of so many records from a source that answers 504 where `isSlow` says; page size 1000. */
async function crawlTargets(
  targets: readonly { records: number }[],
  isSlow: (limit: number, nth: number) => boolean,
) {
  const limits: number[] = [];
  const { url } = await startServer((seen, response) => {
    const { params } = JSON.parse(seen.body);
    const { groupValue, cursor = '0', limit } = params as Record<string, string>;
    limits.push(Number(limit));
    if (isSlow(Number(limit), limits.length)) return reply(response, 504, '');
    const from = Number(cursor);
    const items = assets(from, Math.min(targets[Number(groupValue)]!.records, from + Number(limit)));
    const next = items.length > 0 ? { cursor: String(from + items.length) } : {};
    reply(response, 200, { jsonrpc: '2.0', id: seen.id, result: { last_indexed_slot: 100, items, ...next } });
  });
  const dir = await makeLanding();
  const landing = createLandingLog({ dir });
  onTestFinished(() => landing.close().catch(() => undefined));
  const failures: (TaskFailure | null)[] = [];
  const starts = targets.map((_, n) => ({
    task: newTask('getAssetsByGroup', {
      ...{ id: `task-${n}`, target: `${n}`, pageSize: 1000 },
      params: { groupKey: 'collection', groupValue: `${n}` },
    }),
    ...{ crawl: 'run-1', resume: null, slotCeiling: Number.MAX_SAFE_INTEGER },
    goal: { lastCompleteSlot: null, seenSlot: null, coveredSlot: null },
  }));
  const stopped = await crawlTasks(starts, {
    ...{ client: clientOf(url).client, landing, run: 'run-1', batchConcurrency: 2, concurrency: 64 },
    ...{
      sizes: createLearntSizes(),
      timing: jumpingTime(),
      isKnown: async () => false,
      onPage: () => undefined,
    },
    onTaskEnd: (_, failure) => failures.push(failure),
  }).then(
    () => null,
    (error) => error,
  );
  await landing.close();
  const records = [...(await readLanding(dir)).values()].map((crawl) => crawl.records);
  return { limits, stopped, failures, records };
}

const many = Array.from({ length: 30 }, () => ({ records: 300 }));
const done = { stopped: null, failures: many.map(() => null), records: many.map(() => 300) };
const count = (limits: readonly number[], limit: number) => limits.filter((one) => one === limit).length;

test('a source that is slow at the whole size is asked for less by all targets, not given up', async () => {
  const { limits, ...ended } = await crawlTargets(many, (limit) => limit > 250);
  expect(ended).toEqual(done);
  // Eight are in flight at once, each tried twice at most; who comes after them knows better.
  expect(count(limits, 1000)).toBeLessThanOrEqual(16);
  expect(Math.min(...limits)).toBe(250);
});

test('one that answers nothing for a moment is left alone for half a minute, and then asked as before', async () => {
  const { limits, ...ended } = await crawlTargets(many, (_, nth) => nth <= 16);
  expect(ended).toEqual(done);
  expect(Math.min(...limits)).toBeGreaterThanOrEqual(250);
  expect(count(limits, 1000)).toBeGreaterThan(30);
});

test('one that answers nothing at all is down', async () => {
  const { limits, stopped } = await crawlTargets(many, () => true);
  expect(stopped).toMatchObject({ name: 'ApiStopped', reason: 'down' });
  // Sixteen before the rest, and then probes, one or two of each size.
  expect(limits.length).toBeLessThan(48);
});

test('a list that alone is slow leaves the others the whole size', async () => {
  const { limits, ...ended } = await crawlTargets(many, (limit, nth) => limit === 1000 && nth % 10 === 1);
  expect(ended).toEqual(done);
  expect(count(limits, 1000)).toBeGreaterThan(30);
});
