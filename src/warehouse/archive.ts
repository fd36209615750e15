import { chmod, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { describeSegment } from '../landing/reader.ts';
import { pageFile, recordFile, syncDirectory, syncFile } from '../landing/segment-files.ts';
import type { Database, SqlParams } from './database.ts';
import { readSql } from './sql-text.ts';

/**
 * Moves a settled segment, which a snapshot holds, from the landing log to the archive: `<n>.parquet` (the record
 * lines) and `<n>.pages.parquet` (the page lines), each line's exact text. `read_ndjson_objects` keeps bytes; typed
 * reading would reformat decimals. A page whose records are archived already is kept as a reference to them.
 * The log's files go only after both are durable, so a kill in between archives again.
 */
export async function archiveSegment(database: Database, folder: DataFolder, segment: number): Promise<void> {
  const { landing, archive } = folder;
  const { longest } = await describeSegment(landing, segment);
  const records = recordFile(landing, segment);
  await readKept(database, archive, segment);
  await database.run(readSql('archive/pages.sql'), { pages: pageFile(landing, segment), segment });
  if ((await stat(records)).size > 0) {
    await writeArchive(database, join(archive, `${segment}.parquet`), readSql('archive/records.sql'), {
      ...{ records, segment },
      longest_line: Math.max(4 << 20, longest * 2 + 65_536),
    });
  }
  await writeArchive(
    database,
    join(archive, `${segment}.pages.parquet`),
    'select * exclude (task, crawl, page) from page',
    {},
  );
  await syncDirectory(archive);
  await removeStaged(folder, segment);
  // Without its page file a segment is none: what a kill leaves of it now is cleaned up by the next run.
  await rm(pageFile(landing, segment), { force: true });
  await rm(records, { force: true });
  await syncDirectory(landing);
}

/** A folder goes file by file: renamed first, a kill in between leaves none that looks staged. */
async function removeStaged(folder: DataFolder, segment: number): Promise<void> {
  const staged = join(folder.staging, String(segment));
  await rm(`${staged}.tmp`, { recursive: true, force: true });
  await rename(staged, `${staged}.tmp`).catch((error: NodeJS.ErrnoException) => {
    // A segment without records was never staged.
    if (error.code !== 'ENOENT') throw error;
  });
  await rm(`${staged}.tmp`, { recursive: true, force: true });
}

/** Makes `kept`: by content, the first archived page that has its records, in segments other than this one. */
async function readKept(database: Database, archive: string, segment: number): Promise<void> {
  const files = (await readdir(archive))
    .filter((name) => name.endsWith('.pages.parquet') && name !== `${segment}.pages.parquet`)
    .map((name) => join(archive, name));
  const columns = 'content, kept_segment, kept_task, kept_crawl, kept_page';
  await database.run(
    files.length === 0
      ? `create or replace temp table kept as
        select null::varchar as content, null::bigint as kept_segment, null::varchar as kept_task,
          null::varchar as kept_crawl, null::bigint as kept_page
        where false`
      : `create or replace temp table kept as select distinct on (content) ${columns}
        from read_parquet($files) where kept_segment is not null`,
    files.length === 0 ? {} : { files },
  );
}

async function writeArchive(
  database: Database,
  file: string,
  query: string,
  params: SqlParams,
): Promise<void> {
  const temporary = `${file}.tmp`;
  await database.run(
    `copy (${query}) to $temporary (format parquet, compression zstd, compression_level 1, row_group_size 8192)`,
    { ...params, temporary },
  );
  await chmod(temporary, 0o600);
  await syncFile(temporary);
  await rename(temporary, file);
}
