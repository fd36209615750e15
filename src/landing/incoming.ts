import { link, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LandingRecord } from './landing-record.ts';
import type { NewPage } from './render-page.ts';
import { listSegments, pageFile, recordFile, syncDirectory, writeSynced } from './segment-files.ts';
import { createLandingLog } from './writer.ts';

/**
 * Stores a page that was received outside a run (`ledgerlake webhook`). A running process owns the landing log, so the page
 * becomes a sealed segment in a folder of its own, whole or not at all, until the next session moves it into the log.
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
  // The draft's suffix makes the name unique, because two processes may have taken the same number.
  await rename(draft, join(incoming, `${segment}${draft.slice(-7)}`));
  await syncDirectory(incoming);
}

export interface IncomingOptions {
  incoming: string;
  landing: string;
  /** Whether the number is, or was, used by a segment outside the landing log. */
  isTaken(segment: number): Promise<boolean>;
  /** Whether a page may be moved into the log; otherwise it is left. */
  mayComeFrom(origins: Readonly<Record<string, string>>, folder: string): Promise<boolean>;
}

/**
 * Moves the pages in `incoming` into the landing log, oldest first. The caller holds the run lock. Files are linked before the
 * originals are removed, so a kill at any point leaves the page in one folder or in both, and the next session continues.
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
  // Numbers are times, so no later segment takes a lower one.
  while (there.has(number) || (await options.isTaken(number))) number -= 1;
  // It may be half of an earlier attempt, or of a segment that a kill left without its page file.
  await rm(recordFile(landing, number), { force: true });
  await link(recordFile(folder, segment), recordFile(landing, number));
  await syncDirectory(landing);
  await link(pageFile(folder, segment), pageFile(landing, number));
  await syncDirectory(landing);
}

/** Whether the file is already linked in the log, by a session that was killed before it removed the folder. */
async function isLinked(file: string, landing: string): Promise<boolean> {
  const { dev, ino, nlink } = await stat(file);
  if (nlink === 1) return false;
  const there = (await listSegments(landing)).map((segment) => stat(pageFile(landing, segment)));
  return (await Promise.all(there)).some((other) => other.dev === dev && other.ino === ino);
}
