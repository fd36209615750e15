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

/** What a repair of the landing log keeps and sets aside. */
export interface LandingRepair {
  /** Damaged segments, each with its first damaged line. */
  damaged: { inspection: Inspection; line: InspectedLine }[];
  /** Segments to rewrite, with the lines to keep. */
  rewritten: { segment: number; kept: InspectedLine[] }[];
  pages: { kept: number; setAside: number };
  /** Whether a damaged line belongs to an unknown crawl. */
  hasUnknown: boolean;
  /** Crawls that lose pages, and the number of the first one, from which the target is crawled again. */
  broken: { job: string; target: string; task: string; crawl: string; fromPage: number }[];
}

/**
 * Finds what is damaged in a landing log and what can be kept. Changes nothing.
 *
 * A page leads to the next one of its crawl. If one is damaged, the crawl's later pages are set aside too, because a crawl with
 * a hole would look complete. Slices of a batch are independent. All other crawls keep every page.
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

/** The intact lines of one crawl. */
interface CrawlLines {
  job: string;
  target: string;
  isBatch: boolean;
  /** Numbers of intact pages. */
  pages: Set<number>;
  /** Numbers of frozen slices. */
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
 * The first page that a crawl cannot keep; 0: it keeps none; null: it keeps all intact ones.
 * @param isLost whether the log has damaged lines of unknown crawls
 */
function breakOf({ isBatch, pages, slices, damaged }: CrawlLines, isLost: boolean): number | null {
  if (isBatch) {
    // A damaged page of a slice is requested again by the slice's ids; without the ids the batch cannot be completed.
    const highest = Math.max(0, ...slices, ...pages);
    return isLost && slices.size < highest ? 0 : null;
  }
  const first = Math.min(...pages, ...damaged);
  const broken = damaged.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...damaged);
  if (!isLost) return Number.isFinite(broken) ? broken : null;
  // Without lost lines, pages before the first one are in the archive.
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
 * Carries out a plan. The damaged files stay in `aside` under a second name; the rewritten segments replace them all together.
 * After a kill before that, nothing has changed; after a later kill, the next session or repair finishes.
 * @param aside a folder that does not exist yet
 * @param beforeMove is awaited when everything is written, before any file is replaced
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

/** Links a file under a second name; copies it if that is on another disk. */
async function nameAgain(file: string, name: string): Promise<void> {
  await link(file, name).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EXDEV') throw error;
    await copyFile(file, name);
    await syncFile(name);
  });
}

/** Writes a sealed segment of these lines to another folder; an empty page file if there are none. */
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
    for (const { line, records: range } of kept) {
      if (line === null) continue;
      if (line.kind !== 'page') {
        await pages.appendFile(renderLine(bare(line)));
        continue;
      }
      const { start, end } = range ?? { start: 0, end: 0 };
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
 * @throws DiskError if the file is shorter: it has changed since it was examined
 */
async function readBlock(source: FileHandle | null, start: number, end: number): Promise<Buffer> {
  const block = source === null ? Buffer.alloc(0) : await readBytes(source, start, end - start);
  if (block.length === end - start) return block;
  throw new DiskError(
    `the records of a page, bytes ${start} to ${end}, cannot be read any more`,
    'Nothing was changed. Run `ledgerlake doctor` again.',
  );
}

/** A line without its checksum, what was synced, and its forms, which may depend on pages that are gone. */
function bare<T extends object>(line: T): T {
  const { line_crc32, synced, forms, form_of, ...rest } = line as T &
    Partial<PageLine> & { line_crc32?: number };
  return rest as unknown as T;
}
