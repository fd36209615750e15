import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/warehouse/database.ts';
import { bar, showFigure } from '../bars.ts';
import { readCounts } from '../chaos/crash/content.ts';
import { askedTwice, expectFailure, hashFile } from '../chaos/crash/failure.ts';
import { runProcess, runProgram, type Started, startProgram, until } from '../support/program.ts';
import { environmentOf, makeProject, writeFiles } from '../support/project.ts';
import { openTinyWorld, writeJobs, writeListJob } from '../support/small-world.ts';

const runLines = async (data: string) =>
  (await readFile(join(data, 'runs.ndjson'), 'utf8')).trimEnd().split('\n');

test('--max-requests stops at exactly so many attempts; runs after it pay for no page twice', async () => {
  const { sandbox, place } = await openTinyWorld({ quirks: false });
  await writeJobs(place, sandbox);
  const env = environmentOf(sandbox);
  let asked = 0;
  for (const most of [0, 1, 7, 25]) {
    const ended = await runProgram(['run', '--max-requests', `${most}`], { cwd: place.root, env });
    expectFailure(ended, 75, new RegExp(`--max-requests ${most} is reached`));
    asked += most;
    expect(sandbox.requests.length, `of at most ${most}`).toBe(asked);
  }
  const ended = await runProgram(['run', '--json'], { cwd: place.root, env });
  expect(ended.code, ended.stderr).toBe(0);
  expect(askedTwice(sandbox)).toEqual([]);
  const { rows, twice } = await readCounts(join(place.data, 'warehouse.duckdb'));
  expect(twice).toEqual([]);
  const truth = sandbox.world.truth();
  const listed = truth.collections().flatMap((collection) => truth.idsInCollection(collection));
  expect(rows.assets).toBe(new Set(listed).size);
  expect(rows.compression_signatures).toBe([...truth.signatures()].length);
});

const stops = bar('stops');

const signals = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

test.each(signals)('%s while the API keeps it waiting: 75 at once', async (name) => {
  const { sandbox, place } = await openTinyWorld({ rps: 0.002, burst: 5 });
  await writeListJob(place, sandbox, 5);
  const run = startProgram(['crawl'], { cwd: place.root, env: environmentOf(sandbox) });
  await until(() => sandbox.requests.some(({ status }) => status === 429), run);
  // It is told to come back in eight minutes.
  const stoppedAt = Date.now();
  run.child.kill(name);
  expectFailure(await run.ended, 75, new RegExp(`stopped by ${name}`));
  expect(Date.now() - stoppedAt).toBeLessThan(5_000);
});

test.each(signals)('%s before the run began: 75, and nothing is made', async (name) => {
  const place = await makeProject();
  const config = join(place.root, 'config.fifo');
  expect(spawnSync('mkfifo', [config]).status).toBe(0);
  const run = startProgram(['run', '--json', '--config', config], { cwd: place.root });
  // Opens when the program reads its config, which then waits for us.
  const writer = await open(config, 'w');
  run.child.kill(name);
  await writer.close();
  const { code, signal, stdout } = await run.ended;
  expect({ code, signal }).toEqual({ code: 75, signal: null });
  const stopped = { reason: `stopped by ${name}`, hint: expect.any(String) };
  expect(JSON.parse(stdout)).toEqual({ exitCode: 75, stopped });
  expect(existsSync(place.data)).toBe(false);
});

test(
  `SIGTERM, ${stops} times: what is in flight lands, 75 within 10 s, and the next run goes on`,
  async () => {
    let stopped = 0;
    let longest = 0;
    while (stopped < stops) {
      const { sandbox, place } = await openTinyWorld({ latencyMs: 60 });
      await writeJobs(place, sandbox);
      const env = environmentOf(sandbox);
      // Each ledger is stopped after every few requests, so at most some ten times.
      for (let ended = false; !ended; ) {
        const isLast = stopped >= stops;
        const asked = sandbox.requests.length;
        const run = startProgram(['run'], { cwd: place.root, env });
        await until(() => isLast || run.child.exitCode !== null || sandbox.requests.length >= asked + 20);
        const stoppedAt = Date.now();
        if (!isLast) run.child.kill('SIGTERM');
        const { code, signal, stdout, stderr } = await run.ended;
        ended = code === 0;
        if (ended) break;
        longest = Math.max(longest, Date.now() - stoppedAt);
        expect(longest).toBeLessThan(10_000);
        expectFailure({ code, signal, stdout, stderr }, 75, /stopped by SIGTERM/);
        expect((await runLines(place.data)).at(-1)).toContain(
          '"exit_code":75,"stopped_by":"stopped by SIGTERM"',
        );
        stopped += 1;
      }
      expect(askedTwice(sandbox)).toEqual([]);
    }
    showFigure('stops', { done: stopped, note: `the longest took ${longest} ms` });
  },
  300_000 + stops * 10_000,
);

test(
  'a second SIGTERM ends it at once, with 75',
  async () => {
    // Longer than the ten seconds that a run gives what is in flight, after the first signal.
    const { sandbox, place } = await openTinyWorld({ latencyMs: 30_000 });
    await writeListJob(place, sandbox);
    for (let n = 0; n < Math.ceil(stops / 5); n += 1) {
      const asked = sandbox.requests.length;
      const run = startProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) });
      await until(() => sandbox.requests.length > asked, run);
      run.child.kill('SIGTERM');
      // Two signals at once may arrive as one.
      await until(() => run.stderr().includes('"msg":"stopping"'), run);
      const stoppedAt = Date.now();
      run.child.kill('SIGTERM');
      expect((await run.ended).code).toBe(75);
      expect(Date.now() - stoppedAt).toBeLessThan(5000);
    }
  },
  300_000 + stops * 5000,
);

test('SIGTERM while the database is at work for long: 75 within 10 s, and the next run goes on', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox);
  const env = environmentOf(sandbox);
  // A minute of one thread.
  const busy = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000000)';
  const busyJob = {
    'busy.yaml': `
describe: Owners whose names take long to be found
method: getTokenAccounts
after: [list]
for_each: { owner: { sql: "${busy} select distinct owner from assets, n where owner = i::varchar" } }
`,
  };
  await writeFiles(place.jobs, busyJob);
  const expectStops = async ({ child, ended }: Started, mostMs: number) => {
    const stoppedAt = Date.now();
    child.kill('SIGTERM');
    expectFailure(await ended, 75, /stopped by SIGTERM/);
    expect(Date.now() - stoppedAt).toBeLessThan(mostMs);
    return (await ended).stdout;
  };
  const run = startProgram(['run'], { cwd: place.root, env });
  await until(() => run.stderr().includes('published'), run);
  // What was done is told.
  expect(await expectStops(run, 11_000)).toMatch(/^run .* requests[^\n]*\n {2}list: /);
  const asked = sandbox.requests.length;
  await rm(join(place.jobs, 'busy.yaml'));
  const next = await runProgram(['run'], { cwd: place.root, env });
  expect(next.code, next.stderr).toBe(0);
  expect(sandbox.requests.length).toBe(asked);
  await writeFiles(place.jobs, busyJob);
  // Verbs that ask for no page have nothing to wait for.
  for (const verb of ['plan', 'status']) {
    const asking = startProgram([verb], { cwd: place.root, env });
    await until(() => cpuSeconds(asking.child.pid!) >= 4, asking);
    await expectStops(asking, 3_000);
  }
});

/** What a process has used so far: a program that has begun with little to do uses less than two. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const seconds = bar('secondRuns');

test(
  `a second run at once, ${seconds} times: 75, and it asks and writes nothing`,
  async () => {
    const { sandbox, place } = await openTinyWorld({ latencyMs: 4000 });
    // An asset a page: it goes on for minutes.
    await writeListJob(place, sandbox, 1);
    const env = environmentOf(sandbox);
    const first = startProgram(['run'], { cwd: place.root, env });
    await until(() => sandbox.requests.length >= 5, first);
    const names = () => readdirSync(place.data).filter((name) => !name.endsWith('.tmp'));
    const before = { runs: await runLines(place.data), build: hashFile(join(place.data, 'build.duckdb')) };
    const landing = () => readdirSync(join(place.data, 'landing'));
    const [segments, files] = [landing(), names()];
    const timed = async (...args: string[]) => {
      const startedAt = Date.now();
      return { ended: await runProcess(args, { cwd: place.root, env }), ms: Date.now() - startedAt };
    };
    // What it takes on this machine to start the program and say no: the lock may add a second to that at most. Other
    // programs of the machine may take longer ones' time, so the fastest of three counts.
    const { ms: refusalMs } = await timed('run', 'nope');
    const refused = async (verb: string) => {
      for (let attempt = 1; ; attempt += 1) {
        const { ended, ms } = await timed(verb);
        expectFailure(ended, 75, /another run is using this data folder[\s\S]*Wait until/);
        if (ms < 2 * refusalMs + 1000) return;
        expect(attempt, `${verb} took ${ms} ms`).toBeLessThan(3);
      }
    };
    const verbs = ['run', 'crawl', 'load', 'publish', 'clean'];
    for (let n = 0; n < seconds; n += 1) await refused(verbs[n % verbs.length]!);
    expect(first.child.exitCode, 'the first run has ended too early to be in the way').toBe(null);
    expect({ runs: await runLines(place.data), build: hashFile(join(place.data, 'build.duckdb')) }).toEqual(
      before,
    );
    expect(landing()).toEqual(segments);
    expect(names()).toEqual(files);
    // The lock of a run that was killed is free.
    first.child.kill('SIGKILL');
    await first.ended;
    expect((await timed('load')).ended.code).toBe(0);
    showFigure('secondRuns', { done: seconds });
  },
  300_000 + seconds * 10_000,
);

test('the build open in another program: 75, and what to do', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox);
  const env = environmentOf(sandbox);
  expect((await runProgram(['run'], { cwd: place.root, env })).code).toBe(0);
  const options = { memoryLimit: '64MB', threads: 1, tempDir: place.root };
  const asked = sandbox.requests.length;
  const database = await openDatabase(join(place.data, 'build.duckdb'), options);
  expectFailure(
    await runProcess(['run'], { cwd: place.root, env }),
    75,
    new RegExp(`another program has ${place.data}/build\\.duckdb open`),
  );
  database.close();
  expect(sandbox.requests.length).toBe(asked);
  expect((await runProgram(['run'], { cwd: place.root, env })).code).toBe(0);
});

test('with nothing landed since, load and publish have nothing to do and succeed', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox);
  const env = environmentOf(sandbox);
  expect((await runProgram(['run'], { cwd: place.root, env })).code).toBe(0);
  const before = await readCounts(join(place.data, 'warehouse.duckdb'));
  for (const verb of ['load', 'publish', 'publish']) {
    const ended = await runProgram([verb], { cwd: place.root, env });
    expect(ended.code, ended.stderr).toBe(0);
  }
  expect(await readCounts(join(place.data, 'warehouse.duckdb'))).toEqual(before);
});
