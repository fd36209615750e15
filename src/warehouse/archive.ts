import { chmod, rename, rm, stat } from 'node:fs/promises';
import type { DataFolder } from '../data-folder.ts';
import { describeSegment, verifySegment } from '../landing/reader.ts';
import { longestPageLine, pageFile, recordFile, syncDirectory, syncFile } from '../landing/segment-files.ts';
import { archivedPages, archivedRecords, listArchived } from './archive-files.ts';
import type { Database, SqlParams } from './database.ts';
import { removeStaged } from './load.ts';
import { withRoom } from './memory.ts';
import { readSql } from './sql-text.ts';

/**
 * Writes segments of the landing log that are not in the archive yet to it: `<n>.parquet` (the record lines) and
 * `<n>.pages.parquet` (the page lines), each line's exact text, durable when it resolves. `read_ndjson_objects` keeps
 * bytes; typed reading would reformat decimals. A page whose records are archived already is kept as a reference to them.
 */
export async function archiveSegments(
  database: Database,
  folder: DataFolder,
  segments: readonly number[],
): Promise<void> {
  await database.useThreads(segments.map((segment) => recordFile(folder.landing, segment)));
  const archived = await listArchived(folder.archive);
  await readKept(database, folder.archive, archived);
  for (const segment of segments)
    if (!archived.includes(segment)) await writeSegment(database, folder, segment);
}

/** Removes archived segments, which a snapshot holds, from the landing log and from staging. */
export async function removeLanded(folder: DataFolder, segments: readonly number[]): Promise<void> {
  for (const segment of segments) await removeSegment(folder, segment);
}

async function writeSegment(
  database: Database,
  { landing, archive }: DataFolder,
  segment: number,
): Promise<void> {
  await verifySegment(landing, segment, 'its rows stay, and the archive is without its records');
  const { longest } = await describeSegment(landing, segment);
  const records = recordFile(landing, segment);
  const pages = pageFile(landing, segment);
  const longest_page_line = await longestPageLine([pages]);
  await withRoom(database, () =>
    database.run(readSql('archive/pages.sql'), { pages, longest_page_line, segment }),
  );
  if ((await stat(records)).size > 0) {
    await writeArchive(database, archivedRecords(archive, segment), readSql('archive/records.sql'), {
      ...{ records, segment },
      longest_line: Math.max(4 << 20, longest * 2 + 65_536),
    });
    // Its records come first: a segment with page lines counts as archived.
    await syncDirectory(archive);
  }
  await writeArchive(
    database,
    archivedPages(archive, segment),
    'select * from page order by line_number',
    {},
  );
  await syncDirectory(archive);
  await database.run(
    `insert into kept select distinct on (content) ${keptColumns} from page where kept_segment = $segment`,
    { segment },
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

const keptColumns = 'content, kept_segment, kept_task, kept_crawl, kept_page';

/** Makes `kept`: by content, the archived page that has its records. */
async function readKept(database: Database, archive: string, archived: readonly number[]): Promise<void> {
  await database.run(
    `create or replace temp table kept (
      content varchar, kept_segment bigint, kept_task varchar, kept_crawl varchar, kept_page bigint
    )`,
  );
  if (archived.length === 0) return;
  await database.run(
    `insert into kept select distinct on (content) ${keptColumns}
    from read_parquet($files) where kept_segment is not null`,
    { files: archived.map((segment) => archivedPages(archive, segment)) },
  );
}

async function writeArchive(
  database: Database,
  file: string,
  query: string,
  params: SqlParams,
): Promise<void> {
  const temporary = `${file}.tmp`;
  await withRoom(database, () =>
    database.run(
      `copy (${query}) to $temporary (format parquet, compression zstd, compression_level 1, row_group_size 8192)`,
      { ...params, temporary },
    ),
  );
  await chmod(temporary, 0o600);
  await syncFile(temporary);
  await rename(temporary, file);
}
