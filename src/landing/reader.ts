import { createReadStream } from 'node:fs';
import { open, readdir, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { DiskError } from '../errors.ts';
import type { IdsLine, LandingLine, PageLine } from './page-line.ts';
import { exists, listSegments, pageFile, recordFile, syncDirectory, syncFile } from './segment-files.ts';
import { sealedLine } from './writer.ts';

/** What the landing log knows of one crawl of one task. */
export interface LandedCrawl {
  task: string;
  crawl: string;
  job: string;
  target: string;
  operation: string;
  shape: string;
  /** Runs that received its pages, in order. */
  runs: string[];
  /** Numbers of the pages received (a batch receives them in any order). */
  pages: Set<number>;
  records: number;
  nulls: number;
  /** The highest-numbered page: how the crawl goes on, or that it ended. */
  last: PageLine | null;
  /** The first page: a feed's head. */
  first: PageLine | null;
  minSlot: number | null;
  maxSlot: number | null;
  /** Feeds: the lowest slot that any of its pages reached down to. */
  reachedSlot: number | null;
  startedAt: string | null;
  finishedAt: string | null;
  /** Batch only: where each slice's frozen ids stand, and whether the list is complete. */
  slices: Map<number, LinePlace>;
  frozen: boolean;
  /** Why the crawl failed, or null. */
  failed: string | null;
  /** How often its walk came by each mark so far; empty when it has ended. */
  seen: Map<string, number>;
}

interface LinePlace {
  file: string;
  start: number;
  length: number;
}

/** Whether every page of a crawl has landed. */
export function isEnded(crawl: LandedCrawl): boolean {
  if (crawl.slices.size > 0 || crawl.frozen) return crawl.frozen && crawl.slices.size === crawl.pages.size;
  return crawl.last?.end != null;
}

/** Name of a crawl in maps: (task, crawl). */
export function crawlKey(of: { task: string; crawl: string }): string {
  return `${of.task}/${of.crawl}`;
}

/**
 * Cuts the torn tail of every segment that a killed process left unsealed, and seals it. A page counts when its
 * line is whole and its bytes match its checksum; everything after the first that does not is cut.
 */
export async function recoverLanding(dir: string): Promise<void> {
  await removeOrphans(dir);
  for (const segment of await listSegments(dir)) {
    const lines = await readSegment(dir, segment);
    if (lines.sealed) continue;
    const whole = await countWholeBytes(dir, segment, lines.entries);
    if (whole.pageBytes === 0) {
      await rm(recordFile(dir, segment), { force: true });
      await rm(pageFile(dir, segment));
      await syncDirectory(dir);
      continue;
    }
    await truncate(recordFile(dir, segment), whole.recordBytes);
    await truncate(pageFile(dir, segment), whole.pageBytes);
    // The records first: a sealed segment is not looked at again.
    await syncFile(recordFile(dir, segment));
    const pages = await open(pageFile(dir, segment), 'a');
    try {
      await pages.appendFile(sealedLine);
      await pages.datasync();
    } finally {
      await pages.close();
    }
  }
}

/** Record files without a page file: a kill while a segment was made or archived leaves them. */
async function removeOrphans(dir: string): Promise<void> {
  const segments = new Set(await listSegments(dir));
  for (const name of await readdir(dir)) {
    const segment = /^(\d+)\.ndjson$/.exec(name)?.[1];
    if (segment !== undefined && !segments.has(Number(segment))) await rm(join(dir, name));
  }
}

/** Every crawl that has lines in the landing log, by `crawlKey`. */
export async function readLanding(dir: string): Promise<Map<string, LandedCrawl>> {
  const crawls = new Map<string, LandedCrawl>();
  for (const segment of await listSegments(dir)) {
    const { entries } = await readSegment(dir, segment);
    for (const { line, place } of entries) {
      const key = crawlKey(line);
      let crawl = crawls.get(key);
      if (crawl === undefined) {
        crawl = newCrawl(line);
        crawls.set(key, crawl);
      }
      if (line.kind === 'ids') {
        crawl.slices.set(line.page, place);
        if (line.last) crawl.frozen = true;
      } else if (line.kind === 'failed') {
        crawl.failed = line.reason;
        if (!crawl.runs.includes(line.run)) crawl.runs.push(line.run);
      } else {
        addPage(crawl, line);
      }
    }
  }
  return crawls;
}

/** Whether a sealed segment's record file is, byte for byte, what its page lines say. */
export async function isSegmentWhole(dir: string, segment: number): Promise<boolean> {
  const { entries } = await readSegment(dir, segment);
  const expected = entries.reduce((most, { line }) => (line.kind === 'page' ? line.end_offset : most), 0);
  if (!(await exists(recordFile(dir, segment)))) return false;
  const { recordBytes } = await countWholeBytes(dir, segment, entries);
  const { size } = await stat(recordFile(dir, segment));
  return recordBytes === expected && size === expected;
}

/**
 * Looks at every byte of a segment once more before its rows are made, or its text is archived: a sealed one may have
 * been damaged since.
 * @param lost what becomes of it without its files, for the hint
 * @throws DiskError when a page's bytes are not those that were received
 */
export async function verifySegment(
  dir: string,
  segment: number,
  lost = 'its targets are crawled again',
): Promise<void> {
  if (await isSegmentWhole(dir, segment)) return;
  throw new DiskError(
    `segment ${segment} of the landing log is damaged: ${recordFile(dir, segment)} is not as it was received`,
    `Restore that file from a backup, or move both files of the segment away: ${lost}.`,
  );
}

/** What the loader must know of a segment before it reads it. */
export async function describeSegment(
  dir: string,
  segment: number,
): Promise<{ shape: string; longest: number; count: number }> {
  const { entries } = await readSegment(dir, segment);
  const first = entries[0];
  if (first === undefined) throw new Error(`segment ${segment} has no line`);
  const pages = entries.flatMap(({ line }) => (line.kind === 'page' ? line : []));
  return {
    shape: first.line.shape,
    longest: pages.reduce((most, page) => Math.max(most, page.longest), 0),
    count: pages.reduce((sum, page) => sum + page.records, 0),
  };
}

/** The frozen ids of one slice. */
export async function readSlice(crawl: LandedCrawl, page: number): Promise<readonly string[]> {
  const place = crawl.slices.get(page);
  if (place === undefined) throw new Error(`no frozen ids for page ${page} of ${crawl.job}`);
  const handle = await open(place.file, 'r');
  try {
    const { buffer } = await handle.read(Buffer.alloc(place.length), 0, place.length, place.start);
    return (JSON.parse(buffer.toString('utf8')) as IdsLine).ids;
  } finally {
    await handle.close();
  }
}

function newCrawl(line: LandingLine): LandedCrawl {
  return {
    task: line.task,
    crawl: line.crawl,
    job: line.job,
    target: line.target,
    operation: line.operation,
    shape: line.shape,
    runs: [],
    pages: new Set(),
    records: 0,
    nulls: 0,
    last: null,
    first: null,
    minSlot: null,
    maxSlot: null,
    reachedSlot: null,
    startedAt: null,
    finishedAt: null,
    slices: new Map(),
    frozen: false,
    failed: null,
    seen: new Map(),
  };
}

function addPage(crawl: LandedCrawl, line: PageLine): void {
  if (!crawl.runs.includes(line.run)) crawl.runs.push(line.run);
  crawl.pages.add(line.page);
  crawl.records += line.records;
  crawl.nulls += line.nulls;
  if (crawl.first === null || line.page < crawl.first.page) crawl.first = line;
  if (crawl.last === null || line.page > crawl.last.page) crawl.last = line;
  if (line.slot !== null) {
    crawl.minSlot = Math.min(crawl.minSlot ?? line.slot, line.slot);
    crawl.maxSlot = Math.max(crawl.maxSlot ?? line.slot, line.slot);
  }
  if (line.last_slot !== null)
    crawl.reachedSlot = Math.min(crawl.reachedSlot ?? line.last_slot, line.last_slot);
  if (line.begins_walk === true || line.end !== null) crawl.seen.clear();
  for (const mark of line.marks ?? []) crawl.seen.set(mark, (crawl.seen.get(mark) ?? 0) + 1);
  crawl.startedAt ??= line.received_at;
  crawl.finishedAt = line.received_at;
}

interface Entry {
  line: LandingLine;
  place: LinePlace;
}

/** Reads a page file up to its first line that is not whole JSON. */
async function readSegment(dir: string, segment: number): Promise<{ entries: Entry[]; sealed: boolean }> {
  const file = pageFile(dir, segment);
  const entries: Entry[] = [];
  for await (const { text, start } of wholeLines(file)) {
    const line = parseLine(text);
    if (line === null) break;
    if (line.kind === 'sealed') return { entries, sealed: true };
    entries.push({ line, place: { file, start, length: text.length } });
  }
  return { entries, sealed: false };
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

const kinds: ReadonlySet<unknown> = new Set(['page', 'ids', 'failed', 'sealed']);

function parseLine(text: Buffer): LandingLine | { kind: 'sealed' } | null {
  // After a power loss a tail may be anything; the first line that is not the log's own ends the segment.
  try {
    const line = JSON.parse(text.toString('utf8')) as LandingLine | { kind: 'sealed' } | null;
    return typeof line === 'object' && line !== null && kinds.has(line.kind) ? line : null;
  } catch {
    return null;
  }
}

async function countWholeBytes(
  dir: string,
  segment: number,
  entries: readonly Entry[],
): Promise<{ recordBytes: number; pageBytes: number }> {
  let recordBytes = 0;
  let pageBytes = 0;
  const records = await open(recordFile(dir, segment), 'r');
  try {
    for (const { line, place } of entries) {
      if (line.kind === 'page') {
        const length = line.end_offset - recordBytes;
        const { bytesRead, buffer } = await records.read(Buffer.alloc(length), 0, length, recordBytes);
        if (bytesRead !== length || crc32(buffer) !== line.crc32) break;
        recordBytes = line.end_offset;
      }
      pageBytes = place.start + place.length + 1;
    }
  } finally {
    await records.close();
  }
  return { recordBytes, pageBytes };
}
