import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DiskError } from '../../../src/errors.ts';
import { readLanding } from '../../../src/landing/reader.ts';
import { recoverLanding } from '../../../src/landing/recover-landing.ts';
import { listSegments, pageFile, recordFile } from '../../../src/landing/segment-files.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { level } from '../../bars.ts';
import { makeLanding, newPage, newRecords, newSlice } from '../../support/pages.ts';

/** An unsealed segment of three pages, as a kill leaves it, and where each line and page ends. */
interface Torn {
  records: Buffer;
  pages: Buffer;
  /** By line of the page file: its end there, and the record bytes it speaks of. */
  lines: { end: number; recordEnd: number; page: number | null }[];
}

async function writeSegment(): Promise<Torn> {
  const dir = await makeLanding();
  const log = createLandingLog({ dir });
  await log.appendIds([newSlice(1, ['a'], false)]);
  await log.appendPage(newPage(1), newRecords('{"id":"a"}', '{"id":"é\u2028"}'));
  await log.appendPage(newPage(2), newRecords('{"n":12345}'));
  await log.appendPage(newPage(3, { end: 'exhausted', next: null }), []);
  await log.sync();
  const [segment] = await listSegments(dir);
  const records = await readFile(recordFile(dir, segment!));
  const pages = await readFile(pageFile(dir, segment!));
  await log.close();
  const lines: Torn['lines'] = [];
  let end = 0;
  for (const text of pages.toString('utf8').split('\n').slice(0, -1)) {
    end += Buffer.byteLength(text) + 1;
    const line = JSON.parse(text) as { kind: string; page: number; end_offset?: number };
    const recordEnd = line.end_offset ?? lines.at(-1)?.recordEnd ?? 0;
    lines.push({ end, recordEnd, page: line.kind === 'page' ? line.page : null });
  }
  return { records, pages, lines };
}

/** Recovers these bytes, twice; returns the page numbers and files that are left. */
async function recover(dir: string, records: Buffer, pages: Buffer, bootedAt = 0) {
  await mkdir(dir, { recursive: true });
  await writeFile(recordFile(dir, 1), records);
  await writeFile(pageFile(dir, 1), pages);
  await recoverLanding(dir, bootedAt);
  await recoverLanding(dir, bootedAt);
  const crawl = (await readLanding(dir)).get('task-1/run-1');
  const names = await readdir(dir);
  return {
    pages: crawl === undefined ? [] : [...crawl.pages],
    slices: crawl?.slices.size ?? 0,
    records: names.includes('1.ndjson') ? await readFile(recordFile(dir, 1), 'latin1') : null,
    lines: names.includes('1.pages.ndjson') ? await readFile(pageFile(dir, 1), 'latin1') : null,
  };
}

/** What must be left of a segment of which so many bytes of each file are whole. */
function expected({ records, pages, lines }: Torn, recordBytes: number, pageBytes: number) {
  const whole = lines.findIndex(({ end, recordEnd }) => end > pageBytes || recordEnd > recordBytes);
  const kept = whole === -1 ? lines : lines.slice(0, whole);
  const last = kept.at(-1);
  return {
    pages: kept.flatMap(({ page }) => page ?? []),
    slices: kept.filter(({ page }) => page === null).length,
    records: last === undefined ? null : records.toString('latin1', 0, last.recordEnd),
    lines: last === undefined ? null : `${pages.toString('latin1', 0, last.end)}{"kind":"sealed"}\n`,
  };
}

test('the page file cut at any byte: exactly the whole pages are left', async () => {
  const dir = await makeLanding();
  const torn = await writeSegment();
  // Every byte of the last line, and of those before it one in five until the daily run.
  const from = level === 'test' ? torn.lines.at(-2)!.end : 0;
  for (let bytes = 0; bytes <= torn.pages.length; bytes += bytes < from ? 5 : 1) {
    const left = await recover(join(dir, `${bytes}`), torn.records, torn.pages.subarray(0, bytes));
    expect(left, `cut at ${bytes}`).toEqual(expected(torn, torn.records.length, bytes));
  }
});

test('the record file cut at every byte: exactly the whole pages are left', async () => {
  const dir = await makeLanding();
  const torn = await writeSegment();
  for (let bytes = 0; bytes <= torn.records.length; bytes += 1) {
    const left = await recover(join(dir, `${bytes}`), torn.records.subarray(0, bytes), torn.pages);
    expect(left, `cut at ${bytes}`).toEqual(expected(torn, bytes, torn.pages.length));
  }
});

test('any cut of both, with anything behind it: exactly the whole pages are left', async () => {
  const dir = await makeLanding();
  const torn = await writeSegment();
  let n = 0;
  const tail = fc.oneof(
    fc.constant(Buffer.alloc(0)),
    fc.integer({ min: 1, max: 5000 }).map((size) => Buffer.alloc(size)),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.string().map((text) => Buffer.from(`${text}\n`)),
    fc.constantFrom('{}\n', 'null\n', '1\n', '[]\n', '{"kind":"other"}\n').map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.integer({ min: 0, max: torn.records.length }),
        fc.constantFrom(0, ...torn.lines.map(({ recordEnd }) => recordEnd)),
      ),
      fc.oneof(
        fc.integer({ min: 0, max: torn.pages.length }),
        fc.constantFrom(0, ...torn.lines.map(({ end }) => end)),
      ),
      tail,
      tail,
      async (recordBytes, pageBytes, recordTail, pageTail) => {
        n += 1;
        // What stands where the torn bytes stood must not be, by chance, those bytes.
        fc.pre(recordTail[0] !== torn.records[recordBytes] && pageTail[0] !== torn.pages[pageBytes]);
        const left = await recover(
          join(dir, `${n}`),
          Buffer.concat([torn.records.subarray(0, recordBytes), recordTail]),
          Buffer.concat([torn.pages.subarray(0, pageBytes), pageTail]),
        );
        expect(left).toEqual(expected(torn, recordBytes, pageBytes));
      },
    ),
    { numRuns: 300 },
  );
});

/** Machines that were started before the pages came, and after. */
const [sameBoot, later] = [0, Date.now()];

/** Recovers bytes that were changed; returns what it says of them, and whether the files are as they were. */
async function refuse(dir: string, records: Buffer, pages: Buffer, bootedAt: number) {
  await mkdir(dir, { recursive: true });
  await writeFile(recordFile(dir, 1), records);
  await writeFile(pageFile(dir, 1), pages);
  const error = await recoverLanding(dir, bootedAt).then(
    () => undefined,
    (error: DiskError) => error,
  );
  const untouched =
    (await readFile(recordFile(dir, 1))).equals(records) && (await readFile(pageFile(dir, 1))).equals(pages);
  return error === undefined
    ? { untouched }
    : { untouched, code: error.exitCode, message: error.message, hint: error.hint };
}

function changed(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 0x04;
  return copy;
}

test('one wrong byte in the last page that has records: it and what follows is cut', async () => {
  const dir = await makeLanding();
  const torn = await writeSegment();
  const [, first, second] = torn.lines;
  for (let at = first!.recordEnd; at < second!.recordEnd; at += 1) {
    const left = await recover(join(dir, `${at}`), changed(torn.records, at), torn.pages);
    expect(left, `byte ${at}`).toEqual(expected(torn, at, torn.pages.length));
  }
});

test('one wrong byte in a page that whole pages follow: 74 with file, line and command, nothing is changed', async () => {
  const dir = await makeLanding();
  const torn = await writeSegment();
  for (let at = 0; at < torn.lines[1]!.recordEnd; at += 1)
    expect(await refuse(join(dir, `${at}`), changed(torn.records, at), torn.pages, sameBoot)).toEqual({
      untouched: true,
      code: 74,
      message: `${join(dir, `${at}`, '1.pages.ndjson')}, line 2, is damaged: its page's records in 1.ndjson are not as they were received`,
      hint: expect.stringContaining(
        '`ledgerlake doctor --repair` sets what is damaged aside, keeps all other pages',
      ),
    });
});

test('one wrong byte anywhere in a line that whole pages follow: 74, nothing is changed', async () => {
  const dir = await makeLanding();
  const torn = await writeSegment();
  // The newline at a line's end is not its own.
  for (let at = 0; at < torn.lines[1]!.end - 1; at += level === 'test' ? 5 : 1) {
    const line = at < torn.lines[0]!.end ? 1 : 2;
    const refused = await refuse(join(dir, `${at}`), torn.records, changed(torn.pages, at), sameBoot);
    // Within the checksum's own name it is no checksum any more, and all else is as it was.
    const ends = torn.lines.map(({ end }) => end - 1);
    const isOfChecksum = ends.some((end) => at < end && at >= end - ',"line_crc32":4294967295}'.length);
    if (refused.code === undefined && isOfChecksum) continue;
    expect(refused, `byte ${at}`).toMatchObject({ untouched: true, code: 74 });
    expect(refused.message).toContain(`1.pages.ndjson, line ${line}, is damaged: `);
  }
});

test('after a power loss pages behind the last group sync may be torn whatever follows, those before it not', async () => {
  const dir = await makeLanding();
  const log = createLandingLog({ dir, syncMs: 1_000_000 });
  await log.appendPage(newPage(1), newRecords('{"n":1}'));
  await log.sync();
  for (const n of [2, 3, 4]) await log.appendPage(newPage(n), newRecords(`{"n":${n}}`));
  const [segment] = await listSegments(dir);
  const records = await readFile(recordFile(dir, segment!));
  const pages = await readFile(pageFile(dir, segment!));
  await log.close();
  const placeOf = (n: number) => records.indexOf(`"record":{"n":${n}}`);
  const second = await recover(join(dir, 'second'), changed(records, placeOf(2)), pages, later);
  expect(second.pages).toEqual([1]);
  expect(await refuse(join(dir, 'first'), changed(records, placeOf(1)), pages, later)).toMatchObject({
    untouched: true,
    code: 74,
  });
  // On a machine that was not started anew nothing can have torn it.
  expect(await refuse(join(dir, 'same'), changed(records, placeOf(2)), pages, sameBoot)).toMatchObject({
    code: 74,
  });
});

test('a wrong byte in a line of a sealed segment, also the last page: 74, nothing is changed', async () => {
  const dir = await makeLanding();
  const torn = await writeSegment();
  const sealed = Buffer.concat([torn.pages, Buffer.from('{"kind":"sealed"}\n')]);
  const at = torn.pages.lastIndexOf('exhausted');
  expect(await refuse(join(dir, 'sealed'), torn.records, changed(sealed, at), later)).toMatchObject({
    untouched: true,
    code: 74,
    message: expect.stringContaining(
      '1.pages.ndjson, line 4, is damaged: the line differs from what was written',
    ),
  });
});
