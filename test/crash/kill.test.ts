import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/server.ts';
import { bar, showFigure } from '../bars.ts';
import { compareContent, readCheckpoints, readCounts, readCoverage } from './content.ts';
import { environmentOf, makePlace, type Place, runProgram, startProgram } from './program.ts';
import { createRandom, readSeed } from './random.ts';
import { exportOnly, startSmallWorld, writeJobs } from './small-world.ts';

const kills = bar('kills');
const seed = readSeed();
/** Concurrency of the two pools in use; loopback APIs get 8 requests at once each. */
const inFlight = 2 * 8;
/** Hundreds of kills take a ledger that is crawled in a second; most of a run is then what comes after the crawl. */
const size = { assets: 400, owners: 40, latencyMs: 6 };
/** Ledgers whose uninterrupted run is known. */
const worlds = 3;

/** An uninterrupted run: what the others must equal. */
interface Uninterrupted {
  place: Place;
  ms: number;
  requests: number;
}

/** Every step of an export has its death in every-step.test.ts: here two tables are enough to be killed in. */
async function writeKilledJobs(place: Place, sandbox: Sandbox): Promise<void> {
  await writeJobs(place, sandbox);
  await exportOnly(place, 'assets', 'token_accounts');
}

async function runUninterrupted(worldSeed: number): Promise<Uninterrupted> {
  const place = await makePlace();
  const sandbox = await startSmallWorld(worldSeed, size);
  await writeKilledJobs(place, sandbox);
  const startedAt = Date.now();
  const ended = await runProgram(['run'], { place, env: environmentOf(sandbox) });
  const ms = Date.now() - startedAt;
  await sandbox.close();
  expect(ended.code, ended.stderr).toBe(0);
  return { place, ms, requests: sandbox.requests.length };
}

/** Waits for the moment at which a run is to be killed; one of three kinds, so that every stage gets its share. */
async function waitForMoment(
  random: () => number,
  { requests }: Sandbox,
  run: { stderr(): string },
  whole: Uninterrupted,
): Promise<string> {
  const kind = random();
  const share = random();
  const delay = random();
  if (kind < 0.4) {
    const ms = Math.round(50 + share * whole.ms);
    await sleep(ms);
    return `after ${ms} ms`;
  }
  if (kind < 0.65) {
    const from = requests.length;
    const count = 1 + Math.floor(share * 150);
    await until(() => requests.length - from >= count);
    await sleep(delay * 15);
    return `after ${count} requests`;
  }
  const count = 1 + Math.floor(share * 3);
  await until(() => run.stderr().split('"msg":"published"').length > count);
  const ms = Math.round(delay * 400);
  await sleep(ms);
  return `${ms} ms after publish ${count}`;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(2);
}

/** Identity of a request; a feed's newest page is asked for by every run, on purpose. */
function nameRequest({ method, params }: { method: string; params: unknown }): string | null {
  const isHead = method === 'getLatestCompressionSignatures' && !('cursor' in (params as object));
  return isHead ? null : `${method} ${JSON.stringify(params)}`;
}

/** By run: how many of its requests a later run had to ask again. */
function countAskedAgain(sandbox: Sandbox, starts: readonly number[]): number[] {
  const lastAskedBy = new Map<string, number>();
  const again = starts.map(() => 0);
  for (const [n, request] of sandbox.requests.entries()) {
    const run = starts.findLastIndex((start) => start <= n);
    const name = nameRequest(request);
    if (name === null) continue;
    const before = lastAskedBy.get(name);
    if (before !== undefined) again[before]! += 1;
    lastAskedBy.set(name, run);
  }
  return again;
}

async function expectOpens(place: Place, history: string): Promise<void> {
  const snapshot = join(place.data, 'warehouse.duckdb');
  if (!existsSync(snapshot)) return;
  const { twice } = await readCounts(snapshot);
  expect(twice, history).toEqual([]);
}

/** Whether the last run had noted its success before it was killed: the next one would begin a new night. */
function hasCompleted({ data }: Place): boolean {
  const log = join(data, 'runs.ndjson');
  return existsSync(log) && readFileSync(log, 'utf8').trimEnd().split('\n').at(-1)!.includes('"exit_code":0');
}

/** Kills runs over a new ledger until one completes. @returns how many, and the pages asked for again */
async function killUntilComplete(
  random: () => number,
  worldSeed: number,
  whole: Uninterrupted,
  most: number,
): Promise<{ killed: number; again: number[] }> {
  const place = await makePlace();
  const sandbox = await startSmallWorld(worldSeed, size);
  await writeKilledJobs(place, sandbox);
  const starts: number[] = [];
  const moments: string[] = [];
  for (;;) {
    starts.push(sandbox.requests.length);
    const run = startProgram(['run'], { place, env: environmentOf(sandbox) });
    const isLast = moments.length >= most;
    const moment = isLast ? null : waitForMoment(random, sandbox, run, whole);
    const first = await Promise.race([run.ended, ...(moment === null ? [] : [moment])]);
    if (typeof first !== 'string') {
      expect(first.code, `seed ${seed}, killed ${moments.join('; ')}\n${first.stderr}`).toBe(0);
      break;
    }
    run.child.kill('SIGKILL');
    await run.ended;
    moments.push(first);
    await expectOpens(place, `seed ${seed}, killed ${moments.join('; ')}`);
    if (hasCompleted(place)) break;
  }
  await sandbox.close();
  const history = `seed ${seed}, world ${worldSeed}, killed ${moments.join('; ')}`;
  await expectEqual(place, whole.place, history);
  const again = countAskedAgain(sandbox, starts);
  for (const count of again) expect(count, `${again} ${history}`).toBeLessThanOrEqual(inFlight);
  return { killed: moments.length, again };
}

async function expectEqual(place: Place, whole: Place, history: string): Promise<void> {
  const snapshot = join(place.data, 'warehouse.duckdb');
  const expected = join(whole.data, 'warehouse.duckdb');
  expect(await compareContent(snapshot, expected), history).toEqual([]);
  expect((await readCounts(snapshot)).twice, history).toEqual([]);
  expect(await readCheckpoints(snapshot), history).toEqual(await readCheckpoints(expected));
  expect(await readCoverage(snapshot), history).toEqual([{ job: 'signatures', state: 'covered', low: '0' }]);
  for (const folder of ['landing', 'staging'])
    expect(readdirSync(join(place.data, folder)), `${folder}: ${history}`).toEqual([]);
}

/** Kills `quota` runs over one ledger after another. @returns how many pages were asked for again after each */
async function killMany(
  random: () => number,
  quota: number,
  uninterrupted: (worldSeed: number) => Promise<Uninterrupted>,
): Promise<number[]> {
  const again: number[] = [];
  for (let killed = 0; killed < quota; ) {
    const worldSeed = 1 + (seed % 1000) + Math.floor(random() * worlds);
    const result = await killUntilComplete(random, worldSeed, await uninterrupted(worldSeed), quota - killed);
    killed += result.killed;
    again.push(...result.again);
  }
  return again;
}

test(
  `${kills} runs killed with SIGKILL at random moments: resumed, each ledger ends as if never interrupted`,
  async () => {
    console.log(`kill.test.ts: LEDGERLAKE_SEED=${seed} LEDGERLAKE_BARS=kills=${kills}`);
    const known = new Map<number, Promise<Uninterrupted>>();
    const uninterrupted = (worldSeed: number) => {
      const run = known.get(worldSeed) ?? runUninterrupted(worldSeed);
      known.set(worldSeed, run);
      return run;
    };
    // Two ledgers at a time: a run that is about to be killed mostly waits.
    const again = await Promise.all([
      killMany(createRandom(seed), Math.ceil(kills / 2), uninterrupted),
      killMany(createRandom(seed + 1), Math.floor(kills / 2), uninterrupted),
    ]);
    const counts = again.flat();
    const note = `at most ${Math.max(...counts)} pages asked again after one kill, of ${inFlight} in flight`;
    console.log(`kill.test.ts: ${note}, ${counts.reduce((sum, n) => sum + n, 0)} in all`);
    showFigure('kills', { done: kills, seed, note });
  },
  60_000 + kills * 8_000,
);
