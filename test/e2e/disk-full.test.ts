import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readCounts } from '../crash/content.ts';
import { askedTwice, expectFailure } from '../crash/failure.ts';
import { environmentOf, type Place, runProgram } from '../crash/program.ts';
import { startTiny, writeListJob } from './tiny.ts';

// Whole runs of the program: on a busy machine several of them take longer than the default.
vi.setConfig({ testTimeout: 180_000 });

/** Whether this user may mount a file system of its own. */
function mayMount(): boolean {
  const at = mkdtempSync(join(tmpdir(), 'ledgerlake-mount-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', at]).status === 0;
  if (mounted) spawnSync('umount', [at]);
  rmSync(at, { recursive: true, force: true });
  return mounted;
}

/** Mounts a small file system as the place's data folder. */
function mountData({ data }: Place, megabytes: number): void {
  mkdirSync(data);
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', data]);
  if (status !== 0) throw new Error(`mount: ${stderr}`);
  onTestFinished(() => {
    spawnSync('umount', ['-l', data]);
  });
}

/** Fills the data folder's file system up to so many bytes; returns what makes room again. */
function fill({ data }: Place, left: number): () => void {
  const { bavail, bsize } = statfsSync(data);
  const file = join(data, 'filler');
  writeFileSync(file, Buffer.alloc(Math.max(0, bavail * bsize - left)));
  return () => rmSync(file);
}

// A user without that right sees the tests as skipped.
const whenMounting = test.skipIf(!mayMount());

/** Everything of the ledger is there, and nothing was paid for twice. */
async function expectWhole(place: Place, { sandbox }: Awaited<ReturnType<typeof startTiny>>): Promise<void> {
  const truth = sandbox.world.truth();
  const listed = truth.collections().flatMap((collection) => truth.idsInCollection(collection));
  const { rows, twice } = await readCounts(join(place.data, 'warehouse.duckdb'));
  expect(twice).toEqual([]);
  expect(rows.assets).toBe(new Set(listed).size);
}

whenMounting.each([
  ['in the first page', 1_100_000],
  ['in the middle', 1_500_000],
])('the disk fills while landing, %s: 74, and with room again the run goes on', async (_, left) => {
  const tiny = await startTiny({ assets: 1500, latencyMs: 5, quirks: false });
  const { sandbox, place } = tiny;
  await writeListJob(place, sandbox, 50);
  mountData(place, 64);
  const makeRoom = fill(place, left);
  const env = environmentOf(sandbox);
  expectFailure(
    await runProgram(['run'], { place, env }),
    74,
    /(ENOSPC|No space left)[\s\S]*Free some space/,
  );
  makeRoom();
  const again = await runProgram(['run'], { place, env });
  expect(again.code, again.stderr).toBe(0);
  await expectWhole(place, tiny);
  // A page that found no room was not kept: at most those in flight are asked again.
  expect(askedTwice(sandbox).length).toBeLessThanOrEqual(8);
});

whenMounting(
  'the disk is full when segments are loaded, published and copied: 74, nothing is lost',
  async () => {
    const tiny = await startTiny({ assets: 1500, quirks: false });
    const { sandbox, place } = tiny;
    await writeListJob(place, sandbox, 50);
    mountData(place, 64);
    const env = environmentOf(sandbox);
    expect((await runProgram(['crawl'], { place, env })).code).toBe(0);
    const asked = sandbox.requests.length;
    const stages: [string[], number][] = [
      [['load'], 60_000],
      [['publish'], 60_000],
      [['run'], 1_500_000],
      [['run'], 3_000_000],
    ];
    for (const [args, left] of stages) {
      const makeRoom = fill(place, left);
      const ended = await runProgram(args, { place, env });
      makeRoom();
      if (ended.code !== 0)
        expectFailure(ended, 74, /(ENOSPC|No space left|cannot write)[\s\S]*Free some space/);
      expect([0, 74], `${args} with ${left}: ${ended.stderr}`).toContain(ended.code);
      if (left < 100_000) expect(ended.code).toBe(74);
    }
    expect((await runProgram(['load'], { place, env })).code).toBe(0);
    const ended = await runProgram(['publish'], { place, env });
    expect(ended.code, ended.stderr).toBe(0);
    await expectWhole(place, tiny);
    expect(sandbox.requests.slice(0, asked).length).toBe(asked);
  },
);
