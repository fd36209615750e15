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
import { type NewPage, renderLine, renderPage, type SegmentForms } from './render-page.ts';
import { pageFile, recordFile, syncDirectory } from './segment-files.ts';
import { createWriteRoom } from './write-room.ts';

export interface LandingLog {
  /**
   * Appends a page and its records. Resolves when both are with the kernel (a killed process loses nothing);
   * they survive a power loss after the next group sync. Rejects with the first write error, and then for ever.
   * @param also the page as other crawls have it, of the same shape: it lands for all of them in one write
   */
  appendPage(page: NewPage, records: readonly LandingRecord[], also?: readonly NewPage[]): Promise<PageLine>;
  /** Freezes a batch task's ids; durable when it resolves. */
  appendIds(lines: AsyncIterable<IdsLine> | Iterable<IdsLine>): Promise<void>;
  /** Records that a crawl failed. */
  appendFailure(line: FailedLine): Promise<void>;
  /** Records that a run accepts a crawl. */
  appendAccepted(line: AcceptedLine): Promise<void>;
  /** Records that rows are to be forgotten. */
  appendForgotten(line: ForgottenLine): Promise<void>;
  /** Everything appended so far survives a power loss when this resolves. */
  sync(): Promise<void>;
  /** Seals every open segment. */
  close(): Promise<void>;
}

export interface LandingOptions {
  dir: string;
  /** The highest number that a segment has or had: later ones get higher numbers, also when the clock went back. */
  newest?: number;
  /** A segment is sealed when its records pass this many bytes. Default 64 MiB. */
  rotateBytes?: number;
  /** … or its page lines these: all of them are in memory at once when they are archived. Default 16 MB. */
  rotateLineBytes?: number;
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
  lineBytes: number;
  synced: Synced;
  openedAt: number;
  forms: SegmentForms;
}

/** A page that is appended and not yet written: no line yet. */
interface WaitingPage {
  /** … as each of the crawls has it that share it. */
  pages: readonly [NewPage, ...NewPage[]];
  records: readonly LandingRecord[];
  line: PageLine | null;
}

/** Pages wait for the write before them; those below this in all are one write (small targets, many at once). */
const writeTogetherBytes = 1 << 20;

/** Most bytes of a write whose buffer is kept for the next: a page of 1,000 assets has about 2 MB. */
const keptBytes = 8 << 20;

/** The line that says that a segment is whole; without it the next run looks for a torn tail first. */
export const sealedLine = `${JSON.stringify({ kind: 'sealed' })}\n`;

/**
 * The append side of the landing log. One open segment a shape, so that a segment loads with one query.
 * Writes are in order: a page's records first, then its line, so a line never speaks of bytes that are missing.
 */
export function createLandingLog(options: LandingOptions): LandingLog {
  const {
    dir,
    newest = 0,
    rotateBytes = 64 << 20,
    rotateLineBytes = 16_000_000,
    rotateMs = 600_000,
    syncMs = 250,
    maxUnsyncedBytes = 32 << 20,
  } = options;
  const segments = new Map<string, OpenSegment>();
  let lastNumber = newest;
  let unsynced = 0;
  let failure: unknown;
  let tail: Promise<unknown> = Promise.resolve();
  const waiting: WaitingPage[] = [];
  const room = createWriteRoom(keptBytes);
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
    segment.lineBytes += Buffer.byteLength(text);
    unsynced += 1;
  }

  async function syncSegment(segment: OpenSegment): Promise<void> {
    await segment.records.datasync();
    await segment.pages.datasync();
    segment.synced = [segment.offset, segment.lineBytes];
  }

  async function seal(segment: OpenSegment): Promise<void> {
    // Before the line that says so: what is damaged in a sealed segment is no torn tail.
    await syncSegment(segment);
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

  /** Writes the first page that waits and small ones behind it together: all records first, then all lines. */
  async function writeWaiting(): Promise<void> {
    const segment = await segmentFor(waiting[0]!.pages[0].shape);
    const written: { waitingPage: WaitingPage; line: PageLine }[] = [];
    const lines: string[] = [];
    let { offset, lineBytes } = segment;
    room.clear();
    while (waiting[0]?.pages[0].shape === segment.shape && !isFull({ offset, lineBytes })) {
      if (offset + lineBytes - segment.offset - segment.lineBytes >= writeTogetherBytes) break;
      const waitingPage = waiting.shift()!;
      for (const page of waitingPage.pages) {
        const { block, line } = renderPage(page, waitingPage.records, offset, segment.forms, room.allocate);
        written.push({ waitingPage, line });
        lines.push(renderLine({ ...line, synced: segment.synced }));
        lineBytes += Buffer.byteLength(lines.at(-1) as string);
        offset += block.length;
      }
    }
    await segment.records.appendFile(room.written());
    await segment.pages.appendFile(lines.join(''));
    for (const { waitingPage, line } of written) waitingPage.line ??= line;
    unsynced += offset - segment.offset + 1;
    Object.assign(segment, { offset, lineBytes });
    if (unsynced > maxUnsyncedBytes) await syncOpen();
  }

  return {
    appendPage: (page, records, also = []) => {
      const waitingPage: WaitingPage = { pages: [page, ...also], records, line: null };
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
