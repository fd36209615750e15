import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { archivedPages, listArchived } from './archive-files.ts';
import { type DatabaseOptions, openDatabase } from './database.ts';
import { withRoom } from './memory.ts';
import { quoteText, readSql } from './sql-text.ts';

/** File of the records that a reload reads: (segment, digest). Segments that it does not know are read in full. */
export interface NeededRecords {
  file: string;
  segments: ReadonlySet<number>;
}

/**
 * Finds the texts by which rows and kept versions stand, in the archived segments of merge tables that know texts. A night
 * confirms most rows with the text of the night before: that text need be read once, not once a night.
 * @param segments published segments of such tables
 */
export async function findNeededRecords(
  folder: DataFolder,
  options: Omit<DatabaseOptions, 'readOnly'>,
  segments: ReadonlySet<number>,
): Promise<NeededRecords> {
  const archived = (await listArchived(folder.archive)).filter((segment) => segments.has(segment));
  const file = join(folder.temp, 'needed-records.parquet');
  await rm(file, { force: true });
  const database = await openDatabase(':memory:', options);
  try {
    await database.script(readSql('digests.sql'));
    await database.run(`attach ${quoteText(folder.build)} as build (read_only)`);
    await database.script(`
      create or replace temp table following (task varchar, crawl varchar, digest uuid, slot bigint);
      create or replace temp table needed (segment bigint, digest uuid);`);
    for (const segment of archived.toReversed())
      await withRoom(database, async () => {
        await database.run(readSql('archive/restored-pages.sql'), {
          pages: archivedPages(folder.archive, segment),
        });
        await database.run(readSql('archive/restored-digests.sql'));
        await database.script(readSql('archive/needed-records.sql').replaceAll('$segment', String(segment)));
      });
    await database.run('copy (from needed order by segment) to $file (format parquet)', { file });
  } finally {
    database.close();
  }
  return { file, segments: new Set(archived) };
}
