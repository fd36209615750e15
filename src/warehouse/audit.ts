import type { DataFolder } from '../data-folder.ts';
import { findVanished } from './absence.ts';
import type { Database } from './database.ts';
import type { PublishOptions } from './publish.ts';
import { listSql, readSql } from './sql-text.ts';
import { listFiles, type StagedSegment } from './staged-segments.ts';
import { readTableSpecs } from './table-spec.ts';

/**
 * Write, audit, publish: looks at the ready crawls' staged rows before they touch a table. Takes the crawls that
 * fail out of `ready` and notes them in `refused`.
 * @param limits `quarantineLimit`: share of a crawl's records, but at least 50 records, that may be quarantined
 */
export async function auditReadyCrawls(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
  { quarantineLimit, accept }: Pick<PublishOptions, 'quarantineLimit' | 'accept'>,
): Promise<{ job: string; target: string; reason: string }[]> {
  await auditRows(database, folder, staged, quarantineLimit);
  await findVanished(database, folder, staged, accept.vanished);
  await database.script(takeRefused);
  return database.rows(`
    select job, target, min(refusal) as reason
    from refused join crawl using (task, crawl) group by job, target order by job, target`);
}

/** Crawls that are refused are not ready. */
export const takeRefused = `
  update crawl set state = 'refused' from refused where refused.task = crawl.task and refused.crawl = crawl.crawl;
  delete from ready where exists (from refused where refused.task = ready.task and refused.crawl = ready.crawl);`;

/** Makes `refused`, of the crawls in `ready` whose rows fail an audit, and `misfit_count`. */
export async function auditRows(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
  quarantineLimit: number,
): Promise<void> {
  await database.script(`
    create or replace temp table refused (task varchar, crawl varchar, refusal varchar);
    create or replace temp table misfit_count (
      task varchar, crawl varchar, quarantined bigint, problem varchar
    );`);
  const specs = readTableSpecs();
  const files = specs.flatMap((spec) => listFiles(folder, spec, staged));
  if (files.length > 0) await database.run(readSql('publish/misfits.sql'), { files });
  await database.run(
    `insert into refused
    select
      task,
      crawl,
      'audit: ' || quarantined || ' of ' || records || ' records were quarantined, mostly because: ' || problem
    from ready join misfit_count using (task, crawl)
    where quarantined > greatest(50, $limit::double * records)`,
    { limit: quarantineLimit },
  );
  for (const name of listSql('audits')) {
    const text = readSql(`audits/${name}.sql`);
    const table = /^-- table: (\w+)$/m.exec(text)?.[1];
    const own = specs
      .filter((spec) => spec.name === table)
      .flatMap((spec) => listFiles(folder, spec, staged));
    if (own.length === 0) continue;
    await database.run(
      `insert into refused
      select task, crawl,
        'audit ${name}: ' || count(*) || ' records, for example ' || coalesce(any_value(problem), 'one without a usable key')
      from (${text})
      group by task, crawl`,
      { files: own },
    );
  }
}
