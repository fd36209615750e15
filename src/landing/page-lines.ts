import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { LandingLine, PageLine } from './page-line.ts';
import { openIfThere, pageFile, readBytes, recordFile } from './segment-files.ts';

/** A line of a page file that ends in a newline. */
export interface ReadLine {
  /** From 1. */
  number: number;
  /** Byte offset, and bytes without the newline. */
  start: number;
  length: number;
  /** Null: it is not as it was written. */
  line: LandingLine | { kind: 'sealed' } | null;
}

/** Every whole line of a segment's page file. Bytes behind the last newline are none. */
export async function* readPageLines(dir: string, segment: number): AsyncGenerator<ReadLine> {
  let number = 0;
  for await (const { text, start } of wholeLines(pageFile(dir, segment))) {
    number += 1;
    yield { number, start, length: text.length, line: parseLine(text) };
  }
}

/**
 * Lines that end in a newline, with their byte offset. Not `readline`: it also breaks at U+2028, which JSON leaves
 * as it is, and gives a last line without its newline, which may be cut in the middle of a number.
 */
async function* wholeLines(file: string): AsyncGenerator<{ text: Buffer; start: number }> {
  let rest = Buffer.alloc(0);
  let start = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    let from = 0;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10, from)) {
      yield { text: rest.subarray(from, end), start: start + from };
      from = end + 1;
    }
    rest = rest.subarray(from);
    start += from;
  }
}

const kinds: ReadonlySet<unknown> = new Set(['page', 'ids', 'failed', 'accepted', 'forgotten', 'sealed']);

function parseLine(text: Buffer): ReadLine['line'] {
  if (!isAsWritten(text)) return null;
  try {
    const line = JSON.parse(text.toString('utf8')) as ReadLine['line'];
    return typeof line === 'object' && line !== null && kinds.has(line.kind) ? line : null;
  } catch {
    return null;
  }
}

/** `line` with the checksum of its text as its last member. @param line the JSON text of an object */
export function addLineChecksum(line: string): string {
  return `${line.slice(0, -1)},"line_crc32":${crc32(line)}}`;
}

const closing = Buffer.from('}');

/** False where a line's checksum is another one. Lines of older versions have none. */
function isAsWritten(text: Buffer): boolean {
  const [member, sum] = /,"line_crc32":(\d{1,10})\}$/.exec(text.toString('latin1', text.length - 32)) ?? [];
  if (member === undefined) return true;
  return crc32(closing, crc32(text.subarray(0, text.length - member.length))) === Number(sum);
}

/** A line of a segment, and whether what it says can be used. */
export interface InspectedLine {
  number: number;
  start: number;
  length: number;
  /** Null: it is not as it was written. */
  line: LandingLine | null;
  /** Where a page's records stand; null where that cannot be told. */
  records: { start: number; end: number } | null;
  /** The line is as it was written, and so are the records of its page. */
  whole: boolean;
}

/** A page that a segment has records of, and no line. */
export interface LostPage {
  task: string;
  crawl: string;
  page: number;
}

/** What a look at every byte of a segment finds. */
export interface Inspection {
  segment: number;
  sealed: boolean;
  lines: InspectedLine[];
  /** Bytes of the page file without what a torn write left behind its last newline. */
  pageBytes: number;
  /** Bytes that the record file has, and those that its page lines speak of. */
  recordBytes: number;
  describedBytes: number;
  /** Of lines that are not as they were written, as far as their records tell. */
  lostPages: LostPage[];
}

/** Looks at a segment's page lines, and at the records of every page. A missing record file is an empty one. */
export async function inspectSegment(dir: string, segment: number): Promise<Inspection> {
  const records = await openIfThere(recordFile(dir, segment));
  try {
    const { size: recordBytes } = (await records?.stat()) ?? { size: 0 };
    const inspection: Inspection = {
      ...{ segment, sealed: false, lines: [], pageBytes: 0, recordBytes, describedBytes: 0, lostPages: [] },
    };
    let isLost = false;
    for await (const read of readPageLines(dir, segment)) {
      inspection.pageBytes = read.start + read.length + 1;
      // Nothing is ever written behind it.
      inspection.sealed = read.line?.kind === 'sealed';
      if (read.line?.kind === 'sealed') continue;
      const inspected = await inspectLine(records, read, inspection, isLost);
      inspection.lines.push(inspected);
      if (inspected.line === null) isLost = true;
      else if (inspected.line.kind === 'page') isLost = false;
    }
    // The last line's records, should that line be lost.
    if (isLost) await takeLost(records, inspection, recordBytes);
    return inspection;
  } finally {
    await records?.close();
  }
}

async function inspectLine(
  records: FileHandle | null,
  { number, start, length, line }: ReadLine,
  inspection: Inspection,
  isLost: boolean,
): Promise<InspectedLine> {
  const place = { number, start, length };
  const { describedBytes } = inspection;
  if (line === null || line.kind === 'sealed') return { ...place, line: null, records: null, whole: false };
  if (line.kind !== 'page') return { ...place, line, records: null, whole: true };
  const end = line.end_offset;
  if (!Number.isSafeInteger(end) || end < describedBytes)
    return { ...place, line: null, records: null, whole: false };
  const block = await readRange(records, describedBytes, end);
  inspection.describedBytes = end;
  // Behind a lost line it is not known where this page's records begin: their heads say it.
  const from = isLost ? findPage(block, line) : 0;
  if (isLost) inspection.lostPages.push(...listPages(block.subarray(0, from)));
  const own = block.subarray(from);
  const whole = block.length === end - describedBytes && crc32(own) === line.crc32;
  return { ...place, line, records: { start: describedBytes + from, end }, whole };
}

async function takeLost(records: FileHandle | null, inspection: Inspection, end: number): Promise<void> {
  const block = await readRange(records, inspection.describedBytes, end);
  inspection.lostPages.push(...listPages(block));
}

/** How every record of a page begins (render-page.ts). */
function headOf({ task, crawl, page }: LostPage): string {
  return `{"task":${JSON.stringify(task)},"crawl":${JSON.stringify(crawl)},"page":${page},`;
}

function findPage(block: Buffer, line: PageLine): number {
  if (line.records === 0) return block.length;
  const head = headOf(line);
  if (block.subarray(0, head.length).toString() === head) return 0;
  const before = block.indexOf(`\n${head}`);
  return before === -1 ? 0 : before + 1;
}

/** Pages whose records stand in a block. */
function listPages(block: Buffer): LostPage[] {
  const pages = new Map<string, LostPage>();
  for (let from = 0; from < block.length; ) {
    const end = block.indexOf(10, from);
    const head = /^\{"task":("(?:[^"\\]|\\.)*"),"crawl":("(?:[^"\\]|\\.)*"),"page":(\d+),/.exec(
      block.toString('utf8', from, Math.min(from + 1024, end === -1 ? block.length : end)),
    );
    if (head !== null) {
      const page = { task: JSON.parse(head[1]!), crawl: JSON.parse(head[2]!), page: Number(head[3]) };
      pages.set(headOf(page), page);
    }
    if (end === -1) break;
    from = end + 1;
  }
  return [...pages.values()];
}

/** Those bytes of a range that are there. */
async function readRange(file: FileHandle | null, start: number, end: number): Promise<Buffer> {
  if (file === null || end <= start) return Buffer.alloc(0);
  const { size } = await file.stat();
  const length = Math.max(0, Math.min(end, size) - start);
  return readBytes(file, start, length);
}
