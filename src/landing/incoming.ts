import { link, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LandingRecord } from './landing-record.ts';
import type { NewPage } from './render-page.ts';
import { listSegments, pageFile, recordFile, syncDirectory, writeSynced } from './segment-files.ts';
import { createLandingLog } from './writer.ts';

/**
 * Pages that were received outside a run (`ledgerlake webhook`). A run may be at work, and its landing log is its
 * own: so a page stands here as a sealed segment in a folder of its own, whole or not at all, until the next
 * session moves it into the log.
 */
export async function landOutside(
  incoming: string,
  origins: Readonly<Record<string, string>>,
  page: NewPage,
  records: readonly LandingRecord[],
): Promise<void> {
  await mkdir(incoming, { recursive: true, mode: 0o700 });
  const draft = await mkdtemp(join(incoming, 'draft-'));
  let segment = 0;
  const landing = createLandingLog({
    dir: draft,
    onSealed: (number) => {
      segment = number;
    },
  });
  await landing.appendPage(page, records);
  await landing.close();
  await writeSynced(join(draft, 'origins.json'), JSON.stringify(origins));
  await syncDirectory(draft);
  // Two at once may have taken one number: the folder's name is only unique by the draft's own.
  await rename(draft, join(incoming, `${segment}${draft.slice(-7)}`));
  await syncDirectory(incoming);
}

export interface IncomingOptions {
  incoming: string;
  landing: string;
  /** Whether a segment of this number is, or was, somewhere else than in the landing log. */
  isTaken(segment: number): Promise<boolean>;
  /** Asked before a page is taken in. @returns false to leave it where it is */
  mayComeFrom(origins: Readonly<Record<string, string>>, folder: string): Promise<boolean>;
}

/**
 * Moves what stands in `incoming` into the landing log, oldest first. The caller holds the run lock. The log's files
 * are links until both are there, so a kill at any point leaves the page in one place or in both, and the next
 * session goes on.
 */
export async function takeIncoming(options: IncomingOptions): Promise<void> {
  const { incoming, landing } = options;
  const names = await readdir(incoming).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names.filter((one) => /^\d+-\w+$/.test(one)).sort()) {
    const folder = join(incoming, name);
    const [segment] = await listSegments(folder);
    if (segment !== undefined) {
      const origins = JSON.parse(await readFile(join(folder, 'origins.json'), 'utf8')) as Record<
        string,
        string
      >;
      if (!(await options.mayComeFrom(origins, folder))) continue;
      if (!(await isLinked(pageFile(folder, segment), landing))) await linkSegment(folder, segment, options);
    }
    await rm(folder, { recursive: true });
    await syncDirectory(incoming);
  }
}

async function linkSegment(folder: string, segment: number, options: IncomingOptions): Promise<void> {
  const { landing } = options;
  const there = new Set(await listSegments(landing));
  let number = segment;
  // Numbers are times: a lower one is never taken later.
  while (there.has(number) || (await options.isTaken(number))) number -= 1;
  // Half of an earlier attempt, or of another segment that a kill left without its page file.
  await rm(recordFile(landing, number), { force: true });
  await link(recordFile(folder, segment), recordFile(landing, number));
  await syncDirectory(landing);
  await link(pageFile(folder, segment), pageFile(landing, number));
  await syncDirectory(landing);
}

/** Whether the file stands in the log already: an earlier session was killed before it removed the folder. */
async function isLinked(file: string, landing: string): Promise<boolean> {
  const { dev, ino, nlink } = await stat(file);
  if (nlink === 1) return false;
  const there = (await listSegments(landing)).map((segment) => stat(pageFile(landing, segment)));
  return (await Promise.all(there)).some((other) => other.dev === dev && other.ino === ino);
}
