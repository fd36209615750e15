import { expect, test } from 'vitest';
import { runProgram } from '../support/program.ts';
import { environmentOf, writeFiles } from '../support/project.ts';
import { readRows } from '../support/rows.ts';
import { openTinyWorld } from '../support/small-world.ts';

test('one line of a target file that is no target: it is left out and named, the others and other jobs go on, 3', async () => {
  const { sandbox, place } = await openTinyWorld();
  const env = environmentOf(sandbox);
  const [good = ''] = sandbox.world.truth().creators();
  const list = (file: string) =>
    `describe: test\nmethod: getAssetsByCreator\nfor_each: { creatorAddress: { file: ${file} } }\n`;
  await writeFiles(place.jobs, {
    'list.yaml': list('list.txt'),
    'list.txt': `${good}\nnot-an-address-but-maybe-a-key\n`,
    'other.yaml': list('other.txt'),
    'other.txt': good,
  });
  const line = `${'jobs/list.txt'}:2: expected a base58 address of 32 to 44 characters`;

  const plan = await runProgram(['plan'], { cwd: place.root });
  expect(plan).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^list: 1 line of its target file is not a target: ledgerlake jobs check$/m,
    ),
  });

  const ended = await runProgram(['run', '--json'], { cwd: place.root, env });
  expect(ended.code, ended.stderr).toBe(3);
  expect(JSON.parse(ended.stdout).jobs).toMatchObject({
    list: { tasks: 1, done: 1, failed: 0, targetsLeftOut: [line] },
    other: { tasks: 1, done: 1, failed: 0, targetsLeftOut: [] },
  });
  const checkpoints = await readRows(
    `${place.data}/warehouse.duckdb`,
    'select job, target, state from meta.checkpoints order by all',
  );
  expect(checkpoints).toEqual(['list', 'other'].map((job) => ({ job, target: good, state: 'complete' })));

  const text = await runProgram(['run', 'list'], { cwd: place.root, env });
  expect(text).toMatchObject({ code: 3, stdout: expect.stringContaining(`list: left out: ${line}`) });
  expect(ended.stderr + ended.stdout + text.stderr + text.stdout).not.toContain('maybe-a-key');

  // Who checks the files is told, and a file of the wrong kind holds no target at all.
  expect(await runProgram(['jobs', 'check'], { cwd: place.root })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(line),
  });
  await writeFiles(place.jobs, { 'list.txt': 'a\nb\n' });
  expect(await runProgram(['run'], { cwd: place.root, env })).toMatchObject({ code: 2 });
});
