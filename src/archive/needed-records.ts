import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { listFiles, type StagedSegment } from '../load/staged-segments.ts';
import { quoteName, quoteText, readSql } from '../sql-text.ts';
import { type Database, type DatabaseOptions, listColumns, openDatabase } from '../warehouse/database.ts';
import { retryWithMoreMemory } from '../warehouse/memory.ts';
import { listGroups } from '../warehouse/row-groups.ts';
import { readTableSpecs, type TableSpec } from '../warehouse/table-spec.ts';
import { archivedPages, listArchived } from './archive-files.ts';

/** The records that a reload reads: a Parquet file of (segment, text_segment, text_number). Other segments are read in full. */
export interface NeededRecords {
  file: string;
  segments: ReadonlySet<number>;
}

/**
 * Finds the texts that rows and kept versions were last confirmed by, in the archived segments of merge tables with known texts.
 * A night confirms most rows with the text of the night before, and a reload need read that text once, not once per night.
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
    await database.run(`attach ${quoteText(folder.build)} as build (read_only)`);
    await database.run(`
      create or replace temp table younger_text (task varchar, crawl varchar, text_segment bigint, text_number integer, slot bigint);
      create or replace temp table needed_record (segment bigint, text_segment bigint, text_number integer);`);
    for (const segment of archived.toReversed())
      await retryWithMoreMemory(database, async () => {
        await database.run(readSql('archive/restored-pages.sql'), {
          pages: archivedPages(folder.archive, segment),
        });
        await database.run(readSql('archive/restored-texts.sql'));
        await database.run(readSql('archive/needed-records.sql').replaceAll('$segment', String(segment)));
      });
    await database.run('copy (from needed_record order by segment) to $file (format parquet)', { file });
  } finally {
    database.close();
  }
  return { file, segments: new Set(archived) };
}

/**
 * Whether rows or versions depend on records that were left out: between two crawls of a task another crawl, or a forget, may
 * have ended a version, to which the next crawl's text does not apply.
 * @param staged the segments that were read; `landed` has their page lines (sql/publish/landed.sql)
 * @param thinned segments of which only needed records were read
 */
export async function lacksRecords(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
  thinned: ReadonlySet<number>,
): Promise<boolean> {
  const segments = [...thinned].map(String);
  for (const spec of readTableSpecs().filter(({ texts }) => texts)) {
    const files = listFiles(folder, spec, staged);
    if (files.length === 0) continue;
    const sql = await standingSql(database, spec);
    const [lacking] = await retryWithMoreMemory(database, () => database.rows(sql, { files, segments }));
    if (lacking !== undefined) return true;
  }
  return false;
}

/** SQL: one of the rows and versions that pages of $segments wrote and that the staging $files lack, if there is one. */
async function standingSql(database: Database, spec: TableSpec): Promise<string> {
  const keys = spec.key.map(quoteName).join(', ');
  const groups = listGroups(spec, await listColumns(database, spec.name));
  const relations = spec.history ? [spec.name, `past.${spec.name}`] : [spec.name];
  const standing = relations.flatMap((relation) =>
    groups.map(({ seenAt }) => `select ${keys}, ${quoteName(seenAt)} as seen_at from ${relation}`),
  );
  return `
    select 1
    from (${standing.join(' union all ')})
    semi join (
      select received_at as seen_at from landed
      where kind = 'page' and records > 0 and segment::varchar in (select unnest($segments::varchar[]))
    ) using (seen_at)
    anti join (select ${keys}, seen_at from read_parquet($files)) using (${keys}, seen_at)
    limit 1`;
}
