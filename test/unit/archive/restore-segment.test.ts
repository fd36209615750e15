import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { archiveSegments, removeLanded } from '../../../src/archive/archive.ts';
import { archivedPages, archivedRecords } from '../../../src/archive/archive-files.ts';
import { listLostTexts, recordLostTexts } from '../../../src/archive/lost-texts.ts';
import { restoreSegment } from '../../../src/archive/restore-segment.ts';
import { type DataFolder, dataFolder, makeDataFolder } from '../../../src/data-folder.ts';
import { StoppedEarly } from '../../../src/errors.ts';
import { LandingRecord } from '../../../src/landing/landing-record.ts';
import { exists, listSegments } from '../../../src/landing/segment-files.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { type Database, openDatabase } from '../../../src/warehouse/database.ts';
import { newPage, newSlice } from '../../support/pages.ts';
import { createRandom, readSeed } from '../../support/random.ts';

async function makeFolder(): Promise<{ folder: DataFolder; database: Database }> {
  const folder = dataFolder(await mkdtemp(join(tmpdir(), 'restore-')));
  await makeDataFolder(folder);
  const database = await openDatabase(':memory:', {
    memoryLimit: '256MB',
    threads: 2,
    tempDir: folder.temp,
  });
  onTestFinished(async () => {
    database.close();
    await rm(folder.root, { recursive: true, force: true });
  });
  return { folder, database };
}

/** Contents of every file of a folder as hashes. */
async function hashFiles(dir: string): Promise<Record<string, string>> {
  const names = (await readdir(dir)).sort();
  const hashes = names.map(async (name) => [
    name,
    createHash('sha256')
      .update(await readFile(join(dir, name)))
      .digest('hex'),
  ]);
  return Object.fromEntries(await Promise.all(hashes));
}

const texts = [
  '{"id":"é\\u0000 1.50","n":1.50,"u":18446744073709551615}',
  '{ "id" : "quote \\" comma , tab\\t",\t"e":1E+2}',
  '{"id":"😀\u2028,\'|"}',
  '{"deep":{"page":7,"n":3,"record":{"n":4}}}',
  '{"long":"'.concat('x'.repeat(5000), '"}'),
];

/** A page's records: some readable, some refused, some keyed. A small choice, so that pages repeat. */
function randomRecords(random: () => number): LandingRecord[] {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  return Array.from({ length: Math.floor(random() * 4) }, () => {
    const record = new LandingRecord(Buffer.from(pick(texts)));
    if (random() < 0.2) record.key = pick(['a', 'key "q" \\', 'half \udc00']);
    if (random() < 0.2) record.refusal = 'lone-surrogate';
    return record;
  });
}

/** Lands one run: crawls side by side in small segments, frozen ids and failures between their pages. */
async function landNight(folder: DataFolder, run: string, random: () => number): Promise<void> {
  const landing = createLandingLog({ dir: folder.landing, rotateBytes: 20_000 });
  for (let step = 0; step < 60; step += 1) {
    const task = `task-${Math.floor(random() * 4)}`;
    const of = { task, crawl: run, run, target: 'a "b" \\ é \ud800' };
    if (random() < 0.1) await landing.appendIds([{ ...newSlice(step, ['x', 'y'], false), ...of }]);
    else if (random() < 0.05)
      await landing.appendFailure({
        ...{ kind: 'failed', ...of, job: 'job', operation: 'getAsset', shape: 'asset' },
        ...{ reason: 'said "no", and more', failed_at: '2026-01-01T00:00:00.000Z' },
      });
    else
      await landing.appendPage(
        newPage(step, {
          ...of,
          slot: random() < 0.2 ? null : 2 ** 53 - 1 - step,
          envelope: '{"a":"\\ud800"}',
        }),
        randomRecords(random),
      );
  }
  await landing.close();
}

/** Moves all that has landed to the archive. @returns its segments */
async function archiveLanded(folder: DataFolder, database: Database): Promise<number[]> {
  const segments = await listSegments(folder.landing);
  await archiveSegments(database, folder, segments);
  await removeLanded(folder, segments);
  return segments;
}

test('archived segments restore to the files they were', async () => {
  const seed = readSeed();
  const random = createRandom(seed);
  const { folder, database } = await makeFolder();
  const before: Record<string, string> = {};
  for (let night = 0; night < 5; night += 1) {
    await landNight(folder, `run-${night}`, random);
    Object.assign(before, await hashFiles(folder.landing));
    await archiveLanded(folder, database);
  }
  expect(await readdir(folder.landing)).toEqual([]);
  const segments = Object.keys(before).flatMap((name) => /^(\d+)\.ndjson$/.exec(name)?.[1] ?? []);
  expect(segments.length, `seed ${seed}`).toBeGreaterThan(8);
  for (const segment of segments)
    await restoreSegment(database, folder.archive, folder.landing, Number(segment));
  expect(await hashFiles(folder.landing), `seed ${seed}`).toEqual(before);
});

test('most of the pages of a second night are references, and restore all the same', async () => {
  const { folder, database } = await makeFolder();
  await landNight(folder, 'run-1', createRandom(1));
  await archiveLanded(folder, database);
  await landNight(folder, 'run-2', createRandom(1));
  const before = await hashFiles(folder.landing);
  const segments = await archiveLanded(folder, database);
  const archived = new Set(await readdir(folder.archive));
  expect(segments.filter((segment) => archived.has(`${segment}.pages.parquet`))).toEqual(segments);
  const sizes = await database.rows<{ n: bigint }>(
    `select count(*) as n from read_parquet('${folder.archive}/*.parquet', union_by_name = true)
    where n is not null and crawl = 'run-2'`,
  );
  expect(sizes).toEqual([{ n: 0n }]);
  for (const segment of segments) await restoreSegment(database, folder.archive, folder.landing, segment);
  expect(await hashFiles(folder.landing)).toEqual(before);
});

test('texts of a record file that was set aside are read from a later one that has them again', async () => {
  const { folder, database } = await makeFolder();
  const archive = async (run: string) => {
    await landNight(folder, run, createRandom(4));
    return archiveLanded(folder, database);
  };
  const lost = await archive('run-1');
  await landNight(folder, 'run-2', createRandom(4));
  const before = await hashFiles(folder.landing);
  const segments = await archiveLanded(folder, database);
  for (const segment of lost) {
    const records = archivedRecords(folder.archive, segment);
    if (!(await exists(records))) continue;
    await damageLines(database, records);
    await recordLostTexts(records, { memoryLimit: '256MB', threads: 1, tempDir: folder.temp });
    for (const file of [records, archivedPages(folder.archive, segment)]) await rm(file);
  }
  const restore = async () => {
    for (const segment of segments) await restoreSegment(database, folder.archive, folder.landing, segment);
    return hashFiles(folder.landing);
  };
  await expect(restore()).rejects.toThrow(/archived segment \d+ cannot be read/);
  await archive('run-3');
  expect(await restore()).toEqual(before);

  // The list of a damaged file may be wrong itself. A restore of single records notices that, too.
  await rm(folder.landing, { recursive: true });
  await mkdir(folder.landing);
  const lists = await listLostTexts(folder.archive);
  for (const file of lists) {
    await database.run(
      `copy (
        select text_segment, text_number, coalesce(lead(digest) over (order by text_number), first(digest) over (order by text_number)) as digest
        from read_parquet($list)
      ) to $file (format parquet)`,
      { list: file, file: `${file}.tmp` },
    );
    await rename(`${file}.tmp`, file);
  }
  const needed = { file: join(folder.temp, 'needed.parquet'), segments: new Set(segments) };
  await database.run(
    `copy (
      select parse_filename(filename, true)[:-7]::bigint as segment, unnest(text_segments) as text_segment, unnest(text_numbers) as text_number
      from read_parquet($pages, filename = true)
    ) to $file (format parquet)`,
    { pages: segments.map((segment) => archivedPages(folder.archive, segment)), file: needed.file },
  );
  const failures: string[] = [];
  for (const segment of segments)
    await restoreSegment(database, folder.archive, folder.landing, segment, needed).catch((error: Error) =>
      failures.push(error.message),
    );
  expect(failures.length).toBeGreaterThan(0);
  expect(failures.join()).toContain('names other texts than its page had');
});

/** Changes a byte in the texts of a record file, which DuckDB compressed. */
async function damageLines(database: Database, file: string): Promise<void> {
  const [column] = await database.rows<{ start: bigint; bytes: bigint }>(
    `select coalesce(dictionary_page_offset, data_page_offset) as start, total_compressed_size as bytes
    from parquet_metadata($file) where path_in_schema = 'line'`,
    { file },
  );
  const bytes = await readFile(file);
  const middle = Number(column!.start) + (Number(column!.bytes) >> 1);
  bytes[middle] = (bytes[middle] as number) ^ 255;
  await writeFile(file, bytes);
}

test('a damaged or missing archive file is named, and nothing is left of it in the landing log', async () => {
  const { folder, database } = await makeFolder();
  await landNight(folder, 'run-1', createRandom(2));
  const segments = await archiveLanded(folder, database);
  const [segment] = segments as [number];
  for (const file of [archivedPages(folder.archive, segment), archivedRecords(folder.archive, segment)]) {
    const whole = await readFile(file);
    const flipped = Buffer.from(whole);
    // In every column: those that a restore does not read may be as they like.
    for (let at = 100; at < whole.length - 100; at += 50) flipped[at] = (flipped[at] as number) ^ 4;
    for (const damage of [
      () => writeFile(file, flipped),
      () => truncate(file, whole.length >> 1),
      () => rm(file),
    ]) {
      await damage();
      await expect(restoreSegment(database, folder.archive, folder.landing, segment)).rejects.toMatchObject({
        exitCode: 74,
        message: expect.stringContaining(`archived segment ${segment}`),
      });
      expect(await readdir(folder.landing)).toEqual([]);
      await writeFile(file, whole);
    }
  }
  await mkdir(folder.landing, { recursive: true });
  await restoreSegment(database, folder.archive, folder.landing, segment);
  expect(await listSegments(folder.landing)).toEqual([segment]);
});

test("what is not the archive's fault is not put down to it: a signal to stop, a full disk, too little memory", async () => {
  const { folder, database } = await makeFolder();
  await landNight(folder, 'run-1', createRandom(2));
  const segments = await archiveLanded(folder, database);
  const stop = new AbortController();
  const options = { memoryLimit: '256MB', threads: 1, tempDir: folder.temp, signal: stop.signal };
  const stopped = await openDatabase(':memory:', options);
  onTestFinished(() => stopped.close());
  const [segment] = segments as [number];
  const reason = new StoppedEarly('stopped by SIGTERM', 'Run it again.');
  stop.abort(reason);
  await expect(restoreSegment(stopped, folder.archive, folder.landing, segment)).rejects.toBe(reason);
  for (const message of [
    'IO Error: Could not write file "1.ndjson": No space left on device',
    'Out of Memory Error: failed to pin block',
  ]) {
    const rows = () => Promise.reject(new Error(message));
    await expect(
      restoreSegment({ ...database, rows }, folder.archive, folder.landing, segment),
    ).rejects.toThrow(message);
  }
  expect(await readdir(folder.landing)).toEqual([]);
});
