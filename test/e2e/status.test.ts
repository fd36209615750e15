import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/server.ts';
import type { JobStatus, Status } from '../../src/status/read-status.ts';
import { daily } from '../levels.ts';
import { readText } from '../support/documents.ts';
import { runProgram } from '../support/program.ts';
import { environmentOf, type Project, writeFiles } from '../support/project.ts';
import { openTinyWorld, writeListJob } from '../support/small-world.ts';

const batchJob = `
describe: test
method: getAssetBatch
for_each: { ids: { sql: "select id as ids from assets" } }
`;

test('status counts what the job files name, not only what was received', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox);
  const env = environmentOf(sandbox);
  expect((await runProgram(['run'], { cwd: place.root, env })).code).toBe(0);
  const job = (forEach: string) =>
    `describe: test\nmethod: getAssetsByCreator\nfor_each: { creatorAddress: ${forEach} }\n`;
  const address = (letter: string) => letter.repeat(32);
  await writeFiles(place.jobs, {
    'later.yaml': job(`{ values: ['${address('2')}', '${address('3')}'] }`),
    'owners.yaml': `after: [list]\n${job('{ sql: "select owner as creatorAddress from assets where owner is not null order by owner limit 3" }')}`,
    'broken.yaml': job('{ sql: "select nothing from nowhere" }'),
  });
  const { stdout, stderr } = await runProgram(['status'], { cwd: place.root, env });
  const lines = stdout.split('\n');
  expect(lines, stderr).toContain('later: 0/2 targets complete, 2 never complete');
  expect(lines.find((line) => line.startsWith('owners:'))).toMatch(
    /^owners: 0\/[1-3] targets complete, [1-3] never complete/,
  );
  expect(lines).toContain('broken: its targets are not known yet');
  expect(lines.find((line) => line.startsWith('list:'))).toMatch(/^list: 3\/3 targets complete/);
  const { jobs } = JSON.parse((await runProgram(['status', '--json'], { cwd: place.root, env })).stdout);
  expect(jobs.find(({ job }: { job: string }) => job === 'later')).toMatchObject({
    ...{ targets: 2, complete: 0, never_complete: 2, complete_as_of: null },
  });
  // Asked for one by one, every job that is listed is known.
  await writeFiles(place.jobs, { 'ids.yaml': batchJob });
  const listed = JSON.parse((await runProgram(['status', '--json'], { cwd: place.root, env })).stdout).jobs;
  const names = listed.map(({ job }: { job: string }) => job);
  expect(names).toEqual(['list', 'broken', 'ids', 'later', 'owners']);
  for (const [n, name] of names.entries()) {
    const one = await runProgram(['status', name, '--json'], { cwd: place.root, env });
    expect(one.code, one.stderr).toBe(0);
    expect(JSON.parse(one.stdout).jobs).toEqual([listed[n]]);
  }
  const unknown = await runProgram(['status', 'latr'], { cwd: place.root, env });
  expect(unknown).toMatchObject({ code: 2, stdout: '' });
  expect(unknown.stderr).toContain('no job is called "latr", did you mean "later"?');
});

test('every field of run --json and status --json is in the reference, a failure too', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox);
  const env = environmentOf(sandbox);
  const json = async (...args: string[]) =>
    JSON.parse((await runProgram([...args, '--json'], { cwd: place.root, env })).stdout);
  const run = await json('run', '--max-requests', '4');
  const status = await json('status', 'list');
  const [job] = Object.values(run.jobs);
  const [table] = Object.values((await json('run')).published.tables);
  const documents = [run, run.stopped, job, run.published, table];
  documents.push(status, status.jobs[0], status.landed, status.lastRun);
  const page = readText('docs/reference/commands.md');
  const fields = new Set(documents.flatMap((document) => Object.keys(document as object)));
  expect([...fields].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  const refused = await runProgram(['run', 'nope', '--json'], { cwd: place.root, env });
  expect(refused.code).toBe(2);
  expect(JSON.parse(refused.stdout)).toMatchObject({ exitCode: 2, error: { message: expect.any(String) } });
});

/** What of `--json` is compared: its numbers arrive as numbers. */
type Told<T> = { [K in keyof T]: T[K] extends bigint | null ? number | null : T[K] };

/** The program at one place, and what `status` says there. */
function openPlace(place: Project, sandbox: Sandbox) {
  const env = environmentOf(sandbox);
  const run = (...args: string[]) => runProgram(args, { cwd: place.root, env });
  const lineOf = async (job: string) => {
    const { stdout, stderr } = await run('status');
    const line = stdout.split('\n').find((line) => line.startsWith(`${job}:`));
    expect(line, stdout + stderr).toBeDefined();
    return line!;
  };
  const read = async (): Promise<Status> => JSON.parse((await run('status', '--json')).stdout);
  const tell = async (name: string) =>
    (await read()).jobs.find(({ job }) => job === name) as unknown as Told<JobStatus>;
  return {
    ...{ run, lineOf, read, tell },
    async night(...args: string[]): Promise<void> {
      const { code, stderr } = await run('run', ...args);
      expect(code, stderr).toBe(0);
    },
  };
}

daily('targets that a file does not list any more are not counted, and hold nothing back', async () => {
  const { sandbox, place } = await openTinyWorld();
  const { run, night, lineOf, tell } = openPlace(place, sandbox);
  const [kept = '', gone = ''] = sandbox.world.truth().collections();
  const list = (...values: string[]) =>
    writeFiles(place.jobs, {
      'list.yaml': `
describe: test
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { values: [${values.join(', ')}] } }
`,
    });
  await list(kept, gone);
  await night();
  const before = await tell('list');
  expect(before).toMatchObject({ targets: 2, complete: 2, former: 0, has_file: true });
  await list(kept);
  expect(await tell('list')).toMatchObject({ targets: 1, complete: 1, former: 1 });
  sandbox.tick();
  await night();
  const told = await tell('list');
  expect(await lineOf('list')).toMatch(
    new RegExp(
      `^list: 1/1 targets complete, .*all data up to slot ${told.complete_as_of} is in, 1 former target$`,
    ),
  );
  expect(told.complete_as_of).toBeGreaterThan(before.complete_as_of!);
  expect(Date.parse(`${told.last_full}`)).toBeGreaterThan(Date.parse(`${before.last_full}`));
  const { stdout } = await run('status', 'list');
  expect(stdout).toMatch(new RegExp(`\n {2}${kept}: complete, .*\n {2}${gone}: former target, complete, `));
  // Back again, it is as far as it was.
  await list(kept, gone);
  const again = await tell('list');
  expect(again).toMatchObject({ targets: 2, complete: 2, former: 0 });
  expect(again.complete_as_of).toBeLessThan(told.complete_as_of!);
});

daily('targets that SQL does not give any more leave with the next complete round', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox, 200);
  const { run, night, lineOf, tell } = openPlace(place, sandbox);
  const owners = (sql: string) =>
    writeFiles(place.jobs, {
      'owners.yaml': `
describe: test
method: getTokenAccounts
after: [list]
for_each: { owner: { sql: "${sql}" } }
`,
    });
  const first = (most: number) =>
    `select distinct owner from assets where owner is not null order by owner limit ${most}`;
  // The tables are there, and none of its targets: as where there are no tables yet.
  await owners(first(0));
  await night();
  expect(await lineOf('owners')).toBe('owners: its targets are not known yet');
  expect(await tell('owners')).toMatchObject({ targets: 0, former: 0, complete_as_of: null });
  await owners(first(3));
  await night('owners');
  const before = await tell('owners');
  expect(before).toMatchObject({ targets: 3, complete: 3, former: 0, never_complete: 0 });
  sandbox.tick();
  // SQL may answer otherwise at another hour: what the last round crawled stays until another one ended.
  await owners(first(2));
  expect(await tell('owners')).toMatchObject({ targets: 3, former: 0 });
  const stopped = await run('run', 'owners', '--max-requests', '1');
  expect(stopped.code, stopped.stderr).toBe(75);
  expect(await tell('owners')).toMatchObject({ targets: 3, former: 0 });
  await night('owners');
  expect(await lineOf('owners')).toMatch(
    /^owners: 2\/2 targets complete, .*all data up to slot \d+ is in, 1 former target$/,
  );
  // Nothing moved: targets that are only confirmed were crawled in that round all the same.
  await night('owners');
  const told = await tell('owners');
  expect(told).toMatchObject({ targets: 2, complete: 2, former: 1 });
  expect(told.complete_as_of).toBeGreaterThan(before.complete_as_of!);
  // What the round knew is still known when nobody can ask, and when the job was left out because of that.
  await owners("select if(count(*) > 0, 'no address', '') from assets");
  expect(await tell('owners')).toMatchObject({ ...told, never_complete: null });
  expect((await run('run', 'owners')).code).toBe(3);
  expect(await tell('owners')).toMatchObject({ ...told, never_complete: null });
  await owners(first(0));
  await night('owners');
  expect(await lineOf('owners')).toBe('owners: no targets now, 3 former targets');
});

daily('a job whose file is gone is told as such, after the others', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox, 200);
  const { run, night, lineOf, read, tell } = openPlace(place, sandbox);
  await night();
  await rename(join(place.jobs, 'list.yaml'), join(place.jobs, 'named.yaml'));
  expect(await lineOf('list')).toMatch(/^list: 3\/3 targets complete, .*, no job file: renamed or removed$/);
  expect((await read()).jobs.map(({ job, has_file }) => [job, has_file])).toEqual([
    ['named', true],
    ['list', false],
  ]);
  // A mistake in a file, or another folder, is no sign of it.
  await writeFiles(place.jobs, { 'list.yaml': 'describe: test\n' });
  expect(await tell('list')).toMatchObject({ has_file: true, targets: 3, former: 0 });
  const elsewhere = await run('status', '--json', '--jobs-dir', 'nowhere');
  expect(JSON.parse(elsewhere.stdout).jobs).toMatchObject([{ job: 'list', has_file: null }]);
});

daily('a feed says which slots it covers, and what is open below them', async () => {
  const { sandbox, place } = await openTinyWorld();
  const feed = (since: string) =>
    `describe: test\nmethod: getLatestCompressionSignatures\npage_size: 20\nsince: ${since}\n`;
  await writeFiles(place.jobs, { 'bounded.yaml': feed('{ pages: 2 }'), 'whole.yaml': feed('all') });
  const { run, night, lineOf, read, tell } = openPlace(place, sandbox);
  await night('bounded');
  const { covered_from: from, covered_to: to, complete_as_of } = await tell('bounded');
  expect([from! > 0, to! >= from!, complete_as_of]).toEqual([true, true, null]);
  expect((await run('status', 'bounded')).stdout).toMatch(
    new RegExp(`^bounded: 1/1 targets complete, covers slots ${from} to ${to}
  \\(the job\\): complete, .*, covers slots ${from} to ${to}\n`),
  );

  const stopped = await run('run', 'whole', '--max-requests', '2');
  expect(stopped.code, stopped.stderr).toBe(75);
  const partly = await tell('whole');
  expect(await lineOf('whole')).toBe(
    `whole: 0/1 targets complete, 1 open, covers slots ${partly.covered_from} to ${partly.covered_to}`,
  );
  expect((await read()).gaps).toMatchObject([
    { job: 'whole', low_slot: 0, high_slot: partly.covered_from! - 1 },
  ]);
  await night('whole');
  const whole = await tell('whole');
  expect(whole).toMatchObject({ covered_from: 0, complete_as_of: whole.covered_to });
  expect(await lineOf('whole')).toBe(`whole: 1/1 targets complete, covers slots 0 to ${whole.covered_to}`);
});

daily('a snapshot that is missing is not taken for one without rows', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox, 200);
  const { run, night, lineOf } = openPlace(place, sandbox);
  await night();
  const before = await lineOf('list');
  await rm(join(place.data, 'warehouse.duckdb'), { force: true });
  const asked = sandbox.requests.length;
  const missing = await run('status');
  expect(missing.code, missing.stderr).toBe(0);
  expect(missing.stdout).toMatch(
    /^the snapshot is missing: `ledgerlake publish` restores it and sends no request/,
  );
  expect(missing.stdout).not.toContain('never complete');
  expect(JSON.parse((await run('status', '--json')).stdout)).toMatchObject({
    snapshotMissing: true,
    jobs: [],
  });
  for (const args of [['plan'], ['sql', 'from assets'], ['export']]) {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /there is no snapshot at .*`ledgerlake publish` restores it and sends no request/s,
    );
  }
  const published = await run('publish');
  expect(published.code, published.stderr).toBe(0);
  expect(sandbox.requests.length).toBe(asked);
  expect(await lineOf('list')).toBe(before);
});

daily('a first run that published nothing leaves no snapshot that is missing', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox);
  const { run } = openPlace(place, sandbox);
  const wrong = `describe: test\nmethod: getAssetsByCreator\nfor_each: { sql: "select nothing as creatorAddress" }\n`;
  await writeFiles(place.jobs, { 'wrong.yaml': wrong });
  expect((await run('run')).code).toBe(2);
  await rm(join(place.jobs, 'wrong.yaml'));
  for (const open of [0, 1]) {
    const [plan] = JSON.parse((await run('plan', '--json')).stdout).jobs;
    expect(plan).toMatchObject({ job: 'list', tasks: 3, open });
    const status = await run('status');
    expect(status.stdout, status.stderr).toMatch(/^list: 0\/3 targets complete, 3 never complete/);
    const asked = await run('sql', 'from assets');
    expect(asked.stderr).toMatch(/there is no snapshot at .*Make one with `ledgerlake run` first/s);
    // What only crawled is no snapshot's either.
    expect((await run('crawl', '--max-requests', '1')).code).toBe(75);
  }
});

daily('a reason of several lines stands on one', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox, 200);
  await writeFiles(place.jobs, {
    'wrong.txt': 'no address\nnor this\nnor that\n',
    'names.yaml': `
describe: test
method: getTokenAccounts
after: [list]
for_each: { owner: { file: wrong.txt } }
`,
  });
  const { run } = openPlace(place, sandbox);
  const failed = await run('run');
  expect(failed.code, failed.stderr).toBe(2);
  const { stdout } = await run('status');
  expect(stdout).toMatch(/\nlast run [^\n]*: exit 2 at [^\n]*txt:1[^\n]*txt:2[^\n]*txt:3[^\n]*\)\n/);
  // A heading, a rule, the run, and below it why it stopped.
  expect((await run('runs')).stdout.trim().split('\n').length).toBe(4);
});

test('targets that brought no record are told: an address may be misspelt', async () => {
  const { sandbox, place } = await openTinyWorld();
  const [collection] = sandbox.world.truth().collections();
  await writeFiles(place.jobs, {
    'list.yaml': `
describe: A collection, and one that is none
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { values: [${collection}, ${'1'.repeat(43)}A] } }
`,
  });
  const env = environmentOf(sandbox);
  expect((await runProgram(['run'], { cwd: place.root, env })).code).toBe(0);
  const tell = async (...args: string[]) =>
    (await runProgram(['status', ...args], { cwd: place.root, env })).stdout;
  expect(await tell()).toMatch(/^list: 2\/2 targets complete, 1 without any record, /m);
  expect(JSON.parse(await tell('--json'))).toMatchObject({
    jobs: [{ job: 'list', complete: 2, empty: 1 }],
    creditsLeft: null,
  });
});

daily(
  'a job of another jobs folder is said to be there; only one whose file is gone is renamed or removed',
  async () => {
    const { sandbox, place } = await openTinyWorld();
    const { run, lineOf, tell, night } = openPlace(place, sandbox);
    await writeListJob(place, sandbox, 200);
    await night();
    const other = join(place.root, 'other jobs');
    await writeFiles(other, { 'latest.yaml': 'describe: test\nmethod: getLatestCompressionSignatures\n' });
    await night('--jobs-dir', other);
    const { stdout } = await run('status', '--jobs-dir', other);
    expect(stdout).toContain(`its job file is in ${place.jobs}`);
    expect(stdout).not.toContain('renamed or removed');
    expect(await lineOf('latest')).toContain(`its job file is in ${other}`);
    expect(await tell('latest')).toMatchObject({ has_file: null, other_jobs_dir: other });
    expect(await tell('list')).toMatchObject({ has_file: true, other_jobs_dir: null });
    await rm(join(other, 'latest.yaml'));
    expect(await lineOf('latest')).toContain('no job file: renamed or removed');
  },
);
