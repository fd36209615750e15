import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bar, showFigure } from '../bars.ts';
import { expectFailure } from '../chaos/crash/failure.ts';
import { readSeen } from '../chaos/crash/steps.ts';
import { skipWithout } from '../support/needs.ts';
import { runProcess } from '../support/program.ts';
import { environmentOf, type Project } from '../support/project.ts';
import { exportOnly, holdSlot, openTinyWorld, writeListJob } from '../support/small-world.ts';

/** Whether this user may mount a file system of its own. */
function mayMount(): boolean {
  const at = mkdtempSync(join(tmpdir(), 'ledgerlake-mount-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', at]).status === 0;
  if (mounted) spawnSync('umount', [at]);
  rmSync(at, { recursive: true, force: true });
  return mounted;
}

function mount(...args: string[]): void {
  const { status, stderr } = spawnSync('mount', args);
  if (status !== 0) throw new Error(`mount ${args.join(' ')}: ${stderr}`);
  onTestFinished(() => {
    spawnSync('umount', ['-l', args.at(-1)!]);
  });
}

/** Fills a folder's file system up to so many bytes. @returns what makes room again */
function fill(folder: string, left: number): () => void {
  const { bavail, bsize } = statfsSync(folder);
  const file = join(folder, 'filler');
  writeFileSync(file, Buffer.alloc(Math.max(0, bavail * bsize - left)));
  return () => rmSync(file);
}

/** Gives a folder of the data folder a small file system of its own, full up to so many bytes. */
function limitFolder({ data }: Project, name: string, left: number): () => void {
  const folder = join(data, name);
  mkdirSync(folder, { recursive: true });
  const kept = mkdtempSync(join(tmpdir(), 'ledgerlake-kept-'));
  onTestFinished(() => rmSync(kept, { recursive: true, force: true }));
  spawnSync('cp', ['-a', `${folder}/.`, kept]);
  mount('-t', 'tmpfs', '-o', 'size=64m,mode=700', 'tmpfs', folder);
  spawnSync('cp', ['-a', `${kept}/.`, folder]);
  return fill(folder, left);
}

/** Puts one file on a full file system, where it cannot grow. */
function limitFile({ root, data }: Project, name: string): () => void {
  const small = join(root, 'small');
  mkdirSync(small);
  mount('-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', small);
  spawnSync('cp', ['-a', join(data, name), join(small, name)]);
  mount('--bind', join(small, name), join(data, name));
  return fill(small, 0);
}

/** Puts the whole data folder on one file system, full up to so many bytes. */
const limitAll =
  (left: (place: Project) => number) =>
  (place: Project): (() => void) =>
    limitFolder(place, '.', left(place));

/** What is written where there is no room, by the run of a night that is crawled, or crawled and loaded, before. */
interface Target {
  name: string;
  before: string[][];
  limit(place: Project): () => void;
}

const targets: Target[] = [
  { name: 'the landing log', before: [], limit: (place) => limitFolder(place, 'landing', 20_000) },
  {
    name: "the build's write-ahead log",
    before: [['crawl'], ['load']],
    limit: limitAll(() => 60_000),
  },
  {
    name: 'the Parquet files of the export',
    before: [],
    limit: (place) => limitFolder(place, 'lake', 12_000),
  },
  {
    name: 'staged Parquet files',
    before: [['crawl']],
    limit: (place) => limitFolder(place, 'staging', 8000),
  },
  { name: 'the archive', before: [['crawl']], limit: (place) => limitFolder(place, 'archive', 8000) },
  {
    name: 'the snapshot',
    before: [['crawl'], ['load']],
    limit: limitAll(({ data }) => statSync(join(data, 'build.duckdb')).size / 2),
  },
  { name: 'the log of requests', before: [], limit: (place) => limitFile(place, 'requests.ndjson') },
];

const chosen = targets.slice(0, bar('fullDisks'));

test.for(chosen)(
  'there is no room for $name: 74, readers find what was there, and with room again the night ends as any other',
  async ({ name, before, limit }, context) => {
    skipWithout(context, 'mount', mayMount());
    const { sandbox, place } = await openTinyWorld({ quirks: false, latencyMs: 5 });
    holdSlot(sandbox);
    await exportOnly(place, 'assets', 'assets_history');
    const env = environmentOf(sandbox);
    await writeListJob(place, sandbox);
    const run = (...args: string[]) => runProcess([...args, '--no-progress'], { cwd: place.root, env });
    expect((await run('run')).code).toBe(0);
    const earlier = await readSeen(place.data);
    sandbox.tick(20);
    const whole = { ...place, data: join(place.root, 'whole') };
    await cp(place.data, whole.data, { recursive: true, verbatimSymlinks: true });
    expect((await run('run', '--data-dir', whole.data)).code).toBe(0);
    const later = await readSeen(whole.data);
    expect(later).not.toEqual(earlier);

    for (const args of before) expect((await run(...args)).code).toBe(0);
    const asked = sandbox.requests.length;
    const makeRoom = limit(place);
    const ended = await run('run');
    expectFailure(ended, 74, /(ENOSPC|No space left|cannot write)[\s\S]*Free some space/);
    const logged = readFileSync(join(place.data, 'runs.ndjson'), 'utf8').trimEnd().split('\n').at(-1)!;
    expect(JSON.parse(logged)).toMatchObject({ exit_code: 74 });
    const found = await readSeen(place.data);
    expect([earlier.lake, later.lake], name).toContainEqual(found.lake);
    expect([earlier.snapshot, later.snapshot], name).toContainEqual(found.snapshot);
    makeRoom();
    const again = await run('run');
    expect(again.code, again.stderr).toBe(0);
    expect(await readSeen(place.data), name).toEqual(later);
    // A page that found no room was not kept: those in flight are asked again, at most.
    const pages = sandbox.requests
      .slice(asked)
      .map(({ method, params }) => `${method} ${JSON.stringify(params)}`);
    expect(pages.length - new Set(pages).size, name).toBeLessThanOrEqual(8);
    showFigure('fullDisks', { done: 1, note: name });
  },
);

test('doctor on a full disk, and with the URL of another source, says so', async (context) => {
  skipWithout(context, 'mount', mayMount());
  const { sandbox, place } = await openTinyWorld({ quirks: false });
  await exportOnly(place, 'assets');
  await writeListJob(place, sandbox);
  const env = environmentOf(sandbox);
  const doctor = (more: NodeJS.ProcessEnv = {}) =>
    runProcess(['doctor'], { cwd: place.root, env: { ...env, ...more } });
  expect((await runProcess(['run', '--no-progress'], { cwd: place.root, env })).code).toBe(0);
  const moved = await doctor({ LEDGERLAKE_RPC_URL: 'http://127.0.0.1:9' });
  expect(moved, moved.stderr).toMatchObject({ code: 2 });
  expect(moved.stdout).toContain('but the run would ask http://127.0.0.1:9');
  // Up to the end of a block: no line more fits.
  const log = join(place.data, 'requests.ndjson');
  const line = (rest: number) => `{"pad":"${'x'.repeat(rest - 11)}"}\n`;
  writeFileSync(log, line(2 * 4096 - (statSync(log).size % 4096)), { flag: 'a' });
  limitAll(() => 0)(place);
  const full = await doctor();
  expect(full, full.stderr).toMatchObject({ code: 74, stderr: '' });
  expect(full.stdout).toMatch(/^disk: data has 0 .*free, and the next run needs about/m);
});
