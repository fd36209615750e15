import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/server.ts';
import { bar, showFigure } from '../../bars.ts';
import { type Ended, runProcess, type Started, startProgram } from '../../support/program.ts';
import { environmentOf, makeProject, type Project } from '../../support/project.ts';
import { createRandom, readSeed } from '../../support/random.ts';
import { exportOnly, holdSlot, startSmallWorld, writeJobs } from '../../support/small-world.ts';
import { compareContent, readCheckpoints, readCounts, readCoverage } from './content.ts';

const kills = bar('kills');
const seed = readSeed();
/** Concurrency of the two pools in use; loopback APIs get 8 requests at once each. */
const inFlight = 2 * 8;
/** Hundreds of kills take a ledger that is crawled in a second; most of a run is then what comes after the crawl. */
const size = { assets: 240, owners: 24, latencyMs: 8 };
/** Ledgers whose uninterrupted run is known. */
const worlds = 3;
/** Every third ledger is crawled in waves, each planned from what the one before it published: twice the work after a crawl. */
const wavesOf = (worldSeed: number) => (worldSeed % worlds === 0 ? 3 : 1);

/** An uninterrupted run: what the others must equal. */
interface Uninterrupted {
  place: Project;
  ms: number;
  requests: number;
  waves: number;
}

/** Every step of an export has its death in every-step.test.ts: here two tables are enough to be killed in. */
async function writeKilledJobs(place: Project, sandbox: Sandbox, worldSeed: number): Promise<void> {
  await writeJobs(place, sandbox, wavesOf(worldSeed));
  await exportOnly(place, 'assets', 'token_accounts');
}

/** A ledger whose slots are compared, too. */
async function startStillWorld(worldSeed: number): Promise<Sandbox> {
  const sandbox = await startSmallWorld(worldSeed, size);
  holdSlot(sandbox);
  return sandbox;
}

async function runUninterrupted(worldSeed: number): Promise<Uninterrupted> {
  const place = await makeProject();
  const sandbox = await startStillWorld(worldSeed);
  await writeKilledJobs(place, sandbox, worldSeed);
  const startedAt = Date.now();
  const ended = await runProcess(['run'], { cwd: place.root, env: environmentOf(sandbox) });
  const ms = Date.now() - startedAt;
  await sandbox.close();
  expect(ended.code, ended.stderr).toBe(0);
  return { place, ms, requests: sandbox.requests.length, waves: wavesOf(worldSeed) };
}

const countPublished = (run: Started) => run.stderr().split('"msg":"published"').length - 1;

/**
 * Waits for the moment at which a run is to be killed; one of three kinds, so that every stage gets its share.
 * @returns the moment, or how the run ended before it came
 */
async function waitForMoment(
  random: () => number,
  { requests }: Sandbox,
  run: Started,
  whole: Uninterrupted,
): Promise<string | Ended> {
  const kind = random();
  const share = random();
  const delay = random();
  let ended = false;
  void run.ended.then(() => {
    ended = true;
  });
  const until = async (holds: () => boolean) => {
    while (!holds() && !ended) await sleep(2);
  };
  const waited = async (ms: number) => Promise.race([sleep(ms), run.ended]);
  let what: string;
  if (kind < 0.4) {
    const ms = Math.round(50 + share * whole.ms);
    what = `after ${ms} ms`;
    await waited(ms);
  } else if (kind < 0.65) {
    const from = requests.length;
    const count = 1 + Math.floor(share * 1.25 * whole.requests);
    what = `after ${count} requests`;
    await until(() => requests.length - from >= count);
    await waited(delay * 15);
  } else {
    const count = 1 + Math.floor(share * whole.waves);
    const ms = Math.round(delay * 400);
    what = `${ms} ms after publish ${count}`;
    await until(() => countPublished(run) >= count);
    await waited(ms);
  }
  return ended ? run.ended : what;
}

const snapshotOf = ({ data }: Project) => join(data, 'warehouse.duckdb');
const inodeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino;

/** What a killed run was at. @param asked requests before it @param former inode of the snapshot before it */
function nameStage(
  run: Started,
  { requests }: Sandbox,
  asked: number,
  place: Project,
  former?: number,
): string {
  if (inodeOf(snapshotOf(place)) !== former) return 'archive and export';
  const published = countPublished(run);
  if (published === 0 && requests.length === asked) return 'start';
  // A crawl is never silent for so long.
  if (Date.now() - requests.at(-1)!.at < 10 * size.latencyMs) return 'crawl';
  return published === 0 ? 'load and first publish' : 'later publish and snapshot';
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

/** Readers find no row twice, and no kill takes a snapshot from them that was there. */
async function expectOpens(place: Project, wasThere: boolean, history: string): Promise<void> {
  const snapshot = snapshotOf(place);
  if (!wasThere && !existsSync(snapshot)) return;
  const { twice } = await readCounts(snapshot);
  expect(twice, history).toEqual([]);
}

/** Whether the last run had noted its success before it was killed: the next one would begin a new night. */
function hasCompleted({ data }: Project): boolean {
  const log = join(data, 'runs.ndjson');
  return existsSync(log) && readFileSync(log, 'utf8').trimEnd().split('\n').at(-1)!.includes('"exit_code":0');
}

interface Killed {
  /** What each was at. */
  stages: string[];
  /** How many pages were asked for again after each. */
  again: number[];
}

/** Kills runs over a new ledger until one completes. */
async function killUntilComplete(
  random: () => number,
  worldSeed: number,
  whole: Uninterrupted,
  most: number,
): Promise<Killed> {
  const place = await makeProject();
  const sandbox = await startStillWorld(worldSeed);
  await writeKilledJobs(place, sandbox, worldSeed);
  const starts: number[] = [];
  const moments: string[] = [];
  const stages: string[] = [];
  for (;;) {
    const asked = sandbox.requests.length;
    starts.push(asked);
    const former = inodeOf(snapshotOf(place));
    const run = startProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) });
    const isLast = moments.length >= most;
    const first = isLast ? await run.ended : await waitForMoment(random, sandbox, run, whole);
    if (typeof first !== 'string') {
      expect(first.code, `seed ${seed}, killed ${moments.join('; ')}\n${first.stderr}`).toBe(0);
      break;
    }
    run.child.kill('SIGKILL');
    stages.push(nameStage(run, sandbox, asked, place, former));
    await run.ended;
    moments.push(first);
    await expectOpens(place, former !== undefined, `seed ${seed}, killed ${moments.join('; ')}`);
    if (hasCompleted(place)) break;
  }
  await sandbox.close();
  const history = `seed ${seed}, world ${worldSeed}, killed ${moments.join('; ')}`;
  await expectEqual(place, whole.place, history);
  const again = countAskedAgain(sandbox, starts);
  for (const count of again) expect(count, `${again} ${history}`).toBeLessThanOrEqual(inFlight);
  return { stages, again };
}

async function expectEqual(place: Project, whole: Project, history: string): Promise<void> {
  const snapshot = snapshotOf(place);
  const expected = snapshotOf(whole);
  expect(await compareContent(snapshot, expected, 'equal'), history).toEqual([]);
  expect((await readCounts(snapshot)).twice, history).toEqual([]);
  expect(await readCheckpoints(snapshot), history).toEqual(await readCheckpoints(expected));
  expect(await readCoverage(snapshot), history).toEqual([{ job: 'signatures', state: 'covered', low: '0' }]);
  for (const folder of ['landing', 'staging'])
    expect(readdirSync(join(place.data, folder)), `${folder}: ${history}`).toEqual([]);
}

/** Kills `quota` runs over one ledger after another. */
async function killMany(
  random: () => number,
  quota: number,
  uninterrupted: (worldSeed: number) => Promise<Uninterrupted>,
): Promise<Killed> {
  const all: Killed = { stages: [], again: [] };
  while (all.stages.length < quota) {
    const worldSeed = 1 + (seed % 1000) + Math.floor(random() * worlds);
    const most = quota - all.stages.length;
    const { stages, again } = await killUntilComplete(
      random,
      worldSeed,
      await uninterrupted(worldSeed),
      most,
    );
    all.stages.push(...stages);
    all.again.push(...again);
  }
  return all;
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
    const killed = await Promise.all([
      killMany(createRandom(seed), Math.ceil(kills / 2), uninterrupted),
      killMany(createRandom(seed + 1), Math.floor(kills / 2), uninterrupted),
    ]);
    const counts = killed.flatMap(({ again }) => again);
    const note = `at most ${Math.max(...counts)} pages asked again after one kill, of ${inFlight} in flight`;
    console.log(`kill.test.ts: ${note}, ${counts.reduce((sum, n) => sum + n, 0)} in all`);
    const stages = killed.flatMap((one) => one.stages);
    const shares = [...new Set(stages)].map((at) => `${stages.filter((one) => one === at).length} in ${at}`);
    console.log(`kill.test.ts: ${shares.sort().join(', ')}`);
    showFigure('kills', { done: kills, seed, note });
  },
  300_000 + kills * 8_000,
);
