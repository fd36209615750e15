import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { FailedLine, IdsLine, LandingLine, PageLine } from './page-line.ts';
import { pageFile, recordFile, syncDirectory } from './segment-files.ts';

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

export interface LandingLog {
  /**
   * Appends a page and its records. Resolves when both are with the kernel (a killed process loses nothing);
   * they survive a power loss after the next group sync. Rejects with the first write error, and then for ever.
   */
  appendPage(page: NewPage, records: readonly LandingRecord[]): Promise<PageLine>;
  /** Freezes a batch task's ids; durable when it resolves. */
  appendIds(lines: AsyncIterable<IdsLine> | Iterable<IdsLine>): Promise<void>;
  /** Records that a crawl failed. */
  appendFailure(line: FailedLine): Promise<void>;
  /** Everything appended so far survives a power loss when this resolves. */
  sync(): Promise<void>;
  /** Seals every open segment. */
  close(): Promise<void>;
}

export interface LandingOptions {
  dir: string;
  /** A segment is sealed when its records pass this many bytes. Default 64 MiB. */
  rotateBytes?: number;
  /** … or when it is this old, so that a slow crawl is loaded as it goes. Default 10 minutes. */
  rotateMs?: number;
  /** Group sync interval. Default 250 ms. */
  syncMs?: number;
  /** Unsynced bytes at which appends wait for the sync. Default 32 MiB. */
  maxUnsyncedBytes?: number;
  /** Told when a segment is whole and may be loaded. */
  onSealed?: (segment: number, shape: string) => void;
}

interface OpenSegment {
  number: number;
  shape: string;
  records: FileHandle;
  pages: FileHandle;
  offset: number;
  openedAt: number;
  forms: SegmentForms;
}

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

/** A page that is appended and not yet written: no line yet. */
interface WaitingPage {
  page: NewPage;
  records: readonly LandingRecord[];
  line: PageLine | null;
}

/** Pages wait for the write before them; those below this in all are one write (small targets, many at once). */
const writeTogetherBytes = 1 << 20;

/** The line that says that a segment is whole; without it the next run looks for a torn tail first. */
export const sealedLine = `${JSON.stringify({ kind: 'sealed' })}\n`;

/**
 * The append side of the landing log. One open segment a shape, so that a segment loads with one query.
 * Writes are in order: a page's records first, then its line, so a line never speaks of bytes that are missing.
 */
export function createLandingLog(options: LandingOptions): LandingLog {
  const {
    dir,
    rotateBytes = 64 << 20,
    rotateMs = 600_000,
    syncMs = 250,
    maxUnsyncedBytes = 32 << 20,
  } = options;
  const segments = new Map<string, OpenSegment>();
  let lastNumber = 0;
  let unsynced = 0;
  let failure: unknown;
  let tail: Promise<unknown> = Promise.resolve();
  const waiting: WaitingPage[] = [];
  const timer = setInterval(() => void sync().catch(() => undefined), syncMs).unref();

  /** Runs one step after all before it; the first failure is everyone's. */
  function inOrder<T>(step: () => Promise<T>): Promise<T> {
    const result = tail.then(() => {
      if (failure !== undefined) throw failure;
      return step();
    });
    tail = result.catch((error) => {
      failure ??= error;
    });
    return result;
  }

  async function segmentFor(shape: string): Promise<OpenSegment> {
    const current = segments.get(shape);
    if (current !== undefined && current.offset < rotateBytes && Date.now() - current.openedAt < rotateMs)
      return current;
    if (current !== undefined) await seal(current);
    await mkdir(dir, { recursive: true, mode: 0o700 });
    lastNumber = Math.max(Date.now(), lastNumber + 1);
    const segment: OpenSegment = {
      number: lastNumber,
      shape,
      records: await open(recordFile(dir, lastNumber), 'ax', 0o600),
      pages: await open(pageFile(dir, lastNumber), 'ax', 0o600),
      offset: 0,
      openedAt: Date.now(),
      forms: new Map(),
    };
    segments.set(shape, segment);
    await syncDirectory(dir);
    return segment;
  }

  async function seal(segment: OpenSegment): Promise<void> {
    await segment.records.datasync();
    await segment.pages.appendFile(sealedLine);
    await segment.pages.datasync();
    await segment.records.close();
    await segment.pages.close();
    segments.delete(segment.shape);
    options.onSealed?.(segment.number, segment.shape);
  }

  async function syncOpen(): Promise<void> {
    if (unsynced === 0) return;
    unsynced = 0;
    for (const segment of segments.values()) {
      await segment.records.datasync();
      await segment.pages.datasync();
    }
  }

  function sync(): Promise<void> {
    return inOrder(syncOpen);
  }

  /** Writes the first page that waits and small ones behind it together: all records first, then all lines. */
  async function writeWaiting(): Promise<void> {
    const segment = await segmentFor(waiting[0]!.page.shape);
    const written: { waitingPage: WaitingPage; block: Buffer; line: PageLine }[] = [];
    let offset = segment.offset;
    while (waiting[0]?.page.shape === segment.shape && offset < rotateBytes) {
      if (offset - segment.offset >= writeTogetherBytes) break;
      const waitingPage = waiting.shift()!;
      const rendered = renderPage(waitingPage.page, waitingPage.records, offset, segment.forms);
      written.push({ waitingPage, ...rendered });
      offset += rendered.block.length;
    }
    const blocks = written.map(({ block }) => block);
    await segment.records.appendFile(blocks.length === 1 ? blocks[0]! : Buffer.concat(blocks));
    await segment.pages.appendFile(written.map(({ line }) => renderLine(line)).join(''));
    for (const { waitingPage, line } of written) waitingPage.line = line;
    unsynced += offset - segment.offset + 1;
    segment.offset = offset;
    if (unsynced > maxUnsyncedBytes) await syncOpen();
  }

  return {
    appendPage: (page, records) => {
      const waitingPage: WaitingPage = { page, records, line: null };
      waiting.push(waitingPage);
      return inOrder(async () => {
        // The write of a page before it may have taken it along; otherwise it is the first that waits.
        if (waitingPage.line === null) await writeWaiting();
        return waitingPage.line as PageLine;
      });
    },
    appendIds: (lines) =>
      inOrder(async () => {
        for await (const line of lines) {
          const segment = await segmentFor(line.shape);
          await segment.pages.appendFile(renderLine(line));
          unsynced += 1;
        }
        await syncOpen();
      }),
    appendFailure: (line) =>
      inOrder(async () => {
        const segment = await segmentFor(line.shape);
        await segment.pages.appendFile(renderLine(line));
        unsynced += 1;
      }),
    sync,
    async close() {
      clearInterval(timer);
      await inOrder(async () => {
        for (const segment of [...segments.values()]) await seal(segment);
      });
    },
  };
}

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
