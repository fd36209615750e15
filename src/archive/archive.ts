import { chmod, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { DiskError } from '../errors.ts';
import { pickRecords } from '../landing/pick-records.ts';
import { describeSegment, listPages, verifyPageLines, verifySegment } from '../landing/reader.ts';
import { longestPageLine, pageFile, recordFile, syncDirectory, syncFile } from '../landing/segment-files.ts';
import { removeStaged } from '../load/staged-segments.ts';
import { readSql } from '../sql-text.ts';
import type { Database, SqlParams } from '../warehouse/database.ts';
import { retryWithMoreMemory } from '../warehouse/memory.ts';
import { noteChecksum } from './archive-checksums.ts';
import { archivedPages, archivedRecords, isOfArchive, listArchived, listTexts } from './archive-files.ts';

/** Records of segments whose digests are looked for in the archive at once: 30 MB of them. */
const recordsAtOnce = 1_000_000;

/**
 * Writes segments of the landing log that are not in the archive yet to it: `<n>.parquet` (the record lines whose text it
 * does not have) and `<n>.pages.parquet` (the page lines), each line's exact text, durable when it resolves.
 * `read_ndjson_objects` keeps bytes; typed reading would reformat decimals. A record is told by its digest, so that a
 * text is kept once, whatever page it came in.
 */
export async function archiveSegments(
  database: Database,
  folder: DataFolder,
  segments: readonly number[],
): Promise<void> {
  await database.useThreads(segments.map((segment) => recordFile(folder.landing, segment)));
  await database.run(readSql('digests.sql'));
  const archived = await listArchived(folder.archive);
  let waiting = segments.filter((segment) => !archived.includes(segment));
  while (waiting.length > 0) {
    const together = await takeTogether(folder, waiting);
    await readKnown(database, folder, together, waiting);
    for (const segment of together) await writeSegment(database, folder, segment);
    waiting = waiting.slice(together.length);
  }
}

/** As many of the first segments as have `recordsAtOnce` records; one at least. */
async function takeTogether({ landing }: DataFolder, segments: readonly number[]): Promise<number[]> {
  const together: number[] = [];
  let records = 0;
  for (const segment of segments) {
    records += (await describeSegment(landing, segment)).count;
    if (together.length > 0 && records > recordsAtOnce) break;
    together.push(segment);
  }
  return together;
}

/**
 * Makes `known_digest`: the digests of these segments whose texts the archive has.
 * @param waiting segments that are not archived yet: of one, a kill may have left a file that is written again
 */
async function readKnown(
  database: Database,
  { landing, archive }: DataFolder,
  segments: readonly number[],
  waiting: readonly number[],
): Promise<void> {
  await database.run(
    'create or replace temp table known_digest (digest uuid, text_segment bigint, text_number integer)',
  );
  const texts = await listTexts(archive, waiting);
  if (texts.length === 0) return;
  const pages = segments.map((segment) => pageFile(landing, segment));
  const longest_page_line = await longestPageLine(pages);
  try {
    await retryWithMoreMemory(database, () =>
      database.run(readSql('archive/known-digests.sql'), { pages, longest_page_line, files: texts }),
    );
  } catch (error) {
    if (error instanceof DiskError || !isOfArchive(error)) throw error;
    throw new DiskError(
      `the archive cannot be read: ${(error as Error).message}`,
      `Restore ${archive} from a backup, or set the damaged file aside with \`ledgerlake doctor --repair\`: rows that were published stay. What was received now waits in the landing log.`,
      { cause: error },
    );
  }
}

/** Removes archived segments, which a snapshot holds, from the landing log and from staging. */
export async function removeLanded(folder: DataFolder, segments: readonly number[]): Promise<void> {
  for (const segment of segments) await removeSegment(folder, segment);
}

/** Up to this share of new records, only they are read by DuckDB. */
const pickedShare = 0.5;

/**
 * The file with the records of `new_text`: the segment's own, or one in the folder of temporary files.
 * @returns null when there is none
 */
async function fileOfNew(database: Database, folder: DataFolder, segment: number): Promise<string | null> {
  const [row] = await database.rows<{ n: number }>('select count(*)::double as n from new_text');
  const count = row?.n ?? 0;
  const { count: all } = await describeSegment(folder.landing, segment);
  if (count === 0) return null;
  if (count > all * pickedShare) {
    await verifySegment(folder.landing, segment);
    return recordFile(folder.landing, segment);
  }
  const rows = await database.rows<{ task: string; crawl: string; page: bigint; numbers: readonly number[] }>(
    'select task, crawl, page, list(n::integer order by n) as numbers from new_text group by all',
  );
  const numbersOf = new Map(
    rows.map(({ task, crawl, page, numbers }) => [JSON.stringify([task, crawl, Number(page)]), numbers]),
  );
  const wanted = new Map<number, readonly number[]>();
  for (const { task, crawl, page, end_offset } of await listPages(folder.landing, segment)) {
    const numbers = numbersOf.get(JSON.stringify([task, crawl, page]));
    if (numbers !== undefined) wanted.set(end_offset, numbers);
  }
  const picked = join(folder.temp, `${segment}.ndjson`);
  await rm(picked, { force: true });
  await pickRecords(folder.landing, segment, wanted, picked);
  return picked;
}

async function writeSegment(database: Database, folder: DataFolder, segment: number): Promise<void> {
  const { landing, archive } = folder;
  // Of the records only what is archived has to be as it was received.
  await verifyPageLines(landing, segment);
  const { longest } = await describeSegment(landing, segment);
  const pages = pageFile(landing, segment);
  const longest_page_line = await longestPageLine([pages]);
  await retryWithMoreMemory(database, async () => {
    await database.run(readSql('archive/pages.sql'), { pages, longest_page_line, segment });
    await database.run(readSql('archive/new-texts.sql'), { segment });
  });
  // What a kill left of it may have other records than are new now.
  await rm(archivedRecords(archive, segment), { force: true });
  const records = await fileOfNew(database, folder, segment);
  if (records !== null) {
    await writeArchive(database, archivedRecords(archive, segment), readSql('archive/records.sql'), {
      records,
      longest_line: Math.max(4 << 20, longest * 2 + 65_536),
    });
    if (records !== recordFile(landing, segment)) await rm(records);
    // Its records come first: a segment with page lines counts as archived.
    await syncDirectory(archive);
  }
  await writeArchive(database, archivedPages(archive, segment), readSql('archive/archived-pages.sql'), {});
  await syncDirectory(archive);
  await database.run(
    'insert into known_digest select digest, text_segment, text_number from new_text where digest is not null',
  );
}

async function removeSegment(folder: DataFolder, segment: number): Promise<void> {
  const { landing, staging } = folder;
  await removeStaged(folder, segment);
  // Staged rows that come back after a power loss have a segment to be archived with; without one they would stay.
  await syncDirectory(staging);
  // Without its page file a segment is none: what a kill leaves of it now is cleaned up by the next run.
  await rm(pageFile(landing, segment), { force: true });
  await rm(recordFile(landing, segment), { force: true });
  await syncDirectory(landing);
}

/** Writes what a query gives to a file of the archive, under its name when it is whole. The folder is to be synced. */
export async function writeArchive(
  database: Database,
  file: string,
  query: string,
  params: SqlParams,
): Promise<void> {
  const temporary = `${file}.tmp`;
  await retryWithMoreMemory(database, () =>
    database.run(
      `copy (${query}) to $temporary (format parquet, compression zstd, compression_level 1, row_group_size 8192, parquet_version v2)`,
      { ...params, temporary },
    ),
  );
  await chmod(temporary, 0o600);
  await syncFile(temporary);
  await noteChecksum(file, temporary);
  await rename(temporary, file);
}
