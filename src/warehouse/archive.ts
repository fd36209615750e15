import { chmod, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { describeSegment } from '../landing/reader.ts';
import { pageFile, recordFile, syncDirectory, syncFile } from '../landing/segment-files.ts';
import type { Database } from './database.ts';

/**
 * Moves a settled segment, which a snapshot holds, from the landing log to the archive: `<n>.parquet` and
 * `<n>.pages.parquet`, each line's exact text. `read_ndjson_objects` keeps bytes; typed reading would reformat
 * decimals. The log's files go only after both are durable, so a kill in between archives again.
 */
export async function archiveSegment(database: Database, folder: DataFolder, segment: number): Promise<void> {
  const { longest } = await describeSegment(folder.landing, segment);
  const longestLine = Math.max(4 << 20, longest * 2 + 65_536);
  const { landing, archive } = folder;
  await archiveLines(
    database,
    recordFile(landing, segment),
    join(archive, `${segment}.parquet`),
    longestLine,
  );
  await archiveLines(
    database,
    pageFile(landing, segment),
    join(archive, `${segment}.pages.parquet`),
    longestLine,
  );
  await syncDirectory(folder.archive);
  await rm(join(folder.staging, String(segment)), { recursive: true, force: true });
  // Without its page file a segment is none: what a kill leaves of it now is cleaned up by the next run.
  await rm(pageFile(folder.landing, segment), { force: true });
  await rm(recordFile(folder.landing, segment), { force: true });
  await syncDirectory(folder.landing);
}

async function archiveLines(
  database: Database,
  from: string,
  to: string,
  longestLine: number,
): Promise<void> {
  if ((await stat(from)).size === 0) return;
  const temporary = `${to}.tmp`;
  await database.run(
    `copy (select json as line from read_ndjson_objects($from, maximum_object_size = $longest_line))
    to $temporary (format parquet, compression zstd, compression_level 1, row_group_size 8192)`,
    { from, temporary, longest_line: longestLine },
  );
  await chmod(temporary, 0o600);
  await syncFile(temporary);
  await rename(temporary, to);
}
