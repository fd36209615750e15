import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/server.ts';
import { expectFailure, hashFile } from '../chaos/crash/failure.ts';
import { daily, firstOf } from '../levels.ts';
import { runProgram } from '../support/program.ts';
import { environmentOf, type Project } from '../support/project.ts';
import { openTinyWorld, writeListJob } from '../support/small-world.ts';

/** Of all collections, the empty ones that end them included. */
const pagesInAll = 19;

/** A place where pages of every collection have landed; those of `crawl` are not loaded. */
async function openLanded(verbs: readonly string[] = ['crawl']) {
  const { sandbox, place } = await openTinyWorld({ quirks: false });
  await writeListJob(place, sandbox, 20);
  const env = environmentOf(sandbox);
  const cli = (...args: string[]) => runProgram(args, { cwd: place.root, env });
  for (const verb of verbs)
    expect((await cli(...verb.split(' '))).code).toBe(verb.includes('--max-requests') ? 75 : 0);
  const landing = join(place.data, 'landing');
  const name = (await readdir(landing)).find((file) => file.endsWith('.pages.ndjson')) ?? 'none';
  const files = { pages: join(landing, name), records: join(landing, name.replace('.pages', '')) };
  const lines = name === 'none' ? [] : (await readFile(files.pages, 'utf8')).trimEnd().split('\n');
  return { sandbox, place, cli, ...files, lines };
}

async function changeByte(path: string, at: number): Promise<void> {
  const bytes = await readFile(path);
  bytes[at]! ^= 0x04;
  await writeFile(path, bytes);
}

/** Ids in the tables, and those that the collections have. */
async function compareIds({ world }: Sandbox, cli: (...args: string[]) => ReturnType<typeof runProgram>) {
  const truth = world.truth();
  const listed = truth.collections().flatMap((collection) => truth.idsInCollection(collection));
  const { stdout } = await cli('sql', '--format', 'csv', 'select id from assets order by id');
  expect(stdout.trim().split('\n').slice(1)).toEqual([...new Set(listed)].sort());
}

/** Tasks that have pages, and none that ended their crawl. */
function countOpen(lines: readonly string[]): number {
  const pages = lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'page');
  const ended = new Set(pages.filter(({ end }) => end).map(({ task }) => task));
  return new Set(pages.map(({ task }) => task).filter((task) => !ended.has(task))).size;
}

const listFiles = async ({ data }: Project, dir: string) => (await readdir(join(data, dir))).sort();

type Landed = Awaited<ReturnType<typeof openLanded>>;

const damages: [string, (landed: Landed) => Promise<void>][] = [
  ['a byte of line 6', ({ pages, lines }) => changeByte(pages, lines.slice(0, 5).join('\n').length + 200)],
  [
    'a byte of the records of line 6',
    ({ records, lines }) => changeByte(records, JSON.parse(lines[4]!).end_offset + 300),
  ],
  ['a byte of line 1', ({ pages }) => changeByte(pages, 300)],
  [
    'a byte of the last line',
    ({ pages, lines }) => changeByte(pages, lines.slice(0, -2).join('\n').length + 200),
  ],
];

test.each(firstOf(2, damages))(
  '%s: 74 and nothing cut; doctor --repair keeps all other crawls, and only what it names is asked again',
  async (_, damage) => {
    const landed = await openLanded([`crawl --max-requests ${pagesInAll - 1}`]);
    const { sandbox, cli, pages, records, lines } = landed;
    expect(lines.length).toBe(pagesInAll);
    await damage(landed);
    const sent = sandbox.requests.length;
    const before = [hashFile(pages), hashFile(records)];
    for (const verb of ['load', 'run'])
      expectFailure(
        await cli(verb),
        74,
        /pages\.ndjson, line \d+, is damaged: [\s\S]*`ledgerlake doctor --repair` sets/,
      );
    expect([hashFile(pages), hashFile(records)]).toEqual(before);

    expect(sandbox.requests.length, 'nothing is paid for before it is seen').toBe(sent);
    const found = await cli('doctor', '--json');
    expect(found.code).toBe(74);
    const [damaged, ...others] = JSON.parse(found.stdout).findings;
    expect(damaged).toMatchObject({ about: 'landing', repair: 'ledgerlake doctor --repair', exitCode: 74 });
    // A build may stand there before the first snapshot.
    for (const other of others) expect(other).toMatchObject({ repair: 'ledgerlake publish', exitCode: 0 });
    const repaired = await cli('doctor', '--repair', '--json');
    expect(repaired.code, repaired.stdout).toBe(0);
    const { aside, askedAgain, pages: counts } = JSON.parse(repaired.stdout).repaired;
    // Nobody can read whose the last page was: of each crawl that had not ended before it.
    const most = damage === damages.at(-1)![1] ? countOpen(lines.slice(0, -2)) : 1;
    expect(askedAgain.length).toBeGreaterThan(0);
    expect(askedAgain.length).toBeLessThanOrEqual(most);
    expect(counts.kept + counts.setAside).toBe(lines.filter((line) => line.includes('"kind":"page"')).length);
    expect((await readdir(aside)).map((name) => hashFile(join(aside, name))).sort()).toEqual(before.sort());

    const asked = sandbox.requests.length;
    const { code, stderr } = await cli('run');
    expect(code, stderr).toBe(0);
    // In the round that goes on, each page of each list is asked for once, but for those that were not kept.
    const later = sandbox.requests.slice(asked).map(({ params }) => JSON.stringify(params));
    expect(new Set(later).size).toBe(pagesInAll - counts.kept);
    // One list ends with a full page: the empty one below it is looked at twice.
    expect(later.length - new Set(later).size).toBeLessThanOrEqual(1);
    await compareIds(sandbox, cli);
    expect((await cli('doctor')).code).toBe(0);
  },
);

test('a page damaged after its rows were made: publish ends with 74, after a repair the run goes on', async () => {
  const landed = await openLanded(['crawl', 'load']);
  await damages[1]![1](landed);
  const { cli, sandbox } = landed;
  expectFailure(await cli('publish'), 74, /doctor --repair/);
  expect((await cli('doctor', '--repair')).code).toBe(0);
  expect((await cli('run')).code).toBe(0);
  await compareIds(sandbox, cli);
  expect((await cli('rebuild', '--from-archive')).code).toBe(0);
  await compareIds(sandbox, cli);
});

daily('lines of the logs that are none: named, and taken out with a copy', async () => {
  const { place, cli } = await openLanded();
  const runs = join(place.data, 'runs.ndjson');
  const text = await readFile(runs, 'utf8');
  await writeFile(runs, `{"run":\n${text}`);
  const found = await cli('doctor');
  expect(found.stdout).toMatch(/log: .*\/data\/runs\.ndjson, line 1: not readable[\s\S]*doctor --repair/);
  expect((await cli('doctor', '--repair')).code).toBe(0);
  expect(await readFile(runs, 'utf8')).toBe(text);
  expect(await listFiles(place, 'damaged')).toHaveLength(1);
});

const archiveDamages: [string, RegExp, (path: string) => Promise<void>, { check: number }][] = [
  ['a byte in the middle of its records', /^\d+\.parquet$/, flipMiddle, { check: 0 }],
  ['a byte in the middle of its pages', /\.pages\.parquet$/, flipMiddle, { check: 0 }],
  ['its pages cut short', /\.pages\.parquet$/, cutMiddle, { check: 5 }],
];

async function flipMiddle(path: string): Promise<void> {
  const { size } = await stat(path);
  await changeByte(path, Math.floor(size / 2));
}

/** Both ends stay. */
async function cutMiddle(path: string): Promise<void> {
  const bytes = await readFile(path);
  await writeFile(path, Buffer.concat([bytes.subarray(0, 100), bytes.subarray(120)]));
}

test.for(firstOf(1, archiveDamages))(
  'an archived segment, %s: doctor names it, and sets it aside; the next run goes on',
  async ([, pattern, damage, { check }]) => {
    const { sandbox, place, cli } = await openLanded(['run']);
    const archive = join(place.data, 'archive');
    const name = (await readdir(archive)).find((file) => pattern.test(file))!;
    await damage(join(archive, name));
    expect((await cli('check')).code).toBe(check);
    expect(await cli('doctor')).toMatchObject({
      code: 74,
      stdout: expect.stringMatching(
        new RegExp(
          `archive: .*${name} differs from what was written \\(.*\\)\\n {2}ledgerlake doctor --repair`,
        ),
      ),
    });
    expect((await cli('doctor', '--repair')).code).toBe(0);
    const lost = name.replace(/(\.pages)?\.parquet$/, '.lost.parquet');
    expect(await readdir(archive)).toContain(lost);
    // The list is a file of the archive like others.
    await flipMiddle(join(archive, lost));
    expect((await cli('doctor')).stdout).toMatch(
      new RegExp(`archive: .*${lost} differs from what was written`),
    );
    expect((await cli('doctor', '--repair')).code).toBe(0);
    expect(await readdir(archive)).not.toContain(lost);
    expect((await cli('run')).code).toBe(0);
    await compareIds(sandbox, cli);
  },
);

daily('an archive whose checksums are lost: every value of it is read', async () => {
  const { place, cli } = await openLanded(['run']);
  const archive = join(place.data, 'archive');
  await rm(join(archive, 'checksums.ndjson'));
  expect((await cli('doctor')).code).toBe(0);
  const name = (await readdir(archive)).find((file) => file.endsWith('.pages.parquet'))!;
  await flipMiddle(join(archive, name));
  expect((await cli('doctor')).code).toBe(74);
});

daily('config, rights and databases: each finding with what repairs it', async () => {
  const { place, cli } = await openLanded(['run']);
  expect(await cli('doctor')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/\nnothing is wrong\n$/),
  });
  await writeFile(join(place.root, 'ledgerlake.yaml'), 'apy: {}\n');
  await chmod(join(place.data, 'landing'), 0o755);
  await writeFile(join(place.data, 'warehouse.duckdb.new'), Buffer.alloc(100_000, 1));
  await runProgram(['doctor'], { cwd: place.root });
  const { code, stdout } = await cli('doctor');
  expect(code).toBe(2);
  expect(stdout).toMatch(
    /config: .*apy[\s\S]*permissions: (.*\/data\/landing) may be read by other users \(mode 755\)\n {2}chmod -R go-rwx \1/,
  );
});

test('a damaged build: named, and publish repairs it', async () => {
  const { place, cli } = await openLanded(['run']);
  await changeByte(join(place.data, 'build.duckdb'), 4100);
  await changeByte(join(place.data, 'build.duckdb'), 8200);
  const { stdout } = await cli('doctor');
  expect(stdout).toMatch(/database: .*\/data\/build\.duckdb is damaged[\s\S]*ledgerlake publish/);
  expect((await cli('publish')).code).toBe(0);
  expect((await cli('doctor')).stdout).toMatch(/\nnothing is wrong\n$/);
});

test('without a data folder: 0, and none is made', async () => {
  const { place } = await openTinyWorld();
  await mkdir(join(place.root, 'other'));
  const ended = await runProgram(['doctor', '--sample', '--repair', '--data-dir', 'other/none'], {
    cwd: place.root,
  });
  expect(ended).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('there is no data folder other/none yet'),
  });
  expect(await readdir(join(place.root, 'other'))).toEqual([]);
});
