import { type FileHandle, mkdir, open } from 'node:fs/promises';
import type { LandingRecord } from './landing-record.ts';
import type {
  AcceptedLine,
  FailedLine,
  ForgottenLine,
  IdsLine,
  LandingLine,
  PageLine,
  Synced,
} from './page-line.ts';
import { createPageBuffer, type NewPage, renderLine, renderPage, type SegmentForms } from './render-page.ts';
import { pageFile, recordFile, syncDirectory } from './segment-files.ts';

export interface LandingLog {
  /**
   * Appends a page and its records. Resolves when both are written to the operating system, so that a killed process loses
   * nothing; they survive a power loss after the next group sync. After one write error every later call rejects with it.
   * @param sharedWith the same page as other crawls of its shape have it: all of their lines are written together
   */
  appendPage(
    page: NewPage,
    records: readonly LandingRecord[],
    sharedWith?: readonly NewPage[],
  ): Promise<PageLine>;
  /** Records the ids of a batch task; durable when it resolves. */
  appendIds(lines: AsyncIterable<IdsLine> | Iterable<IdsLine>): Promise<void>;
  /** Records that a crawl failed. */
  appendFailure(line: FailedLine): Promise<void>;
  /** Records that a run accepts a crawl. */
  appendAccepted(line: AcceptedLine): Promise<void>;
  /** Records that the tables shall forget rows. */
  appendForgotten(line: ForgottenLine): Promise<void>;
  /** When this resolves, everything appended so far survives a power loss. */
  sync(): Promise<void>;
  /** Seals every open segment. */
  close(): Promise<void>;
}

export interface LandingOptions {
  dir: string;
  /** The highest number that a segment has or had. Numbers are times, but always above this one, even if the clock goes back. */
  highestNumber?: number;
  /** A segment is sealed when its records pass this many bytes. Default 64 MiB. */
  rotateBytes?: number;
  /** A segment is sealed when its page lines pass this many bytes: archiving holds all of them in memory. Default 16 MB. */
  rotateLineBytes?: number;
  /** A segment is sealed when it is this old, so that a slow crawl is loaded while it runs. Default 10 minutes. */
  rotateMs?: number;
  /** Interval of the group sync. Default 250 ms. */
  syncMs?: number;
  /** Appends sync when records and lines have more unsynced bytes than this. Default 32 MiB. */
  maxUnsyncedBytes?: number;
  /** Called when a segment is sealed and may be loaded. */
  onSealed?: (segment: number, shape: string) => void;
}

interface OpenSegment {
  number: number;
  shape: string;
  records: FileHandle;
  pages: FileHandle;
  offset: number;
  lineBytes: number;
  synced: Synced;
  openedAt: number;
  forms: SegmentForms;
}

/** A page that was appended and waits to be written. */
interface PendingPage {
  /** The page as each of the crawls that share it has it. */
  pages: readonly [NewPage, ...NewPage[]];
  records: readonly LandingRecord[];
  /** The line of the first of `pages`; null until it is written. */
  line: PageLine | null;
}

/** Pending pages are written together up to this size (many small targets at once). */
const maxBatchBytes = 1 << 20;

/** A write buffer of at most this size is reused: a page of 1,000 assets has about 2 MB. */
const maxBufferBytes = 8 << 20;

/** The last line of a finished segment; in a segment without it the next run looks for a torn tail. */
export const sealedLine = `${JSON.stringify({ kind: 'sealed' })}\n`;

/**
 * The append side of the landing log. Each shape has one open segment, so that a segment loads with one query. A page's
 * records are written before its line, so that a line never describes bytes that are missing.
 */
export function createLandingLog(options: LandingOptions): LandingLog {
  const {
    dir,
    highestNumber = 0,
    rotateBytes = 64 << 20,
    rotateLineBytes = 16_000_000,
    rotateMs = 600_000,
    syncMs = 250,
    maxUnsyncedBytes = 32 << 20,
  } = options;
  const segments = new Map<string, OpenSegment>();
  let lastNumber = highestNumber;
  let unsyncedBytes = 0;
  let failure: unknown;
  let tail: Promise<unknown> = Promise.resolve();
  const pending: PendingPage[] = [];
  const buffer = createPageBuffer(maxBufferBytes);
  const timer = setInterval(() => void sync().catch(() => undefined), syncMs).unref();

  /** Runs steps one after another. Once one fails, all later ones fail with the same error. */
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

  function isFull({ offset, lineBytes }: Pick<OpenSegment, 'offset' | 'lineBytes'>): boolean {
    return offset >= rotateBytes || lineBytes >= rotateLineBytes;
  }

  async function segmentFor(shape: string): Promise<OpenSegment> {
    const current = segments.get(shape);
    if (current !== undefined && !isFull(current) && Date.now() - current.openedAt < rotateMs) return current;
    if (current !== undefined) await seal(current);
    await mkdir(dir, { recursive: true, mode: 0o700 });
    lastNumber = Math.max(Date.now(), lastNumber + 1);
    const segment: OpenSegment = {
      number: lastNumber,
      shape,
      records: await open(recordFile(dir, lastNumber), 'ax', 0o600),
      pages: await open(pageFile(dir, lastNumber), 'ax', 0o600),
      offset: 0,
      lineBytes: 0,
      synced: [0, 0],
      openedAt: Date.now(),
      forms: new Map(),
    };
    segments.set(shape, segment);
    await syncDirectory(dir);
    return segment;
  }

  async function writeLine(segment: OpenSegment, line: Exclude<LandingLine, PageLine>): Promise<void> {
    const text = renderLine({ ...line, synced: segment.synced });
    await segment.pages.appendFile(text);
    const bytes = Buffer.byteLength(text);
    segment.lineBytes += bytes;
    await syncIfDue(bytes);
  }

  async function syncSegment(segment: OpenSegment): Promise<void> {
    await segment.records.datasync();
    await segment.pages.datasync();
    segment.synced = [segment.offset, segment.lineBytes];
  }

  async function seal(segment: OpenSegment): Promise<void> {
    // Sync first: behind a `sealed` line any damage is corruption, never a torn write.
    await syncSegment(segment);
    await segment.pages.appendFile(sealedLine);
    await segment.pages.datasync();
    await segment.records.close();
    await segment.pages.close();
    segments.delete(segment.shape);
    options.onSealed?.(segment.number, segment.shape);
  }

  /** Counts bytes just written, and syncs once there are too many that are not. */
  async function syncIfDue(bytes: number): Promise<void> {
    unsyncedBytes += bytes;
    if (unsyncedBytes > maxUnsyncedBytes) await syncOpen();
  }

  async function syncOpen(): Promise<void> {
    if (unsyncedBytes === 0) return;
    unsyncedBytes = 0;
    for (const segment of segments.values()) await syncSegment(segment);
  }

  function sync(): Promise<void> {
    return inOrder(syncOpen);
  }

  function appendLine(line: FailedLine | AcceptedLine | ForgottenLine): Promise<void> {
    return inOrder(async () => {
      const segment = await segmentFor(line.shape);
      await writeLine(segment, line);
    });
  }

  /** Writes the first pending page together with small ones behind it: all records first, then all lines. */
  async function writePending(): Promise<void> {
    const segment = await segmentFor(pending[0]!.pages[0].shape);
    const written: { pendingPage: PendingPage; line: PageLine }[] = [];
    const lines: string[] = [];
    let { offset, lineBytes } = segment;
    const batchBytes = () => offset + lineBytes - segment.offset - segment.lineBytes;
    buffer.clear();
    while (pending[0]?.pages[0].shape === segment.shape && !isFull({ offset, lineBytes })) {
      if (batchBytes() >= maxBatchBytes) break;
      const pendingPage = pending.shift()!;
      for (const page of pendingPage.pages) {
        const { block, line } = renderPage(page, pendingPage.records, offset, segment.forms, buffer.allocate);
        written.push({ pendingPage, line });
        lines.push(renderLine({ ...line, synced: segment.synced }));
        lineBytes += Buffer.byteLength(lines.at(-1) as string);
        offset += block.length;
      }
    }
    await segment.records.appendFile(buffer.written());
    await segment.pages.appendFile(lines.join(''));
    for (const { pendingPage, line } of written) pendingPage.line ??= line;
    const bytes = batchBytes();
    Object.assign(segment, { offset, lineBytes });
    await syncIfDue(bytes);
  }

  return {
    appendPage: (page, records, sharedWith = []) => {
      const pendingPage: PendingPage = { pages: [page, ...sharedWith], records, line: null };
      pending.push(pendingPage);
      return inOrder(async () => {
        // It may have been written with a page before it; otherwise it is the first pending one.
        if (pendingPage.line === null) await writePending();
        return pendingPage.line as PageLine;
      });
    },
    appendIds: (lines) =>
      inOrder(async () => {
        for await (const line of lines) {
          const segment = await segmentFor(line.shape);
          await writeLine(segment, line);
        }
        await syncOpen();
      }),
    appendFailure: appendLine,
    appendAccepted: appendLine,
    appendForgotten: appendLine,
    sync,
    async close() {
      clearInterval(timer);
      await inOrder(async () => {
        for (const segment of [...segments.values()]) await seal(segment);
      });
    },
  };
}
