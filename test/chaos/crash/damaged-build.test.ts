import { readdirSync, rmSync } from 'node:fs';
import { chmod, cp } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeAll, expect, test, vi } from 'vitest';
import { listArchived } from '../../../src/archive/archive-files.ts';
import { readConfig } from '../../../src/config/config.ts';
import { dataFolder } from '../../../src/data-folder.ts';
import { listStaged } from '../../../src/load/staged-segments.ts';
import { openSession } from '../../../src/run/open-session.ts';
import { publishLoaded } from '../../../src/run/publish-stage.ts';
import type { Sandbox } from '../../../src/sandbox/server.ts';
import { bar, showFigure } from '../../bars.ts';
import { runProgram } from '../../support/program.ts';
import {
  copyProject,
  environmentOf,
  makeLastingProject,
  type Project,
  removeProject,
} from '../../support/project.ts';
import { createRandom, readSeed } from '../../support/random.ts';
import { exportOnly, startSmallWorld, writeJobs } from '../../support/small-world.ts';
import { compareEverything } from './content.ts';
import { damages } from './damage.ts';
import { expectFailure, hashFile } from './failure.ts';

const seed = readSeed();
const rounds = bar('damages');

vi.setConfig({ testTimeout: 400_000 + rounds * 10_000 });

/** `ledgerlake publish`, in this process. @returns what it logged @throws what it would end with */
async function publish({ data }: Project): Promise<string> {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });
  const config = await readConfig({ env: {}, cwd: data, needsKey: false });
  const folder = dataFolder(data);
  const session = await openSession({ config, folder, log, verb: 'publish', jobs: [], origins: {} });
  try {
    await publishLoaded(session);
  } finally {
    await session.end(0, null);
  }
  return lines.join('');
}

/** Two nights that were published and archived, and a third that has only landed: tests copy them. */
let nights: Project;
/** The same with the third one's rows staged, which is less to do in each round that begins with it. */
let loaded: Project;
beforeAll(async () => {
  nights = await makeLastingProject();
  loaded = await makeLastingProject();
  const sandbox = await startSmallWorld(11, { assets: 160, owners: 16, latencyMs: 0 });
  await makeNights(nights, sandbox);
  await sandbox.close();
  await cp(nights.root, loaded.root, { recursive: true, verbatimSymlinks: true });
  const ended = await runProgram(['load'], { cwd: loaded.root });
  expect(ended.code, ended.stderr).toBe(0);
  return async () => {
    for (const place of [nights, loaded]) await removeProject(place);
  };
});

async function makeNights(place: Project, sandbox: Sandbox): Promise<void> {
  await writeJobs(place, sandbox, 1);
  await exportOnly(place, 'webhooks');
  const env = environmentOf(sandbox);
  for (let night = 0; night < 3; night += 1) {
    const verb = night < 2 ? 'run' : 'crawl';
    const ended = await runProgram([verb, '--log-level', 'warn'], { cwd: place.root, env });
    expect(ended.code, ended.stderr).toBe(0);
    sandbox.tick(5);
  }
}

/** When publish wrote something down, not what. */
const whenWritten = ['meta.segments.published_at'];
/** From nothing, the source is bound by the next run that asks, which also notes the targets that jobs have. */
const afterReplay = [
  ...['transport', 'origin', 'bound_at', 'moved_by'].map((name) => `meta.source.${name}`),
  ...['meta.jobs', 'meta.targets', 'meta.followed', 'main.assets.followed', 'main.token_accounts.followed'],
];

const snapshotOf = ({ data }: Project) => join(data, 'warehouse.duckdb');
const setAside = ({ data }: Project) => readdirSync(data).filter((name) => name.includes('.set-aside-'));

test(`the build damaged in ${rounds} ways (seed ${seed}): publishing heals it, and the content is that of an undamaged one`, async () => {
  const whole = await copyProject(nights);
  await publish(whole);
  const undamaged = snapshotOf(whole);
  const random = createRandom(seed);
  const names = Object.keys(damages);
  const rates: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const name = names[round % names.length] as string;
    const both = round % 4 === 3;
    const place = await copyProject(round % 5 < 2 ? nights : loaded);
    damages[name]?.(join(place.data, 'build.duckdb'), random);
    if (both) {
      await chmod(snapshotOf(place), 0o600);
      damages[names[Math.floor(random() * names.length)] as string]?.(snapshotOf(place), random);
    }
    const what = `seed ${seed}, round ${round}: ${name}${both ? ', snapshot too' : ''}`;
    const log = await publish(place).catch((error) => {
      throw new Error(what, { cause: error });
    });
    const except = both ? [...whenWritten, ...afterReplay] : whenWritten;
    expect(await compareEverything(undamaged, snapshotOf(place), except), what).toEqual([]);
    const rate = /"rows":(\d+).*"rows_per_s":(\d+)/.exec(log);
    if (rate !== null) rates.push(`${rate[1]} rows at ${rate[2]}/s`);
    if (setAside(place).length > 0) expect(log, what).toMatch(/"level":40.*rebuilding the build/);
    rmSync(place.root, { recursive: true });
  }
  console.log(`replayed: ${rates.join(', ')}`);
  expect(rates.length).toBeGreaterThan(rounds / 3);
  showFigure('damages', { done: rounds, seed });
});

test('a rebuild from the archive makes the same tables and history; it refuses where the archive is too short', async () => {
  const place = await copyProject(nights);
  await publish(place);
  const before = await copyProject(place);
  const rebuilt = await runProgram(['rebuild', '--from-archive', '--json'], { cwd: place.root });
  expect(rebuilt.stdout).toMatch(/"seconds": \d+(\.\d{1,3})?,/);
  expect(rebuilt.code, rebuilt.stderr).toBe(0);
  expect(JSON.parse(rebuilt.stdout)).toMatchObject({
    segments: expect.any(Number),
    rows: expect.any(Number),
  });
  expect(await compareEverything(snapshotOf(before), snapshotOf(place), whenWritten)).toEqual([]);

  const [first] = await listArchived(join(place.data, 'archive'));
  rmSync(join(place.data, 'archive', `${first}.pages.parquet`));
  const hash = hashFile(join(place.data, 'build.duckdb'));
  expectFailure(
    await runProgram(['rebuild', '--from-archive'], { cwd: place.root }),
    2,
    /does not reach back/,
  );
  expect(hashFile(join(place.data, 'build.duckdb'))).toBe(hash);
  const again = await runProgram(['rebuild'], { cwd: place.root });
  expect(again.code, again.stderr).toBe(0);
  expect(await compareEverything(snapshotOf(before), snapshotOf(place), whenWritten)).toEqual([]);
});

test('staged files that were damaged, or that have no checksums, are rebuilt', async () => {
  const place = await copyProject(loaded);
  const folder = dataFolder(place.data);
  const whole = await copyProject(place);
  await publish(whole);
  const random = createRandom(seed);
  const files = (await listStaged(folder)).map((segment) => join(folder.staging, String(segment)));
  expect(files.length).toBeGreaterThan(2);
  for (const [n, dir] of files.entries()) {
    const [file] = readdirSync(dir).filter((name) => name.endsWith('.parquet'));
    if (n === 0) rmSync(join(dir, 'checksums.json'));
    else damages[n === 1 ? 'a flipped bit' : 'cut anywhere']?.(join(dir, file as string), random);
  }
  expect(await publish(place), `seed ${seed}`).toMatch(/staged files that are damaged/);
  expect(await compareEverything(snapshotOf(whole), snapshotOf(place), whenWritten), `seed ${seed}`).toEqual(
    [],
  );
});
