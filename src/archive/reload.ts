import type { DataFolder } from '../data-folder.ts';
import { reloadInFull } from '../load/load.ts';
import { listFiles, type StagedSegment } from '../load/staged-segments.ts';
import { amendRows } from '../publish/amend-rows.ts';
import { appendRows } from '../publish/append-rows.ts';
import { makeCrawlTables, makeRequestedIds } from '../publish/crawl-tables.ts';
import { auditRows, takeRefused } from '../publish/guards.ts';
import { mergeTable } from '../publish/merge-table.ts';
import { insertCastErrors, type PublishOptions, publish } from '../publish/publish.ts';
import { addCounts, addPublished, nothingPublished, type Published } from '../publish/published.ts';
import { readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { readTableSpecs } from '../warehouse/table-spec.ts';
import { lacksRecords } from './needed-records.ts';

/** The counts of a reload. */
export interface Reloaded extends Published {
  /** By table: how many groups of rows were updated in place. */
  amended: Record<string, number>;
}

/**
 * Applies published segments again, typed by a changed mapping. Rows whose answer is among them get its values in place, without a
 * new version. Records that did not load before are merged like any others, and crawls that an audit refused are audited
 * again. Killed at any point and run again, it changes nothing twice.
 * @param folder landing and staging hold whole crawls: those to reload, and nothing else
 * @param thinned segments of which they hold only the records that rows and versions seem to stand by
 * @returns null where others of them are needed, too: nothing was changed, and they are to be read in full
 */
export async function reload(
  database: Database,
  folder: DataFolder,
  options: PublishOptions,
  thinned: ReadonlySet<number> = new Set(),
): Promise<Reloaded | null> {
  const staged = await makeCrawlTables(database, folder, options);
  if (thinned.size > 0 && (await lacksRecords(database, folder, staged, thinned))) return null;
  // Beside those that an audit refused: what one refused before a later crawl was refused, too.
  await database.run(readSql('reload/retry.sql'));
  const [unpublished] = await database.rows(
    `from crawl_state where state in ('ready', 'refused', 'held', 'replaced') limit 1`,
  );
  await database.run(readSql('reload/ready.sql'));
  await makeRequestedIds(database, folder);
  await auditRows(database, folder, staged);
  await database.run(takeRefused);
  const refused = await database.rows<Reloaded['refused'][number]>(readSql('reload/refused.sql'));
  const result: Reloaded = { ...nothingPublished(), refused, amended: {} };
  for (const spec of readTableSpecs()) {
    const files = listFiles(folder, spec, staged);
    if (files.length === 0) continue;
    result.amended[spec.name] = await amendRows(database, spec, files);
    const counts =
      spec.publish === 'merge'
        ? await mergeTable(database, spec, files, (untold) => reloadInFull(folder, untold))
        : await appendRows(database, spec, files);
    addCounts(result, spec.name, counts);
  }
  await database.run(
    `create or replace temp table thinned as
    select distinct task, crawl from landed where segment::varchar in (select unnest($segments::varchar[]))`,
    { segments: [...thinned].map(String) },
  );
  await database.transaction(() => replaceCastErrors(database, folder, staged));
  await database.run('checkpoint');
  if (unpublished !== undefined) addPublished(result, await publish(database, folder, options));
  return result;
}

/** Quarantine entries and their counts, of crawls that no later one has replaced. */
async function replaceCastErrors(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
): Promise<void> {
  await database.run(readSql('reload/cast-errors.sql'));
  await insertCastErrors(database, folder, staged);
}
