import { expect, test } from 'vitest';
import { environmentOf, runProgram, writeFiles } from '../crash/program.ts';
import { startTiny, writeListJob } from './tiny.ts';

test('status counts what the job files name, not only what was received', async () => {
  const { sandbox, place } = await startTiny();
  await writeListJob(place, sandbox);
  const env = environmentOf(sandbox);
  expect((await runProgram(['run'], { place, env })).code).toBe(0);
  const job = (forEach: string) =>
    `describe: test\nmethod: getAssetsByCreator\nfor_each: { creatorAddress: ${forEach} }\n`;
  const address = (letter: string) => letter.repeat(32);
  await writeFiles(place.jobs, {
    'later.yaml': job(`{ values: ['${address('2')}', '${address('3')}'] }`),
    'owners.yaml': `after: [list]\n${job('{ sql: "select owner as creatorAddress from assets where owner is not null order by owner limit 3" }')}`,
    'broken.yaml': job('{ sql: "select nothing from nowhere" }'),
  });
  const { stdout, stderr } = await runProgram(['status'], { place, env });
  const lines = stdout.split('\n');
  expect(lines, stderr).toContain('later: 0/2 targets complete, 2 never complete');
  expect(lines.find((line) => line.startsWith('owners:'))).toMatch(
    /^owners: 0\/[1-3] targets complete, [1-3] never complete/,
  );
  expect(lines).toContain('broken: its targets are not known yet');
  expect(lines.find((line) => line.startsWith('list:'))).toMatch(/^list: 3\/3 targets complete/);
  const { jobs } = JSON.parse((await runProgram(['status', '--json'], { place, env })).stdout);
  expect(jobs.find(({ job }: { job: string }) => job === 'later')).toMatchObject({
    ...{ targets: 2, complete: 0, never_complete: 2, complete_as_of: null },
  });
}, 120_000);
