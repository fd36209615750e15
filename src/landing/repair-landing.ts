import { copyFile, type FileHandle, link, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DiskError } from '../errors.ts';
import type { PageLine } from './page-line.ts';
import { type InspectedLine, type Inspection, inspectSegment } from './page-lines.ts';
import { crawlKey } from './reader.ts';
import { findDamage, finishRepair, repairedFolder } from './recover-landing.ts';
import { renderLine } from './render-page.ts';
import {
  exists,
  listSegments,
  openIfThere,
  pageFile,
  readBytes,
  recordFile,
  syncDirectory,
  syncFile,
} from './segment-files.ts';
import { sealedLine } from './writer.ts';

/** What a repair of the landing log leaves out, and what it keeps. */
export interface LandingRepair {
  /** Damaged segments, each by the first thing that is wrong with it. */
  damaged: { inspection: Inspection; line: InspectedLine }[];
  /** Segments that have to be written anew, with the lines that stay. */
  rewritten: { segment: number; kept: InspectedLine[] }[];
  pages: { kept: number; setAside: number };
  /** Whether there are damaged lines of which nothing is known, not even the crawl. */
  hasUnknown: boolean;
  /** Crawls that lose pages, and the number of the first: from there their target is asked again. */
  broken: { job: string; target: string; task: string; crawl: string; fromPage: number }[];
}

/**
 * What is damaged in a landing log, and what can be kept of it. Changes nothing.
 *
 * A page leads on to the next one of its crawl: where one is damaged, those behind it are left out too, because a crawl with
 * a hole would look complete. Slices of a batch stand for themselves. All other crawls keep every page.
 */
export async function planLandingRepair(dir: string, bootedAt: number): Promise<LandingRepair> {
  const inspections: Inspection[] = [];
  for (const segment of await listSegments(dir)) inspections.push(await inspectSegment(dir, segment));
  const damaged = inspections.flatMap((inspection) => {
    const line = findDamage(inspection, bootedAt);
    return line === null ? [] : { inspection, line };
  });
  return planRepair(inspections, damaged);
}

/** Pure. */
export function planRepair(
  inspections: readonly Inspection[],
  damaged: LandingRepair['damaged'],
): LandingRepair {
  const none = { damaged, rewritten: [], pages: { kept: 0, setAside: 0 }, hasUnknown: false, broken: [] };
  if (damaged.length === 0) return none;
  const crawls = groupCrawls(inspections);
  const isLost = inspections.some(({ lines }) => lines.some(({ line }) => line === null));
  for (const { lostPages } of inspections)
    for (const lost of lostPages) crawls.get(crawlKey(lost))?.damaged.push(lost.page);
  const breaks = new Map<string, number>();
  for (const [key, crawl] of crawls) {
    const from = breakOf(crawl, isLost);
    if (from !== null) breaks.set(key, from);
  }
  const isKept = ({ line, whole }: InspectedLine) => {
    if (line === null || !whole) return false;
    const from = breaks.get(crawlKey(line)) ?? Number.POSITIVE_INFINITY;
    if (line.kind === 'failed' || line.kind === 'accepted' || line.kind === 'forgotten') return true;
    return line.kind === 'page' || from === 0 ? line.page < from : true;
  };
  const hasUnknown = inspections.some(
    ({ lines, lostPages }) => lines.filter(({ line }) => line === null).length > lostPages.length,
  );
  const repair: LandingRepair = { ...none, hasUnknown, broken: listBroken(crawls, breaks) };
  for (const { segment, lines } of inspections) {
    const kept = lines.filter(isKept);
    if (kept.length < lines.length) repair.rewritten.push({ segment, kept });
    const pages = (of: readonly InspectedLine[]) =>
      of.filter(({ line }) => line === null || line.kind === 'page');
    repair.pages.kept += pages(kept).length;
    repair.pages.setAside += pages(lines).length - pages(kept).length;
  }
  return repair;
}

/** What the whole lines of a log say of one crawl. */
interface CrawlLines {
  job: string;
  target: string;
  isBatch: boolean;
  /** Numbers of whole pages, and of frozen slices. */
  pages: Set<number>;
  slices: Set<number>;
  /** Numbers of damaged pages. */
  damaged: number[];
}

function groupCrawls(inspections: readonly Inspection[]): Map<string, CrawlLines> {
  const crawls = new Map<string, CrawlLines>();
  for (const { line, whole } of inspections.flatMap(({ lines }) => lines)) {
    if (line === null) continue;
    const { job, target } = line;
    const crawl = crawls.get(crawlKey(line)) ?? {
      ...{ job, target, isBatch: false },
      ...{ pages: new Set<number>(), slices: new Set<number>(), damaged: [] },
    };
    crawls.set(crawlKey(line), crawl);
    if (line.kind === 'ids') crawl.slices.add(line.page);
    if (line.kind === 'page') {
      if (whole) crawl.pages.add(line.page);
      else crawl.damaged.push(line.page);
    }
    if (line.kind === 'ids' || (line.kind === 'page' && line.position === null)) crawl.isBatch = true;
  }
  return crawls;
}

/**
 * The first page that a crawl cannot keep; 0: none can; null: it keeps all that are whole.
 * @param isLost whether the log has lines that nothing is known of
 */
function breakOf({ isBatch, pages, slices, damaged }: CrawlLines, isLost: boolean): number | null {
  if (isBatch) {
    // Without the ids of a slice nobody knows what it asked for; a damaged page of one is asked for again by them.
    const most = Math.max(0, ...slices, ...pages);
    return isLost && slices.size < most ? 0 : null;
  }
  const first = Math.min(...pages, ...damaged);
  const broken = damaged.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...damaged);
  if (!isLost) return Number.isFinite(broken) ? broken : null;
  // Pages before the first may be in the archive, unless a line was lost.
  if (first > 1) return 0;
  for (let page = first; page < broken; page += 1) {
    if (pages.has(page)) continue;
    return [...pages].some((other) => other > page) ? page : null;
  }
  return broken;
}

function listBroken(
  crawls: ReadonlyMap<string, CrawlLines>,
  breaks: ReadonlyMap<string, number>,
): LandingRepair['broken'] {
  return [...crawls].flatMap(([key, { job, target, isBatch, damaged }]) => {
    const from = breaks.get(key) ?? (isBatch && damaged.length > 0 ? Math.min(...damaged) : null);
    const [task = '', crawl = ''] = key.split('/');
    return from === null ? [] : { job, target, task, crawl, fromPage: Math.max(1, from) };
  });
}

/**
 * Does what was planned: the files as they are stay in `aside`, by a second name; the segments written anew take their
 * places all together. Killed before that, nothing has changed; killed after, the next session or repair ends it.
 * @param aside a folder that is not there yet
 * @param beforeMove is awaited when all is written, before anything takes its place
 */
export async function repairLanding(
  dir: string,
  { rewritten }: LandingRepair,
  aside: string,
  beforeMove: () => Promise<void>,
): Promise<void> {
  const draft = `${repairedFolder(dir)}.tmp`;
  await rm(draft, { recursive: true, force: true });
  for (const folder of [aside, draft]) await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const { segment, kept } of rewritten) {
    for (const file of [recordFile(dir, segment), pageFile(dir, segment)])
      if (await exists(file)) await nameAgain(file, join(aside, basename(file)));
    await writeSegment(dir, draft, segment, kept);
  }
  for (const folder of [aside, join(aside, '..'), draft]) await syncDirectory(folder);
  await beforeMove();
  await rename(draft, repairedFolder(dir));
  await syncDirectory(dir);
  await finishRepair(dir);
}

/** A second name for a file; a copy where that is on another disk. */
async function nameAgain(file: string, name: string): Promise<void> {
  await link(file, name).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EXDEV') throw error;
    await copyFile(file, name);
    await syncFile(name);
  });
}

/** Writes a sealed segment of these lines, as they are, to another folder; an empty page file where there are none. */
async function writeSegment(
  from: string,
  to: string,
  segment: number,
  kept: readonly InspectedLine[],
): Promise<void> {
  const source = await openIfThere(recordFile(from, segment));
  const records = await open(recordFile(to, segment), 'wx', 0o600);
  const pages = await open(pageFile(to, segment), 'wx', 0o600);
  try {
    let offset = 0;
    for (const { line, records: place } of kept) {
      if (line === null) continue;
      if (line.kind !== 'page') {
        await pages.appendFile(renderLine(bare(line)));
        continue;
      }
      const { start, end } = place ?? { start: 0, end: 0 };
      const block = await readBlock(source, start, end);
      await records.appendFile(block);
      offset += block.length;
      await pages.appendFile(renderLine(bare({ ...line, end_offset: offset })));
    }
    if (kept.length > 0) await pages.appendFile(sealedLine);
    await records.sync();
    await pages.sync();
  } finally {
    for (const file of [source, records, pages]) await file?.close();
  }
}

/**
 * The bytes of a file from one offset to another.
 * @throws DiskError where the file does not reach so far: it is not as it was when it was looked at
 */
async function readBlock(source: FileHandle | null, start: number, end: number): Promise<Buffer> {
  const block = source === null ? Buffer.alloc(0) : await readBytes(source, start, end - start);
  if (block.length === end - start) return block;
  throw new DiskError(
    `the records of a page, bytes ${start} to ${end}, cannot be read any more`,
    'Nothing was changed. Run `ledgerlake doctor` again.',
  );
}

/** A line without what was about its place: the checksum of its text, what was synced, forms that another page may tell. */
function bare<T extends object>(line: T): T {
  const { line_crc32, synced, forms, form_of, ...rest } = line as T &
    Partial<PageLine> & { line_crc32?: number };
  return rest as unknown as T;
}
