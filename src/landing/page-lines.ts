import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { LandingLine, PageLine } from './page-line.ts';
import { openIfThere, pageFile, readBytes, recordFile } from './segment-files.ts';

/** A line of a page file with its newline. */
export interface ReadLine {
  /** The line's number, from 1. */
  number: number;
  /** Its byte offset. */
  start: number;
  /** Its bytes without the newline. */
  length: number;
  /** Null if the line differs from what was written. */
  line: LandingLine | { kind: 'sealed' } | null;
}

/** Every line of a segment's page file, without the bytes behind the last newline. */
export async function* readPageLines(dir: string, segment: number): AsyncGenerator<ReadLine> {
  let number = 0;
  for await (const { text, start } of wholeLines(pageFile(dir, segment))) {
    number += 1;
    yield { number, start, length: text.length, line: parseLine(text) };
  }
}

/**
 * Lines that end in a newline, with their byte offsets. Not `readline`, which also breaks at U+2028 (JSON does not escape it)
 * and returns a last line without its newline, which may be cut in the middle of a number.
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

/**
 * Adds the checksum of a line's text as its last member.
 * @param line the JSON text of an object
 */
export function addLineChecksum(line: string): string {
  return `${line.slice(0, -1)},"line_crc32":${crc32(line)}}`;
}

const closing = Buffer.from('}');

/** False if a line does not match its checksum. */
export function isAsWritten(text: Buffer): boolean {
  const [member, sum] = /,"line_crc32":(\d{1,10})\}$/.exec(text.toString('latin1', text.length - 32)) ?? [];
  if (member === undefined) return true;
  return crc32(closing, crc32(text.subarray(0, text.length - member.length))) === Number(sum);
}

/** A line of a segment, and whether it and its page's records are intact. */
export interface InspectedLine {
  number: number;
  start: number;
  length: number;
  /** Null if the line differs from what was written. */
  line: LandingLine | null;
  /** Byte offsets of the page's records in the record file; null if unknown. */
  records: { start: number; end: number } | null;
  /** Whether the line, and the records of its page, are as they were written. */
  whole: boolean;
}

/** A page whose records are in a segment without its line. */
export interface LostPage {
  task: string;
  crawl: string;
  page: number;
}

/** The state of a segment, from every byte of it. */
export interface Inspection {
  segment: number;
  sealed: boolean;
  lines: InspectedLine[];
  /** Bytes of the page file up to its last newline. */
  pageBytes: number;
  /** Bytes of the record file. */
  recordBytes: number;
  /** Bytes of the record file that page lines describe. */
  describedBytes: number;
  /** Pages of damaged lines, as far as their records identify them. */
  lostPages: LostPage[];
}

/** Reads a segment's page lines and the records of every page. A missing record file counts as empty. */
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
      // A `sealed` line is always the last one.
      inspection.sealed = read.line?.kind === 'sealed';
      if (read.line?.kind === 'sealed') continue;
      const inspected = await inspectLine(records, read, inspection, isLost);
      inspection.lines.push(inspected);
      if (inspected.line === null) isLost = true;
      else if (inspected.line.kind === 'page') isLost = false;
    }
    // If the last line is lost, its records are behind all described ones.
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
  const position = { number, start, length };
  const { describedBytes } = inspection;
  if (line === null || line.kind === 'sealed')
    return { ...position, line: null, records: null, whole: false };
  if (line.kind !== 'page') return { ...position, line, records: null, whole: true };
  const end = line.end_offset;
  if (!Number.isSafeInteger(end) || end < describedBytes)
    return { ...position, line: null, records: null, whole: false };
  const block = await readRange(records, describedBytes, end);
  inspection.describedBytes = end;
  // Behind a lost line the page's first record is found by the heads of the records.
  const from = isLost ? findPage(block, line) : 0;
  if (isLost) inspection.lostPages.push(...listPages(block.subarray(0, from)));
  const pageBytes = block.subarray(from);
  const whole = block.length === end - describedBytes && crc32(pageBytes) === line.crc32;
  return { ...position, line, records: { start: describedBytes + from, end }, whole };
}

async function takeLost(records: FileHandle | null, inspection: Inspection, end: number): Promise<void> {
  const block = await readRange(records, inspection.describedBytes, end);
  inspection.lostPages.push(...listPages(block));
}

/** The text with which every record line of a page begins (render-page.ts). */
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

/** Pages that have records in a block. */
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

/** The bytes of a range, as far as the file reaches. */
async function readRange(file: FileHandle | null, start: number, end: number): Promise<Buffer> {
  if (file === null || end <= start) return Buffer.alloc(0);
  const { size } = await file.stat();
  const length = Math.max(0, Math.min(end, size) - start);
  return readBytes(file, start, length);
}
