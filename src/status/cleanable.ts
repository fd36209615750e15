import { stat } from 'node:fs/promises';
import { archivedPages, archivedRecords, listArchived, listRecordFiles } from '../archive/archive-files.ts';
import { type ArchiveStart, readArchiveStart } from '../archive/archive-start.ts';
import { readRemoved } from '../archive/retention.ts';
import { listSegments } from '../landing/segment-files.ts';
import { listSegmentsOf } from '../publish/crawl-tables.ts';
import {
  countOldCheckpoints,
  type Expired,
  findExpired,
  type Leftover,
  listLeftovers,
  sizeLines,
} from '../run/retention-stage.ts';
import type { Session } from '../run/session.ts';

/** What may be removed from a data folder. */
export interface Cleanable {
  archive: { segments: number; bytes: number };
  checkpoints: number;
  logs: { runs: number; bytes: number };
  leftovers: Leftover[];
  /** Bytes of files; checkpoints are rows. */
  bytes: number;
  kept: Kept;
}

/** The raw records that stay, and why. */
export interface Kept {
  /** Segments younger than `keepRawDays`; `older`: those that belong to the same crawls, runs or pages. */
  archive: { segments: number; older: number; bytes: number; keepRawDays: number };
  /** Record files of older nights, some of whose texts younger pages have again. */
  oldTexts: { files: number; bytes: number };
  /** Segments of the landing log: `waiting` hold an open crawl, or one that a guard holds back. */
  landing: { segments: number; waiting: number };
  /** Where `rebuild --from-archive` would start; null: with the first record ever received. */
  rebuildsFrom: ArchiveStart | null;
}

/** Finds what retention would remove, and the leftovers of kills and damage. Removes nothing. */
export async function findCleanable(session: Session): Promise<Cleanable> {
  const { folder } = session;
  const { settled, checkpoints } = await session.withBuild(async (build) => ({
    settled: await listSegmentsOf(build, 'settled'),
    checkpoints: await countOldCheckpoints(build, session),
  }));
  const expired = await findExpired(session, settled);
  const leftovers = await listLeftovers(folder, Date.now());
  const logBytes =
    (await sizeLines(folder.requests, expired.requestRuns)) + (await sizeLines(folder.runs, expired.runs));
  const leftoverBytes = leftovers.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    archive: { segments: expired.archive.segments.length, bytes: expired.archiveBytes },
    checkpoints,
    logs: { runs: expired.runs.size, bytes: logBytes },
    leftovers,
    bytes: expired.archiveBytes + logBytes + leftoverBytes,
    kept: await describeKept(session, expired, settled),
  };
}

async function describeKept(
  { folder, config, databaseOptions, now }: Session,
  { archive }: Expired,
  settled: ReadonlySet<number>,
): Promise<Kept> {
  const { keepRawDays } = config.warehouse;
  const kept = (await listArchived(folder.archive)).filter((segment) => !archive.segments.includes(segment));
  const removed = new Set(archive.sweep?.remove.map(({ segment }) => segment));
  const oldRecords = (await listRecordFiles(folder.archive)).filter(
    (segment) => !kept.includes(segment) && !removed.has(segment),
  );
  const landed = await listSegments(folder.landing);
  const pages = kept.map((segment) => archivedPages(folder.archive, segment));
  const records = kept.map((segment) => archivedRecords(folder.archive, segment));
  const from = now() - keepRawDays * 86_400_000;
  return {
    archive: {
      segments: kept.length,
      older: kept.filter((segment) => segment < from).length,
      bytes: (await sizeOf(pages)) + (await sizeOf(records)),
      keepRawDays,
    },
    oldTexts: {
      files: oldRecords.length,
      bytes: await sizeOf(oldRecords.map((segment) => archivedRecords(folder.archive, segment))),
    },
    landing: {
      segments: landed.length,
      waiting: landed.filter((segment) => !settled.has(segment)).length,
    },
    rebuildsFrom:
      archive.segments.length === 0 && (await readRemoved(folder.archive)) === null
        ? null
        : await readArchiveStart(folder, databaseOptions, kept),
  };
}

async function sizeOf(files: readonly string[]): Promise<number> {
  // A segment whose texts are all in other segments has no record file.
  const sizes = files.map((file) =>
    stat(file).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
