import type { DataFolder } from '../data-folder.ts';
import { listFiles, type StagedSegment } from '../load/staged-segments.ts';
import { listSql, readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { readTableSpecs } from '../warehouse/table-spec.ts';
import type { Accepted } from './accepted.ts';
import { applyGuard } from './apply-guard.ts';

/**
 * Write, audit, publish: makes `cast_error_count`, and `refused` of the crawls in `ready` whose rows fail an audit, or too many
 * of whose records were quarantined.
 */
export async function auditRows(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
  accept: Accepted,
): Promise<void> {
  await database.run(`
    create or replace temp table refused (
      task varchar, crawl varchar, guard varchar, whole_job boolean, table_name varchar, column_name varchar, rows bigint,
      total bigint, examples varchar[], accept varchar, reason varchar
    );
    create or replace temp table cast_error_count (
      task varchar, crawl varchar, quarantined bigint, problem varchar, examples varchar[]
    );`);
  const specs = readTableSpecs();
  const files = specs.flatMap((spec) => listFiles(folder, spec, staged));
  if (files.length > 0) await database.run(readSql('publish/cast-errors.sql'), { files });
  for (const name of ['quarantined-target', 'quarantined-job']) await applyGuard(database, name, accept);
  for (const name of listSql('audits')) {
    const text = readSql(`audits/${name}.sql`);
    const table = /^-- table: (\w+)$/m.exec(text)?.[1];
    const own = specs
      .filter((spec) => spec.name === table)
      .flatMap((spec) => listFiles(folder, spec, staged));
    if (own.length === 0) continue;
    await database.run(
      `insert into refused by name
      select task, crawl,
        'audit ${name}: ' || count(*) || ' records, for example ' || coalesce(any_value(problem), 'one without a usable key') as reason
      from (${text})
      group by task, crawl`,
      { files: own },
    );
  }
}
