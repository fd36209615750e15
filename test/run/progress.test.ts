import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { Task } from '../../src/jobs/task.ts';
import { createProgress } from '../../src/run/progress.ts';

const task = (id: string) => ({ id, job: 'list', target: id }) as Task;
const forbidden = { reason: '403', forbidden: true };

test('a wave that is planned anew counts each task once, and the next wave counts it again', async () => {
  const { progress, counts } = await openProgress();
  for (const id of ['a', 'b', 'c']) progress.addTask(task(id), 1);
  progress.onTaskEnd(task('a'), null);
  progress.onTaskEnd(task('b'), forbidden);
  // The build was damaged, and is rebuilt: what is not complete is crawled once more.
  for (const id of ['b', 'c']) progress.addTask(task(id), 1);
  expect(counts()).toEqual({ tasks: 3, done: 1, failed: 0, forbidden: 0 });
  for (const id of ['b', 'c']) progress.onTaskEnd(task(id), forbidden);
  expect(counts()).toEqual({ tasks: 3, done: 3, failed: 2, forbidden: 2 });
  progress.addTask(task('a'), 2);
  expect(counts()).toEqual({ tasks: 4, done: 3, failed: 2, forbidden: 2 });
  await progress.close();
});

test('a feed whose head and gap are crawled is one task', async () => {
  const { progress, counts } = await openProgress();
  for (let crawl = 0; crawl < 2; crawl += 1) progress.addTask(task('feed'), 1);
  progress.onTaskEnd(task('feed'), null);
  progress.onTaskEnd(task('feed'), null);
  expect(counts()).toEqual({ tasks: 1, done: 1, failed: 0, forbidden: 0 });
  progress.addTask(task('feed'), 2);
  for (const failure of [forbidden, null, forbidden]) progress.onTaskEnd(task('feed'), failure);
  expect(counts()).toEqual({ tasks: 2, done: 2, failed: 1, forbidden: 1 });
  await progress.close();
});

async function openProgress() {
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-progress-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const progress = await createProgress({
    ...{ run: 'a', log: pino({ level: 'silent' }), onTerminal: false },
    ...{ stateFile: join(root, 'run.json'), spent: { requests: 0, credits: 0 } },
    ...{ pools: () => [], stopping: new AbortController().signal },
  });
  const counts = () => {
    const { tasks, done, failed, forbidden } = progress.jobs.get('list')!;
    return { tasks, done, failed, forbidden };
  };
  return { progress, counts };
}
