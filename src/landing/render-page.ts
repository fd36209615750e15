import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { LandingRecord } from './landing-record.ts';
import type { LandingLine, PageLine } from './page-line.ts';
import { addLineChecksum } from './page-lines.ts';
import { digestRecords } from './record-digests.ts';

/** A page as the crawl knows it; the log adds where it landed. */
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

/** Numbers of the forms that a segment's page lines tell. */
export type SegmentForms = Map<string, number>;

/**
 * Most forms that a segment tells, and characters of the longest: beyond are lists whose keys are data, where a form
 * says no more than the record (2,000 assets of every kind have 300, of 1,200 characters).
 */
const maxForms = 1000;
const maxFormLength = 8192;
/** Characters of the forms that one line tells, and records whose forms it numbers: lines are bounded (`maxEnvelopeBytes`). */
const maxToldLength = 1 << 20;
const maxNumbered = 100_000;

/**
 * A page as a segment holds it from `offset` on: the bytes of its records, and what its line says.
 * @param known forms that the segment's lines tell so far; this page's are added
 * @param allocate where the block is to stand
 */
export function renderPage(
  page: NewPage,
  records: readonly LandingRecord[],
  offset: number,
  known: SegmentForms,
  allocate: (length: number) => Buffer = Buffer.allocUnsafeSlow,
): { block: Buffer; line: PageLine } {
  const block = renderRecords(page, records, allocate);
  const digests = digestRecords(page, records);
  const line: PageLine = {
    kind: 'page',
    ...page,
    records: records.length,
    // Later pages are compared with nothing.
    ...(page.page === 1 ? { content: hashContent(records) } : {}),
    longest: records.reduce((most, record) => Math.max(most, record.length), 0),
    set_aside: records.filter((record) => record.refusal !== undefined).length,
    ...numberForms(records, known),
    ...(digests === null ? {} : { digests }),
    end_offset: offset + block.length,
    crc32: crc32(block),
  };
  return { block, line };
}

function numberForms(
  records: readonly LandingRecord[],
  known: SegmentForms,
): Required<Pick<PageLine, 'forms' | 'form_of'>> {
  if (records.length > maxNumbered) return { forms: [], form_of: [] };
  const forms: { form: number; like: string }[] = [];
  let told = 0;
  const form_of = records.map(({ form: like }) => {
    if (like === undefined) return null;
    const number = known.get(like);
    if (number !== undefined) return number;
    if (known.size === maxForms || like.length > maxFormLength || told + like.length > maxToldLength)
      return null;
    told += like.length;
    const form = known.size;
    known.set(like, form);
    forms.push({ form, like });
    return form;
  });
  return { forms, form_of };
}

/**
 * One line of a page file, with a checksum of its own. Half a surrogate pair, in a target's name or in what the API said, would make DuckDB refuse
 * the whole file: it becomes U+FFFD. Records are not touched by this, and cursors have none.
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
 * What tells pages with the same records, read or refused alike, from all others. Records that stand together in their
 * answer are taken with what is between them, a comma.
 */
export function hashContent(records: readonly LandingRecord[]): string {
  return createHash('sha256')
    .update(joinedIn(records) ?? joinRecords(records))
    .digest('hex')
    .slice(0, 32);
}

/** The bytes of plain records with one between them, as they came in their answer; null where they do not stand so. */
function joinedIn(records: readonly LandingRecord[]): Buffer | null {
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
  // In one piece: a thousand small ones take three times as long to hash.
  return Buffer.concat(parts);
}

/**
 * `{"task":…,"crawl":…,"page":…,"slot":…,"n":…,"record":<bytes>}` a line; `n` counts a page's records from 0.
 * Written part by part into one buffer: a list of parts to join is several times as much work, most of it for the list.
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

/** What stands between the head of a record's line and the record. */
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
/** By `n`: a buffer a record would be as much work as all the rest of its line. */
const plainStarts: Buffer[] = [];
