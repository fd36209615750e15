import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import { runProgram } from '../support/program.ts';
import { environmentOf } from '../support/project.ts';
import { openTinyWorld, writeListJob } from '../support/small-world.ts';
import { openWorkplace } from '../support/workplace.ts';
import { startRecorder } from './recorder.ts';

test('a job that is named is crawled although a stopped run left another one undone, and --full-refresh asks for everything', async () => {
  const sandbox = await startSandbox({ seed: 3, assets: 60, owners: 20 });
  const wire = await startRecorder(sandbox.url);
  const [small, large] = sandbox.world.truth().collections() as [string, string];
  const job = (collection: string, pageSize: number) => `describe: test
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { values: [${collection}] } }
page_size: ${pageSize}
`;
  const place = await openWorkplace(wire.url, {
    'jobs/a.yaml': job(small, 1000),
    'jobs/b.yaml': job(large, 1),
  });
  onTestFinished(async () => {
    await wire.close();
    await sandbox.close();
    await place.remove();
  });
  expect((await place.run('a')).code).toBe(0);
  // Enough for both pages of a, which b's, one after another, may overtake.
  const stopped = await place.cli('run', '--max-requests', '14');
  expect(stopped.code).toBe(75);
  const planned = async (...args: string[]) => {
    const { jobs } = JSON.parse((await place.cli('plan', ...args, '--json')).stdout);
    return jobs.map(({ job, tasks }: { job: string; tasks: number }) => [job, tasks]);
  };
  expect(await planned()).toEqual([
    ['a', 0],
    ['b', 1],
  ]);
  expect(await planned('a')).toEqual([['a', 1]]);
  expect((await place.run('a')).report.requests).toBeGreaterThan(0);
  sandbox.tick();
  // Unchanged since, one page tells; anew, all are asked for.
  const quiet = (await place.run('a')).report.requests;
  expect(await planned('a', '--full-refresh')).toEqual([['a', 1]]);
  const anew = await place.cli('run', 'a', '--full-refresh', '--json', '--log-level', 'warn');
  expect(anew.code).toBe(0);
  expect(JSON.parse(anew.stdout).requests).toBeGreaterThanOrEqual(quiet);
  const refused = await place.cli('run', '--full-refresh');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('takes the jobs by name') });
  // b goes on where it stopped.
  expect((await place.run()).code).toBe(0);
});

test('job/target crawls that target, and leaves the round to the others', async () => {
  const { place, sandbox } = await openTinyWorld();
  await writeListJob(place, sandbox);
  const [first, second, third] = sandbox.world.truth().collections() as [string, string, string];
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runProgram([...args, '--json', '--log-level', 'warn'], {
      ...{ cwd: place.root, env: environmentOf(sandbox) },
    });
    return { code, stderr, report: stdout === '' ? null : JSON.parse(stdout) };
  };
  expect((await run('plan', `list/${second}`)).report.jobs).toMatchObject([{ job: 'list', targets: 1 }]);
  expect((await run('run', `list/${second}`)).report.jobs.list).toMatchObject({ tasks: 1, done: 1 });
  // It was no round of the job: the next run crawls all of its targets.
  expect((await run('run')).report.jobs.list).toMatchObject({ tasks: 3, done: 3 });
  sandbox.tick();
  const again = await run('run', `list/${first}`, `list/${third}`, '--full-refresh');
  expect(again.report.jobs.list).toMatchObject({ tasks: 2, done: 2 });
  expect(await run('run', 'list/nobody')).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('has no target') },
  });
});
