import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { openDatabase } from '../../src/warehouse/database.ts';
import { readCounts } from '../crash/content.ts';
import { askedTwice, expectFailure, hashFile } from '../crash/failure.ts';
import { environmentOf, runProgram, startProgram } from '../crash/program.ts';
import { writeJobs } from '../crash/small-world.ts';
import { startTiny, writeListJob } from './tiny.ts';

// Whole runs of the program: on a busy machine several of them take longer than the default.
vi.setConfig({ testTimeout: 180_000 });

const runLines = async (data: string) =>
  (await readFile(join(data, 'runs.ndjson'), 'utf8')).trimEnd().split('\n');

test('--max-requests stops at exactly so many attempts; runs after it pay for no page twice', async () => {
  const { sandbox, place } = await startTiny({ quirks: false });
  await writeJobs(place, sandbox);
  const env = environmentOf(sandbox);
  let asked = 0;
  for (const most of [0, 1, 7, 25]) {
    const ended = await runProgram(['run', '--max-requests', `${most}`], { place, env });
    expectFailure(ended, 75, new RegExp(`--max-requests ${most} is reached`));
    asked += most;
    expect(sandbox.requests.length, `of at most ${most}`).toBe(asked);
  }
  const ended = await runProgram(['run', '--json'], { place, env });
  expect(ended.code, ended.stderr).toBe(0);
  expect(askedTwice(sandbox)).toEqual([]);
  const { rows, twice } = await readCounts(join(place.data, 'warehouse.duckdb'));
  expect(twice).toEqual([]);
  const truth = sandbox.world.truth();
  const listed = truth.collections().flatMap((collection) => truth.idsInCollection(collection));
  expect(rows.assets).toBe(new Set(listed).size);
  expect(rows.compression_signatures).toBe([...truth.signatures()].length);
});

test('SIGTERM: what is in flight lands, 75 within 10 s, and the next run goes on', async () => {
  const { sandbox, place } = await startTiny({ latencyMs: 60 });
  await writeJobs(place, sandbox);
  const env = environmentOf(sandbox);
  const run = startProgram(['run'], { place, env });
  while (sandbox.requests.length < 20) await sleep(5);
  const stoppedAt = Date.now();
  run.child.kill('SIGTERM');
  const ended = await run.ended;
  expect(Date.now() - stoppedAt).toBeLessThan(10_000);
  expectFailure(ended, 75, /stopped by SIGTERM/);
  expect((await runLines(place.data)).at(-1)).toContain('"exit_code":75,"stopped_by":"stopped by SIGTERM"');
  const again = await runProgram(['run'], { place, env });
  expect(again.code, again.stderr).toBe(0);
  expect(askedTwice(sandbox)).toEqual([]);
});

test('SIGTERM while the API keeps it waiting: 75 at once', async () => {
  const { sandbox, place } = await startTiny({ rps: 0.002, burst: 5 });
  await writeListJob(place, sandbox, 5);
  const run = startProgram(['crawl'], { place, env: environmentOf(sandbox) });
  while (!sandbox.requests.some(({ status }) => status === 429)) await sleep(5);
  // It is told to come back in eight minutes.
  const stoppedAt = Date.now();
  run.child.kill('SIGTERM');
  expectFailure(await run.ended, 75, /stopped by SIGTERM/);
  expect(Date.now() - stoppedAt).toBeLessThan(5_000);
});

test('a second SIGTERM ends it at once, with 75', async () => {
  const { sandbox, place } = await startTiny({ latencyMs: 5000 });
  await writeListJob(place, sandbox);
  const run = startProgram(['run'], { place, env: environmentOf(sandbox) });
  while (sandbox.requests.length === 0) await sleep(5);
  run.child.kill('SIGTERM');
  await sleep(100);
  const stoppedAt = Date.now();
  run.child.kill('SIGTERM');
  expect((await run.ended).code).toBe(75);
  expect(Date.now() - stoppedAt).toBeLessThan(1000);
});

test('a second run at once: 75, and it asks and writes nothing', async () => {
  const { sandbox, place } = await startTiny({ latencyMs: 1000 });
  await writeListJob(place, sandbox, 5);
  const env = environmentOf(sandbox);
  const first = startProgram(['run'], { place, env });
  while (sandbox.requests.length < 5) await sleep(5);
  const names = () => readdirSync(place.data).filter((name) => !name.endsWith('.tmp'));
  const before = { runs: await runLines(place.data), build: hashFile(join(place.data, 'build.duckdb')) };
  const landing = () => readdirSync(join(place.data, 'landing'));
  const [segments, files] = [landing(), names()];
  const timed = async (...args: string[]) => {
    const startedAt = Date.now();
    return { ended: await runProgram(args, { place, env }), ms: Date.now() - startedAt };
  };
  // What it takes on this machine to start the program and say no: the lock may add a second to that at most.
  const { ms: refusalMs } = await timed('run', 'nope');
  const second = await timed('run');
  expect(second.ms).toBeLessThan(2 * refusalMs + 1000);
  const others = await Promise.all(['crawl', 'load', 'publish'].map((verb) => timed(verb)));
  const ended = [second, ...others].map((other) => other.ended);
  for (const other of ended)
    expectFailure(other, 75, /another run is using this data folder[\s\S]*Wait until/);
  expect(first.child.exitCode, 'the first run has ended too early to be in the way').toBe(null);
  expect({ runs: await runLines(place.data), build: hashFile(join(place.data, 'build.duckdb')) }).toEqual(
    before,
  );
  expect(landing()).toEqual(segments);
  expect(names()).toEqual(files);
  first.child.kill('SIGTERM');
  expect((await first.ended).code).toBe(75);
});

test('the build open in another program: 75, and what to do', async () => {
  const { sandbox, place } = await startTiny();
  await writeListJob(place, sandbox);
  const env = environmentOf(sandbox);
  expect((await runProgram(['run'], { place, env })).code).toBe(0);
  const options = { memoryLimit: '64MB', threads: 1, tempDir: place.root };
  const asked = sandbox.requests.length;
  const database = await openDatabase(join(place.data, 'build.duckdb'), options);
  expectFailure(
    await runProgram(['run'], { place, env }),
    75,
    /another program has data\/build\.duckdb open/,
  );
  database.close();
  expect(sandbox.requests.length).toBe(asked);
  expect((await runProgram(['run'], { place, env })).code).toBe(0);
});

test('with nothing landed since, load and publish have nothing to do and succeed', async () => {
  const { sandbox, place } = await startTiny();
  await writeListJob(place, sandbox);
  const env = environmentOf(sandbox);
  expect((await runProgram(['publish'], { place, env })).code).toBe(0);
  expect((await runProgram(['run'], { place, env })).code).toBe(0);
  const before = await readCounts(join(place.data, 'warehouse.duckdb'));
  for (const verb of ['load', 'publish', 'publish']) {
    const ended = await runProgram([verb], { place, env });
    expect(ended.code, ended.stderr).toBe(0);
  }
  expect(await readCounts(join(place.data, 'warehouse.duckdb'))).toEqual(before);
});
