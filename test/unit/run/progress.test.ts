import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { Task } from '../../../src/jobs/task.ts';
import { createProgress } from '../../../src/run/progress.ts';

const task = (id: string) => ({ id, job: 'list', target: id, operation: { pool: 'das' } }) as Task;
const start = (id: string) => ({ task: task(id), expected: null, resume: null });
const forbidden = { reason: '403', forbidden: true };

test('a wave that is planned anew counts each task once, and the next wave counts it again', async () => {
  const { progress, counts } = await openProgress();
  progress.addTasks(['a', 'b', 'c'].map(start), 1);
  progress.onTaskEnd(task('a'), null);
  progress.onTaskEnd(task('b'), forbidden);
  // The build was damaged, and is rebuilt: what is not complete is crawled once more.
  progress.addTasks(['b', 'c'].map(start), 1);
  expect(counts()).toEqual({ tasks: 3, done: 1, failed: 0, forbidden: 0 });
  for (const id of ['b', 'c']) progress.onTaskEnd(task(id), forbidden);
  expect(counts()).toEqual({ tasks: 3, done: 3, failed: 2, forbidden: 2 });
  progress.addTasks([start('a')], 2);
  expect(counts()).toEqual({ tasks: 4, done: 3, failed: 2, forbidden: 2 });
  await progress.close();
});

test('a feed whose head and gap are crawled is one task', async () => {
  const { progress, counts } = await openProgress();
  progress.addTasks([start('feed'), start('feed')], 1);
  progress.onTaskEnd(task('feed'), null);
  expect(counts()).toMatchObject({ tasks: 1, done: 0 });
  progress.onTaskEnd(task('feed'), null);
  expect(counts()).toEqual({ tasks: 1, done: 1, failed: 0, forbidden: 0 });
  progress.addTasks([start('feed'), start('feed'), start('feed')], 2);
  for (const failure of [forbidden, null, forbidden]) progress.onTaskEnd(task('feed'), failure);
  expect(counts()).toEqual({ tasks: 2, done: 2, failed: 1, forbidden: 1 });
  await progress.close();
});

async function openProgress() {
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-progress-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const progress = await createProgress({
    ...{ run: 'a', log: pino({ level: 'silent' }), onTerminal: false, coming: [] },
    ...{ stateFile: join(root, 'run.json'), spent: { requests: 0, credits: 0 } },
    ...{ pools: () => [], stopping: new AbortController().signal },
  });
  const counts = () => {
    const { tasks, done, failed, forbidden } = progress.jobs.get('list')!;
    return { tasks, done, failed, forbidden };
  };
  return { progress, counts };
}
