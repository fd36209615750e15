import type { DataFolder } from '../data-folder.ts';
import { recordRefusals } from '../landing/landing-record.ts';
import { listFiles, type StagedSegment } from '../load/staged-segments.ts';
import { readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { readTableSpecs } from '../warehouse/table-spec.ts';

/** Makes `cast_error_column` and `cast_error_count`: what did not fit of the records of the ready crawls (sql/publish/cast-errors.sql). */
export async function countCastErrors(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
): Promise<void> {
  await database.run(`create or replace temp table cast_error (
    task varchar, crawl varchar, page bigint, n bigint, table_name varchar, column_name varchar, steady boolean, whole boolean,
    reason varchar, raw varchar)`);
  for (const spec of readTableSpecs()) {
    const files = listFiles(folder, spec, staged);
    if (files.length === 0) continue;
    await database.run(
      `insert into cast_error
      select task, crawl, page, n, $table,
        coalesce(found.column_name, if(is_refused, null, $key)),
        coalesce(list_contains($steady::varchar[], found.column_name), not is_refused),
        found.column_name is null, found.reason, found.raw
      from (
        select task, crawl, page, n, found, list_contains($refusals::varchar[], found.reason) as is_refused
        from (
          select task, crawl, page, n, unnest(cast_errors) as found
          from read_parquet($files)
          semi join ready using (task, crawl)
          where len(cast_errors) > 0
        )
      )`,
      { files, table: spec.name, key: spec.key[0]!, steady: spec.steadyMembers, refusals: recordRefusals },
    );
  }
  await database.run(readSql('publish/cast-errors.sql'));
}
