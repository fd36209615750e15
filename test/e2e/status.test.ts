import { expect, test } from 'vitest';
import { environmentOf, runProgram, writeFiles } from '../crash/program.ts';
import { readText } from '../docs/documents.ts';
import { startTiny, writeListJob } from './tiny.ts';

const batchJob = `
describe: test
method: getAssetBatch
for_each: { ids: { sql: "select id as ids from assets" } }
`;

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
  // Asked for one by one, every job that is listed is known.
  await writeFiles(place.jobs, { 'ids.yaml': batchJob });
  const listed = JSON.parse((await runProgram(['status', '--json'], { place, env })).stdout).jobs;
  const names = listed.map(({ job }: { job: string }) => job);
  expect(names).toEqual(['list', 'broken', 'ids', 'later', 'owners']);
  for (const [n, name] of names.entries()) {
    const one = await runProgram(['status', name, '--json'], { place, env });
    expect(one.code, one.stderr).toBe(0);
    expect(JSON.parse(one.stdout).jobs).toEqual([listed[n]]);
  }
  const unknown = await runProgram(['status', 'latr'], { place, env });
  expect(unknown).toMatchObject({ code: 2, stdout: '' });
  expect(unknown.stderr).toContain('no job is called "latr", did you mean "later"?');
}, 120_000);

test('every field of run --json and status --json is in the reference; without a result stdout is empty', async () => {
  const { sandbox, place } = await startTiny();
  await writeListJob(place, sandbox);
  const env = environmentOf(sandbox);
  const json = async (...args: string[]) =>
    JSON.parse((await runProgram([...args, '--json'], { place, env })).stdout);
  const run = await json('run', '--max-requests', '4');
  const status = await json('status', 'list');
  const [job] = Object.values(run.jobs);
  const [table] = Object.values((await json('run')).published.tables);
  const documents = [run, run.stopped, job, run.published, table];
  documents.push(status, status.jobs[0], status.landed, status.lastRun);
  const page = readText('docs/reference/commands.md');
  const fields = new Set(documents.flatMap((document) => Object.keys(document as object)));
  expect([...fields].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  const refused = await runProgram(['run', 'nope', '--json'], { place, env });
  expect(refused).toMatchObject({ code: 2, stdout: '' });
}, 120_000);
