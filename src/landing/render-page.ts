import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { LandingRecord } from './landing-record.ts';
import type { LandingLine, PageLine } from './page-line.ts';
import { addLineChecksum } from './page-lines.ts';
import { digestRecords } from './record-digests.ts';

/** A page as the crawl describes it; the log adds what it knows of its records and where they landed. */
export type NewPage = Omit<
  PageLine,
  | 'kind'
  | 'end_offset'
  | 'crc32'
  | 'records'
  | 'content'
  | 'longest'
  | 'set_aside'
  | 'forms'
  | 'form_of'
  | 'digests'
>;

/** The forms that a segment's page lines have so far, with their numbers. */
export type SegmentForms = Map<string, number>;

/**
 * Limits of the forms in a segment's lines: how many, and the characters of each. Beyond them are objects whose keys are data,
 * where a form says no more than the record (2,000 assets of every kind have 300 forms of up to 1,200 characters).
 */
const maxForms = 1000;
const maxFormLength = 8192;
/** Limits of one line, which must stay short (`maxEnvelopeBytes`): characters of all its forms. */
const maxLineFormLength = 1 << 20;

/**
 * Renders a page for a segment in which its records begin at `offset`: the bytes of the records, and the page's line.
 * @param segmentForms the page's new forms are added to it
 * @param allocate gives the buffer for the block
 */
export function renderPage(
  page: NewPage,
  records: readonly LandingRecord[],
  offset: number,
  segmentForms: SegmentForms,
  allocate: (length: number) => Buffer = Buffer.allocUnsafeSlow,
): { block: Buffer; line: PageLine } {
  const block = renderRecords(page, records, allocate);
  const line: PageLine = {
    kind: 'page',
    ...page,
    records: records.length,
    // Only first pages are compared.
    ...(page.page === 1 ? { content: hashContent(records) } : {}),
    longest: records.reduce((most, record) => Math.max(most, record.length), 0),
    set_aside: records.filter((record) => record.refusal !== undefined).length,
    ...numberForms(records, segmentForms),
    digests: digestRecords(page, records),
    end_offset: offset + block.length,
    crc32: crc32(block),
  };
  return { block, line };
}

function numberForms(
  records: readonly LandingRecord[],
  segmentForms: SegmentForms,
): Required<Pick<PageLine, 'forms' | 'form_of'>> {
  const forms: { form: number; like: string }[] = [];
  let lineFormLength = 0;
  const form_of = records.map(({ form: like }) => {
    if (like === undefined) return null;
    const number = segmentForms.get(like);
    if (number !== undefined) return number;
    if (
      segmentForms.size === maxForms ||
      like.length > maxFormLength ||
      lineFormLength + like.length > maxLineFormLength
    )
      return null;
    lineFormLength += like.length;
    const form = segmentForms.size;
    segmentForms.set(like, form);
    forms.push({ form, like });
    return form;
  });
  return { forms, form_of };
}

/**
 * One line of a page file, with a checksum of its own. Half a surrogate pair, in a target's name or in an answer, would make
 * DuckDB refuse the whole file: it becomes U+FFFD. This does not touch records, and cursors have none.
 */
export function renderLine(line: LandingLine): string {
  const text = JSON.stringify(line);
  // JSON.stringify escapes halves, and no other surrogate.
  const replaceHalves = (_: string, value: unknown) =>
    typeof value === 'string' ? wellFormed(value) : value;
  return `${addLineChecksum(text.includes('\\ud') ? JSON.stringify(line, replaceHalves) : text)}\n`;
}

function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

/**
 * A digest of a page's records and their refusals, by which a first page is compared with the last crawl's. Records that are
 * adjacent in their answer are hashed in one piece, with the commas between them.
 */
export function hashContent(records: readonly LandingRecord[]): string {
  return createHash('sha256')
    .update(sliceAdjacent(records) ?? joinRecords(records))
    .digest('hex')
    .slice(0, 32);
}

/** The bytes from the first plain record to the last, if one byte is between each two of them; else null. */
function sliceAdjacent(records: readonly LandingRecord[]): Buffer | null {
  const [first] = records;
  if (first === undefined) return null;
  let end = first.start - 1;
  for (const record of records) {
    if (record.key !== undefined || record.refusal !== undefined) return null;
    if (record.source !== first.source || record.start !== end + 1) return null;
    end = record.end;
  }
  return first.source.subarray(first.start, end);
}

function joinRecords(records: readonly LandingRecord[]): Buffer {
  const parts = records.flatMap(({ bytes, key = '', refusal = '' }) => [
    refusal === '' && key === '' ? newline : Buffer.from(`${refusal}${key}\n`),
    bytes,
  ]);
  // One piece, because a thousand small ones take three times as long to hash.
  return Buffer.concat(parts);
}

/**
 * Lines `{"task":…,"crawl":…,"page":…,"slot":…,"n":…,"record":<bytes>}`; `n` counts a page's records from 0.
 * The parts are written into one buffer: joining a list of parts takes several times as long, mostly for the list.
 */
function renderRecords(
  page: NewPage,
  records: readonly LandingRecord[],
  allocate: (length: number) => Buffer,
): Buffer {
  const crawl = `"task":${JSON.stringify(page.task)},"crawl":${JSON.stringify(page.crawl)}`;
  const head = Buffer.from(`{${crawl},"page":${page.page},"slot":${page.slot ?? 'null'},"n":`);
  const starts = records.map(renderStart);
  const bodies = records.map(renderBody);
  let length = records.length * (head.length + lineEnd.length);
  for (let n = 0; n < records.length; n++) length += starts[n]!.length + bodies[n]!.length;
  const block = allocate(length);
  let at = 0;
  for (let n = 0; n < records.length; n++) {
    const start = starts[n]!;
    const { source, start: from, end: to } = bodies[n]!;
    block.set(head, at);
    block.set(start, at + head.length);
    at += head.length + start.length;
    at += source.copy(block, at, from, to);
    block.set(lineEnd, at);
    at += lineEnd.length;
  }
  return block;
}

/** The text between the head of a record's line and the record. */
function renderStart({ key: name, refusal }: LandingRecord, n: number): Buffer {
  if (name === undefined && refusal === undefined) {
    plainStarts[n] ??= Buffer.from(`${n},"record":`);
    return plainStarts[n];
  }
  const key = name === undefined ? '' : `,"key":${JSON.stringify(wellFormed(name))}`;
  const record = refusal === undefined ? '"record":' : `"record":null,"refusal":"${refusal}","raw":`;
  return Buffer.from(`${n}${key},${record}`);
}

/** The record as it is, or as a string where DuckDB could not read it. */
function renderBody(record: LandingRecord): LandingRecord {
  if (record.refusal === undefined) return record;
  return new LandingRecord(Buffer.from(JSON.stringify(record.bytes.toString('utf8'))));
}

const newline = Buffer.from('\n');
const lineEnd = Buffer.from('}\n');
/** Reused, by `n`: making this buffer for each record would take as long as the rest of its line. */
const plainStarts: Buffer[] = [];

/** One buffer for the blocks of a write, used again by the next: a buffer for each page would be half of all allocated memory. */
export interface PageBuffer {
  /** The next `length` bytes. */
  allocate(length: number): Buffer;
  /** All bytes allocated since the last `clear`, in one piece; valid until the next. */
  written(): Buffer;
  clear(): void;
}

/** @param maxBytes a larger buffer is released by `clear` */
export function createPageBuffer(maxBytes: number): PageBuffer {
  let buffer = Buffer.alloc(0);
  let used = 0;
  return {
    allocate(length) {
      if (used + length > buffer.length) {
        const wider = Buffer.allocUnsafeSlow(Math.max(used + length, 2 * buffer.length));
        buffer.copy(wider, 0, 0, used);
        buffer = wider;
      }
      used += length;
      return buffer.subarray(used - length, used);
    },
    written: () => buffer.subarray(0, used),
    clear() {
      used = 0;
      if (buffer.length > maxBytes) buffer = Buffer.alloc(0);
    },
  };
}
