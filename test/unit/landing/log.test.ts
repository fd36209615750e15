import { appendFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isEnded, readLanding, readSlice } from '../../../src/landing/reader.ts';
import { recoverLanding } from '../../../src/landing/recover-landing.ts';
import { listSegments, pageFile, recordFile } from '../../../src/landing/segment-files.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { makeLanding, newPage, newRecord, newRecords, newSlice } from '../../support/pages.ts';

const key = 'task-1/run-1';

test('a page stands in the log with its records, byte for byte', async () => {
  const dir = await makeLanding();
  const log = createLandingLog({ dir });
  const texts = ['{"id":"a","supply":18446744073709551615,"x":1.50}', '{"id":"b"}'];
  const line = await log.appendPage(newPage(1), [
    ...newRecords(...texts),
    newRecord('{"id":"\\ud800"}', { refusal: 'lone-surrogate' }),
    newRecord('{"z":0}', { key: 'name "quoted"' }),
  ]);
  await log.close();
  const [segment] = await listSegments(dir);
  const records = await readFile(recordFile(dir, segment!), 'utf8');
  expect(records).toBe(
    `{"task":"task-1","crawl":"run-1","page":1,"slot":101,"n":0,"record":${texts[0]}}\n` +
      `{"task":"task-1","crawl":"run-1","page":1,"slot":101,"n":1,"record":${texts[1]}}\n` +
      `{"task":"task-1","crawl":"run-1","page":1,"slot":101,"n":2,"record":null,"refusal":"lone-surrogate","raw":"{\\"id\\":\\"\\\\ud800\\"}"}\n` +
      `{"task":"task-1","crawl":"run-1","page":1,"slot":101,"n":3,"key":"name \\"quoted\\"","record":{"z":0}}\n`,
  );
  expect(line).toMatchObject({
    records: 4,
    set_aside: 1,
    longest: 49,
    end_offset: Buffer.byteLength(records),
  });
  const crawl = (await readLanding(dir)).get(key)!;
  expect(crawl).toMatchObject({ records: 4, minSlot: 101, maxSlot: 101, runs: ['run-1'], failed: null });
  expect(crawl.last).toMatchObject(line);
  expect(isEnded(crawl)).toBe(false);
});

test('files are 0600', async () => {
  const dir = await makeLanding();
  const log = createLandingLog({ dir });
  await log.appendPage(newPage(1), newRecords('{}'));
  await log.close();
  for (const name of await readdir(dir)) expect((await stat(join(dir, name))).mode & 0o777).toBe(0o600);
});

test('an ended crawl is known as such', async () => {
  const dir = await makeLanding();
  const log = createLandingLog({ dir });
  await log.appendPage(newPage(1), newRecords('{}'));
  await log.appendPage(newPage(2, { next: null, end: 'exhausted', run: 'run-2' }), []);
  await log.close();
  const crawl = (await readLanding(dir)).get(key)!;
  expect(isEnded(crawl)).toBe(true);
  expect(crawl).toMatchObject({ records: 1, minSlot: 101, maxSlot: 102, runs: ['run-1', 'run-2'] });
  expect([...crawl.pages]).toEqual([1, 2]);
});

test('U+2028 and other odd characters in a target do not end a line', async () => {
  const dir = await makeLanding();
  const log = createLandingLog({ dir });
  const target = 'a\u2028b\u2029c\u0085d\ne"f\\g\u0000h';
  await log.appendPage(newPage(1, { target }), newRecords('{"name":"x\u2028y"}'));
  await log.appendPage(newPage(2, { target, next: null, end: 'exhausted' }), newRecords('{}'));
  await log.close();
  const crawl = (await readLanding(dir)).get(key)!;
  expect(crawl.target).toBe(target);
  expect(isEnded(crawl)).toBe(true);
});

test('pages appended at once stand in the log as if each had been waited for', async () => {
  const pages = Array.from({ length: 64 }, (_, n) => ({
    page: newPage(n + 1, { shape: n % 5 === 0 ? 'token_account' : 'asset' }),
    // Of 40 bytes to 1.4 MB: together with others, or alone.
    records: newRecords(
      ...Array.from({ length: n % 4 }, () => `"${'x'.repeat(n % 16 === 3 ? 700_000 : 40)}"`),
    ),
  }));
  const [together, singly] = [await makeLanding(), await makeLanding()];
  const log = createLandingLog({ dir: together, rotateBytes: 3_000_000 });
  const lines = await Promise.all(pages.map(({ page, records }) => log.appendPage(page, records)));
  await log.close();
  const other = createLandingLog({ dir: singly, rotateBytes: 3_000_000 });
  for (const [n, { page, records }] of pages.entries())
    expect(await other.appendPage(page, records)).toEqual(lines[n]);
  await other.close();
  expect(lines.map(({ page }) => page)).toEqual(pages.map(({ page: { page } }) => page));
  const readAll = async (dir: string) => {
    const files = (await listSegments(dir)).flatMap((n) => [recordFile(dir, n), pageFile(dir, n)]);
    return Promise.all(files.map((file) => readFile(file, 'utf8')));
  };
  expect(await readAll(together)).toEqual(await readAll(singly));
});

test('a segment is sealed when its records pass the size, one open segment a shape', async () => {
  const dir = await makeLanding();
  const sealed: string[] = [];
  const log = createLandingLog({ dir, rotateBytes: 200, onSealed: (_, shape) => sealed.push(shape) });
  const record = `{"x":"${'y'.repeat(150)}"}`;
  for (let page = 1; page <= 3; page += 1) {
    await log.appendPage(newPage(page), newRecords(record));
    await log.appendPage(
      newPage(page, { task: 'task-2', shape: 'token_account' }),
      page === 1 ? newRecords('{}') : [],
    );
  }
  expect(sealed).toEqual(['asset', 'asset']);
  await log.close();
  expect(sealed).toEqual(['asset', 'asset', 'token_account', 'asset']);
  expect((await listSegments(dir)).length).toBe(4);
  const crawls = await readLanding(dir);
  expect(crawls.get(key)!.records).toBe(3);
  expect(crawls.get('task-2/run-1')!.pages.size).toBe(3);
});

test('a segment is sealed when it is old', async () => {
  const dir = await makeLanding();
  const log = createLandingLog({ dir, rotateMs: 0 });
  await log.appendPage(newPage(1), newRecords('{}'));
  await log.appendPage(newPage(2), newRecords('{}'));
  await log.close();
  expect((await listSegments(dir)).length).toBe(2);
});

test('frozen ids come back slice by slice; a list without its last slice is not frozen', async () => {
  const dir = await makeLanding();
  const log = createLandingLog({ dir });
  await log.appendIds([newSlice(1, ['a', 'ü\u2028'], false), newSlice(2, ['c'], true)]);
  await log.appendPage(newPage(2, { position: null, next: null, shape: 'asset' }), newRecords('{}'));
  await log.appendIds([{ ...newSlice(1, ['z'], false), task: 'task-2' }]);
  await log.close();
  const crawls = await readLanding(dir);
  const crawl = crawls.get(key)!;
  expect(crawl.frozen).toBe(true);
  expect([...crawl.slices.keys()]).toEqual([1, 2]);
  expect(await readSlice(crawl, 1)).toEqual(['a', 'ü\u2028']);
  expect(await readSlice(crawl, 2)).toEqual(['c']);
  expect(isEnded(crawl)).toBe(false);
  expect(crawls.get('task-2/run-1')!.frozen).toBe(false);
  expect(isEnded(crawls.get('task-2/run-1')!)).toBe(false);
});

test('a failure is remembered with its reason, on a segment without records too', async () => {
  const dir = await makeLanding();
  const log = createLandingLog({ dir });
  const { task, crawl, run, job, target, operation, shape } = newPage(1);
  await log.appendFailure({
    ...{ kind: 'failed', task, crawl, run, job, target, operation, shape },
    reason: 'rejected',
    failed_at: '2026-01-01T00:00:00.000Z',
  });
  await log.close();
  await recoverLanding(dir);
  expect((await readLanding(dir)).get(key)).toMatchObject({ failed: 'rejected', runs: ['run-1'] });
});

test('a record file without a page file is removed, other files stay', async () => {
  const dir = await makeLanding();
  const log = createLandingLog({ dir });
  await log.appendPage(newPage(1), newRecords('{}'));
  await log.close();
  await writeFile(recordFile(dir, 5), '{"task"');
  await writeFile(join(dir, 'notes.txt'), 'mine');
  const [segment] = await listSegments(dir);
  expect(await recoverLanding(dir)).toEqual([recordFile(dir, 5)]);
  expect((await readdir(dir)).sort()).toEqual(
    [`${segment}.ndjson`, `${segment}.pages.ndjson`, 'notes.txt'].sort(),
  );
});

test('a segment that a kill left empty is removed', async () => {
  const dir = await makeLanding();
  await writeFile(recordFile(dir, 5), '');
  await writeFile(pageFile(dir, 5), '');
  await recoverLanding(dir);
  expect(await readdir(dir)).toEqual([]);
});

test('a sealed segment is left as it is', async () => {
  const dir = await makeLanding();
  const log = createLandingLog({ dir });
  await log.appendPage(newPage(1), newRecords('{}'));
  await log.close();
  const [segment] = await listSegments(dir);
  const before = await readFile(pageFile(dir, segment!), 'utf8');
  await recoverLanding(dir);
  expect(await readFile(pageFile(dir, segment!), 'utf8')).toBe(before);
});

test('after a failed write every append is refused, with the first error', async () => {
  const dir = await makeLanding();
  const blocked = join(dir, 'file');
  await writeFile(blocked, '');
  const log = createLandingLog({ dir: join(blocked, 'landing') });
  await expect(log.appendPage(newPage(1), newRecords('{}'))).rejects.toThrow(/ENOTDIR/);
  await expect(log.appendPage(newPage(2), newRecords('{}'))).rejects.toThrow(/ENOTDIR/);
  await expect(log.appendIds([newSlice(1, ['a'], true)])).rejects.toThrow(/ENOTDIR/);
  await expect(log.sync()).rejects.toThrow(/ENOTDIR/);
  await expect(log.close()).rejects.toThrow(/ENOTDIR/);
});

test.each(['page lines', 'other lines'])('%s count as unsynced bytes, too', async (kind) => {
  const dir = await makeLanding();
  const log = createLandingLog({ dir, maxUnsyncedBytes: 1000, syncMs: 3_600_000 });
  if (kind === 'page lines') {
    for (const page of [1, 2]) await log.appendPage(newPage(page, { envelope: 'x'.repeat(2000) }), []);
  } else {
    await log.appendIds([1, 2].map((page) => newSlice(page, ['x'.repeat(2000)], false)));
  }
  const [segment] = await listSegments(dir);
  const lines = (await readFile(pageFile(dir, segment!), 'utf8')).trim().split('\n');
  const synced = lines.map((line) => (JSON.parse(line) as { synced: number[] }).synced);
  expect(synced).toEqual([
    [0, 0],
    [0, lines[0]!.length + 1],
  ]);
  await log.close();
});

test('appends that are made at once land in the order they were made', async () => {
  const dir = await makeLanding();
  const log = createLandingLog({ dir, rotateBytes: 500, maxUnsyncedBytes: 100 });
  await Promise.all(
    Array.from({ length: 50 }, (_, n) => log.appendPage(newPage(n + 1), newRecords(`{"n":${n}}`))),
  );
  await log.close();
  const texts = await Promise.all((await listSegments(dir)).map((n) => readFile(recordFile(dir, n), 'utf8')));
  const numbers = texts.join('').matchAll(/"record":\{"n":(\d+)\}/g);
  expect([...numbers].map(([, n]) => Number(n))).toEqual(Array.from({ length: 50 }, (_, n) => n));
});

test('garbage behind a whole segment is cut', async () => {
  const dir = await makeLanding();
  const log = createLandingLog({ dir });
  await log.appendPage(newPage(1), newRecords('{}'));
  await log.sync();
  const [segment] = await listSegments(dir);
  const before = await readFile(pageFile(dir, segment!), 'utf8');
  const records = await readFile(recordFile(dir, segment!), 'utf8');
  await appendFile(pageFile(dir, segment!), '\u0000\u0000{"kind":"page"');
  await appendFile(recordFile(dir, segment!), 'x'.repeat(1000));
  await recoverLanding(dir);
  expect(await readFile(pageFile(dir, segment!), 'utf8')).toBe(`${before}{"kind":"sealed"}\n`);
  expect(await readFile(recordFile(dir, segment!), 'utf8')).toBe(records);
  await log.close().catch(() => undefined);
});

test('marks of the pages since the walk last began are known to the run that goes on', async () => {
  const dir = await makeLanding();
  const log = createLandingLog({ dir });
  const seen = async () => [...(await readLanding(dir)).get(key)!.seen];
  await log.appendPage(newPage(1, { marks: ['ids a', 'cursor b'] }), []);
  await log.appendPage(newPage(2, { marks: ['ids c', 'cursor b'] }), []);
  expect(await seen()).toEqual([
    ['ids a', 1],
    ['cursor b', 2],
    ['ids c', 1],
  ]);
  await log.appendPage(newPage(3, { marks: ['ids a'], begins_walk: true }), []);
  expect(await seen()).toEqual([['ids a', 1]]);
  await log.appendPage(newPage(4, { next: null, end: 'exhausted' }), []);
  expect(await seen()).toEqual([]);
  await log.close();
});
