import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { LandingLine, PageLine } from './page-line.ts';

/** One record to land: its own bytes, and why DuckDB could not read them if it could not. */
export interface LandingRecord {
  bytes: Buffer;
  /** The member's name, where records stand in an object keyed by id. */
  key?: string;
  /** Set when the text is kept as a string beside the readable records, to be quarantined by the load. */
  refusal?: string;
  /** As the splitter tells it. */
  form?: string;
}

/** A page as the crawl knows it; the log adds where it landed. */
export type NewPage = Omit<
  PageLine,
  'kind' | 'end_offset' | 'crc32' | 'records' | 'content' | 'longest' | 'set_aside' | 'forms' | 'form_of'
>;

/** Numbers of the forms that a segment's page lines tell. */
export type SegmentForms = Map<string, number>;

/**
 * Most forms that a segment tells, and characters of the longest: beyond are lists whose keys are data, where a form
 * says no more than the record (2,000 assets of every kind have 300, of 1,200 characters).
 */
const maxForms = 1000;
const maxFormLength = 8192;
/** Characters of the forms that one line tells: publish reads lines of at most 16 MB. */
const maxToldLength = 1 << 20;

/**
 * A page as a segment holds it from `offset` on: the bytes of its records, and what its line says.
 * @param known forms that the segment's lines tell so far; this page's are added
 */
export function renderPage(
  page: NewPage,
  records: readonly LandingRecord[],
  offset: number,
  known: SegmentForms,
): { block: Buffer; line: PageLine } {
  const block = renderRecords(page, records);
  const line: PageLine = {
    kind: 'page',
    ...page,
    records: records.length,
    content: hashContent(records),
    longest: records.reduce((most, record) => Math.max(most, record.bytes.length), 0),
    set_aside: records.filter((record) => record.refusal !== undefined).length,
    ...numberForms(records, known),
    end_offset: offset + block.length,
    crc32: crc32(block),
  };
  return { block, line };
}

function numberForms(
  records: readonly LandingRecord[],
  known: SegmentForms,
): Required<Pick<PageLine, 'forms' | 'form_of'>> {
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
 * One line of a page file. Half a surrogate pair, in a target's name or in what the API said, would make DuckDB refuse
 * the whole file: it becomes U+FFFD. Records are not touched by this, and cursors have none.
 */
export function renderLine(line: LandingLine): string {
  const text = JSON.stringify(line);
  // JSON.stringify escapes halves, and no other surrogate.
  if (!text.includes('\\ud')) return `${text}\n`;
  return `${JSON.stringify(line, (_, value) => (typeof value === 'string' ? wellFormed(value) : value))}\n`;
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
  const { buffer, byteOffset } = first.bytes;
  let end = byteOffset - 1;
  for (const { bytes, key, refusal } of records) {
    if (key !== undefined || refusal !== undefined) return null;
    if (bytes.buffer !== buffer || bytes.byteOffset !== end + 1) return null;
    end = bytes.byteOffset + bytes.length;
  }
  return Buffer.from(buffer, byteOffset, end - byteOffset);
}

function joinRecords(records: readonly LandingRecord[]): Buffer {
  const parts = records.flatMap(({ bytes, key = '', refusal = '' }) => [
    refusal === '' && key === '' ? newline : Buffer.from(`${refusal}${key}\n`),
    bytes,
  ]);
  // In one piece: a thousand small ones take three times as long to hash.
  return Buffer.concat(parts);
}

/** `{"task":…,"crawl":…,"page":…,"slot":…,"n":…,"record":<bytes>}` a line; `n` counts a page's records from 0. */
function renderRecords(page: NewPage, records: readonly LandingRecord[]): Buffer {
  const crawl = `"task":${JSON.stringify(page.task)},"crawl":${JSON.stringify(page.crawl)}`;
  const head = Buffer.from(`{${crawl},"page":${page.page},"slot":${page.slot ?? 'null'},"n":`);
  const parts = records.flatMap((record, n) => [head, ...renderRecord(record, n)]);
  return Buffer.concat(parts);
}

/** What follows the head of a record's line. */
function renderRecord({ bytes, key: name, refusal }: LandingRecord, n: number): Buffer[] {
  if (name === undefined && refusal === undefined) {
    plainStarts[n] ??= Buffer.from(`${n},"record":`);
    return [plainStarts[n], bytes, lineEnd];
  }
  const key = name === undefined ? '' : `,"key":${JSON.stringify(wellFormed(name))}`;
  if (refusal === undefined) return [Buffer.from(`${n}${key},"record":`), bytes, lineEnd];
  const raw = JSON.stringify(bytes.toString('utf8'));
  return [Buffer.from(`${n}${key},"record":null,"refusal":"${refusal}","raw":${raw}}\n`)];
}

const newline = Buffer.from('\n');
const lineEnd = Buffer.from('}\n');
/** By `n`: a buffer a record would be as much work as all the rest of its line. */
const plainStarts: Buffer[] = [];
