import { open } from 'node:fs/promises';
import type { IdsLine, LandingLine, PageLine } from './page-line.ts';
import { inspectSegment, readPageLines } from './page-lines.ts';
import { describeDamage } from './recover-landing.ts';
import { listSegments, pageFile } from './segment-files.ts';

/** What the landing log has of one crawl of one task. */
export interface LandedCrawl {
  task: string;
  crawl: string;
  job: string;
  target: string;
  operation: string;
  shape: string;
  /** Runs that received its pages, or accepted it, in order. */
  runs: string[];
  /** Numbers of the pages received (a batch receives them in any order). */
  pages: Set<number>;
  records: number;
  nulls: number;
  /** The highest-numbered page, where the crawl continues. */
  last: PageLine | null;
  /** Whether one of its pages ended the list. */
  hasEnd: boolean;
  /** The first page: a feed's head. */
  first: PageLine | null;
  minSlot: number | null;
  maxSlot: number | null;
  /** Feeds: the lowest slot that any of its pages reached down to. */
  reachedSlot: number | null;
  /** Feeds: the slot from which up its pages were read within `overlap` of their slots' own time; null: none. */
  freshSlot: number | null;
  startedAt: string | null;
  finishedAt: string | null;
  /** Batch only: the line with each slice's frozen ids. */
  slices: Map<number, LineLocation>;
  /** Batch only: whether the list of ids is complete. */
  frozen: boolean;
  /** Why the crawl failed, or null. */
  failed: string | null;
  /** How often each mark came since the crawl last began at the start of the list; empty once it has ended. */
  seen: Map<string, number>;
}

interface LineLocation {
  file: string;
  start: number;
  length: number;
}

/** Whether every page of a crawl has landed. The column `ended` of sql/publish/crawl-states.sql is the same, for the publishing side. */
export function isEnded(crawl: LandedCrawl): boolean {
  if (crawl.slices.size > 0 || crawl.frozen) return crawl.frozen && crawl.slices.size === crawl.pages.size;
  return crawl.hasEnd;
}

/** Name of a crawl in maps: (task, crawl). */
export function crawlKey(of: { task: string; crawl: string }): string {
  return `${of.task}/${of.crawl}`;
}

/** Every crawl that has lines in the landing log, by `crawlKey`. */
export async function readLanding(dir: string): Promise<Map<string, LandedCrawl>> {
  const crawls = new Map<string, LandedCrawl>();
  for (const segment of await listSegments(dir)) {
    for (const { line, location } of await readSegment(dir, segment)) {
      // It belongs to no crawl; publish reads it.
      if (line.kind === 'forgotten') continue;
      const key = crawlKey(line);
      let crawl = crawls.get(key);
      if (crawl === undefined) {
        crawl = newCrawl(line);
        crawls.set(key, crawl);
      }
      if (line.kind === 'ids') {
        crawl.slices.set(line.page, location);
        if (line.last) crawl.frozen = true;
      } else if (line.kind === 'failed') {
        crawl.failed = line.reason;
        addRun(crawl, line.run);
      } else if (line.kind === 'accepted') {
        addRun(crawl, line.run);
      } else {
        addPage(crawl, line);
      }
    }
  }
  return crawls;
}

/** Whether a segment is sealed and matches its page lines byte for byte. */
export async function isSegmentWhole(dir: string, segment: number): Promise<boolean> {
  const { sealed, lines, recordBytes, describedBytes } = await inspectSegment(dir, segment);
  return sealed && lines.every(({ whole }) => whole) && recordBytes === describedBytes;
}

/**
 * Verifies every byte of a segment. Called before its rows are made or its text is archived, because a sealed segment may have
 * been damaged since.
 * @throws DamagedLanding if a page's bytes differ from those received
 */
export async function verifySegment(dir: string, segment: number): Promise<void> {
  const inspection = await inspectSegment(dir, segment);
  const damaged = inspection.lines.find(({ whole }) => !whole);
  if (damaged !== undefined) throw describeDamage(dir, inspection, damaged);
}

/**
 * As {@link verifySegment}, for the page lines only: enough for a caller that reads no records, or uses `pickRecords`.
 * @throws DamagedLanding
 */
export async function verifyPageLines(dir: string, segment: number): Promise<void> {
  for await (const { line } of readPageLines(dir, segment))
    if (line === null) return verifySegment(dir, segment);
}

/** The lines of a segment's pages, in order. */
export async function listPages(dir: string, segment: number): Promise<PageLine[]> {
  const entries = await readSegment(dir, segment);
  return entries.flatMap(({ line }) => (line.kind === 'page' ? line : []));
}

/** A segment's shape, bytes of its longest record, and number of records. */
export async function describeSegment(
  dir: string,
  segment: number,
): Promise<{ shape: string; longest: number; count: number }> {
  const entries = await readSegment(dir, segment);
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
  const location = crawl.slices.get(page);
  if (location === undefined) throw new Error(`no frozen ids for page ${page} of ${crawl.job}`);
  const handle = await open(location.file, 'r');
  try {
    const { buffer } = await handle.read(Buffer.alloc(location.length), 0, location.length, location.start);
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
    hasEnd: false,
    first: null,
    minSlot: null,
    maxSlot: null,
    reachedSlot: null,
    freshSlot: null,
    startedAt: null,
    finishedAt: null,
    slices: new Map(),
    frozen: false,
    failed: null,
    seen: new Map(),
  };
}

function addPage(crawl: LandedCrawl, line: PageLine): void {
  addRun(crawl, line.run);
  crawl.pages.add(line.page);
  crawl.records += line.records;
  crawl.nulls += line.nulls;
  if (line.end !== null) crawl.hasEnd = true;
  if (crawl.first === null || line.page < crawl.first.page) crawl.first = line;
  if (crawl.last === null || line.page > crawl.last.page) crawl.last = line;
  if (line.slot !== null) {
    crawl.minSlot = Math.min(crawl.minSlot ?? line.slot, line.slot);
    crawl.maxSlot = Math.max(crawl.maxSlot ?? line.slot, line.slot);
  }
  if (line.last_slot !== null)
    crawl.reachedSlot = Math.min(crawl.reachedSlot ?? line.last_slot, line.last_slot);
  if (line.fresh_slot !== undefined)
    crawl.freshSlot = Math.min(crawl.freshSlot ?? line.fresh_slot, line.fresh_slot);
  if (line.begins_walk === true || line.end !== null) crawl.seen.clear();
  for (const mark of line.marks ?? []) crawl.seen.set(mark, (crawl.seen.get(mark) ?? 0) + 1);
  crawl.startedAt ??= line.received_at;
  crawl.finishedAt = line.received_at;
}

function addRun(crawl: LandedCrawl, run: string): void {
  if (!crawl.runs.includes(run)) crawl.runs.push(run);
}

interface Entry {
  line: LandingLine;
  location: LineLocation;
}

/** Reads a page file up to its first damaged or torn line. */
async function readSegment(dir: string, segment: number): Promise<Entry[]> {
  const file = pageFile(dir, segment);
  const entries: Entry[] = [];
  for await (const { line, start, length } of readPageLines(dir, segment)) {
    if (line === null || line.kind === 'sealed') break;
    entries.push({ line, location: { file, start, length } });
  }
  return entries;
}
