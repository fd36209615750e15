import { chmod, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { DiskError } from '../errors.ts';
import { pickRecords } from '../landing/pick-records.ts';
import { describeSegment, listPages, verifyPageLines, verifySegment } from '../landing/reader.ts';
import { pageFile, recordFile, syncDirectory, syncFile } from '../landing/segment-files.ts';
import { removeStaged } from '../load/staged-segments.ts';
import { readSql } from '../sql-text.ts';
import type { Database, SqlParams } from '../warehouse/database.ts';
import { retryWithMoreMemory } from '../warehouse/memory.ts';
import { noteChecksum } from './archive-checksums.ts';
import { archivedPages, archivedRecords, isArchiveDamage, listArchived, listTexts } from './archive-files.ts';

/** Segments of a batch have at most so many records, whose digests are looked up together: 30 MB of them. */
const maxBatchRecords = 1_000_000;

/**
 * Writes segments to the archive that are not in it yet: `<n>.parquet` (the record lines whose text it does not have) and
 * `<n>.pages.parquet` (the page lines), each line's exact text; durable when it resolves. `read_ndjson_objects` keeps bytes;
 * typed reading would reformat decimals. Records are identified by their digests, so that a text is stored once, whatever
 * page it came in.
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
    const batch = await nextBatch(folder, waiting);
    await makeKnownDigests(database, folder, batch, waiting);
    for (const segment of batch) await writeSegment(database, folder, segment);
    waiting = waiting.slice(batch.length);
  }
}

/** The first segments up to `maxBatchRecords` records, at least one. */
async function nextBatch({ landing }: DataFolder, segments: readonly number[]): Promise<number[]> {
  const batch: number[] = [];
  let records = 0;
  for (const segment of segments) {
    records += (await describeSegment(landing, segment)).count;
    if (batch.length > 0 && records > maxBatchRecords) break;
    batch.push(segment);
  }
  return batch;
}

/**
 * Makes `known_digest`: digests of these segments' records whose texts the archive has.
 * @param waiting segments that are not archived yet: their files, left by a kill, do not count
 */
async function makeKnownDigests(
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
  try {
    await retryWithMoreMemory(database, () =>
      database.run(readSql('archive/known-digests.sql'), { pages, files: texts }),
    );
  } catch (error) {
    if (error instanceof DiskError || !isArchiveDamage(error)) throw error;
    throw new DiskError(
      `the archive cannot be read: ${(error as Error).message}`,
      `Restore ${archive} from a backup, or set the damaged file aside with \`ledgerlake doctor --repair\`: rows that were published stay. What was received now waits in the landing log.`,
      { cause: error },
    );
  }
}

async function writeSegment(database: Database, folder: DataFolder, segment: number): Promise<void> {
  const { landing, archive } = folder;
  // Only the records that are archived are verified (`fileWithNewRecords`), not all.
  await verifyPageLines(landing, segment);
  const { longest } = await describeSegment(landing, segment);
  const pages = pageFile(landing, segment);
  await retryWithMoreMemory(database, async () => {
    await database.run(readSql('archive/pages.sql'), { pages });
    await database.run(readSql('archive/new-texts.sql'), { segment });
  });
  // A file left by a kill may have other records than those that are new now.
  await rm(archivedRecords(archive, segment), { force: true });
  const records = await fileWithNewRecords(database, folder, segment);
  if (records !== null) {
    await writeArchive(database, archivedRecords(archive, segment), readSql('archive/records.sql'), {
      records,
      longest_line: Math.max(4 << 20, longest * 2 + 65_536),
    });
    if (records !== recordFile(landing, segment)) await rm(records);
    // Records before page lines, because a segment with page lines counts as archived.
    await syncDirectory(archive);
  }
  await writeArchive(database, archivedPages(archive, segment), readSql('archive/archived-pages.sql'), {});
  await syncDirectory(archive);
  await database.run('insert into known_digest select digest, text_segment, text_number from new_text');
}

/** Up to this share of new records they are copied out first; above it, DuckDB reads the whole record file. */
const copyOutShare = 0.5;

/**
 * A file with the verified records of `new_text`: the segment's own, or a temporary one, which the caller removes.
 * @returns null if there are no new records
 */
async function fileWithNewRecords(
  database: Database,
  folder: DataFolder,
  segment: number,
): Promise<string | null> {
  const [row] = await database.rows<{ n: number }>('select count(*)::double as n from new_text');
  const count = row?.n ?? 0;
  const { count: total } = await describeSegment(folder.landing, segment);
  if (count === 0) return null;
  if (count > total * copyOutShare) {
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

/** Writes the result of a query to a file of the archive, which gets its name when it is complete. The caller syncs the folder. */
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

/** Removes archived segments that a snapshot holds from the landing log and from staging. */
export async function removeLanded(folder: DataFolder, segments: readonly number[]): Promise<void> {
  const { landing, staging } = folder;
  for (const segment of segments) {
    await removeStaged(folder, segment);
    // Sync: otherwise a power loss could bring staged rows back without their segment.
    await syncDirectory(staging);
    // A segment without a page file does not exist: the next run removes what a kill leaves of it here.
    await rm(pageFile(landing, segment), { force: true });
    await rm(recordFile(landing, segment), { force: true });
    await syncDirectory(landing);
  }
}
