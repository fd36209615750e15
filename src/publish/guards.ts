import type { DataFolder } from '../data-folder.ts';
import { listFiles, type StagedSegment } from '../load/staged-segments.ts';
import { listSql, readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { readTableSpecs } from '../warehouse/table-spec.ts';
import { findVanished } from './absence.ts';
import { countCastErrors } from './cast-errors.ts';
import { countChanges } from './guard-counts.ts';
import type { GuardName, Refusal } from './published.ts';
import { countUnknown } from './settle-absent.ts';

/**
 * Checks the ready crawls before they change a table: audits their staged rows (sql/audits/), and compares each job's crawls
 * with the stored rows of the same keys and targets (sql/guards/). Moves refused crawls from `ready` to `refused`.
 * @param staged segments of the ready crawls
 */
export async function refuseCrawls(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
): Promise<Refusal[]> {
  await auditRows(database, folder, staged);
  await findVanished(database, folder, staged);
  await countUnknown(database, folder, staged);
  await countChanges(database, folder, staged);
  for (const name of [
    'vanished-target',
    'vanished-job',
    'vanished-look-ups',
    'burnt',
    'blank',
    'required',
    'collapse',
    'stale',
    'stale-feed',
  ])
    await applyGuard(database, name);
  // Over all jobs of the run: many jobs of one target each may lose as much as one job of many targets. Counted and held are jobs that
  // are mostly wrong themselves.
  for (const name of ['vanished-job', 'blank', 'required', 'stale']) await applyGuard(database, name, 'run');
  await database.run(readSql('publish/refusal-ids.sql'));
  await database.run(takeRefused);
  return listRefusals(database);
}

/** Sets the state of refused crawls, and removes them from `ready`. Those that somebody may accept are held. */
export const takeRefused = `
  update crawl_state set state = r.state
  from (
    select task, crawl, if(bool_or(guard is null), 'refused', 'held') as state from refused group by task, crawl
  ) r
  where r.task = crawl_state.task and r.crawl = crawl_state.crawl;
  delete from ready where exists (from refused where refused.task = ready.task and refused.crawl = ready.crawl);`;

/**
 * Makes `cast_error_count`; `accepted_finding`, the findings that somebody accepted of the crawls in `ready`; and `refused`, the
 * crawls whose rows fail an audit, or too many of whose records were quarantined.
 */
export async function auditRows(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
): Promise<void> {
  await database.run(`
    create or replace temp table refused (
      task varchar, crawl varchar, guard varchar, whole_job boolean, table_name varchar, column_name varchar, rows bigint,
      total bigint, examples varchar[], for_job varchar, reason varchar, id varchar
    );
    create or replace temp table accepted_finding as
    select task, crawl, target, finding.*
    from (select task, crawl, target, unnest(accepted) as finding from ready);`);
  await countCastErrors(database, folder, staged);
  await applyGuard(database, 'quarantined');
  const specs = readTableSpecs();
  for (const name of listSql('audits')) {
    const text = readSql(`audits/${name}.sql`);
    const table = /^-- table: (\w+)$/m.exec(text)?.[1];
    const audited = specs
      .filter((spec) => spec.name === table)
      .flatMap((spec) => listFiles(folder, spec, staged));
    if (audited.length === 0) continue;
    await database.run(
      `insert into refused by name
      select task, crawl,
        'audit ${name}: ' || count(*) || ' records, for example ' || coalesce(any_value(problem), 'one without a usable key') as reason
      from (${text})
      group by task, crawl`,
      { files: audited },
    );
  }
}

/** What a guard counts over: each job by itself, or all jobs that a run published together. */
type Scope = 'job' | 'run';

/**
 * SQL of `guarded_crawl`: the ready crawls that a guard counts, by `scope` (the job; '' for all jobs), with its name in words
 * (`whole`). Over all jobs, crawls that the guard has refused already, or that somebody has accepted, do not count.
 */
const guardedCrawls: Readonly<Record<Scope, string>> = {
  job: `select *, job as scope, 'the job' as whole from ready`,
  run: `
    select *, '' as scope, 'all jobs of the run' as whole
    from ready r
    where not exists (
        from accepted_finding as a
        where a.task = r.task and a.crawl = r.crawl and a.guard = $guard and a.column_name is null
      )
      and not exists (
        from refused as f where f.task = r.task and f.crawl = r.crawl and f.guard = $guard
      )`,
};

/**
 * Adds to `refused` what one guard finds, without what somebody has accepted.
 * @param name file of `sql/guards/`. Its header names the relation without a row of which it finds nothing (`needs`)
 */
async function applyGuard(database: Database, name: string, scope: Scope = 'job'): Promise<void> {
  const text = readSql(`guards/${name}.sql`);
  const guard = /^-- guard: (\w+)$/m.exec(text)?.[1] as GuardName | undefined;
  if (guard === undefined) throw new Error(`sql/guards/${name}.sql has no "-- guard:" line`);
  // Looking first is much cheaper than the guard's statement, which finds nothing on most nights.
  const needs = /^-- needs: (.+)$/m.exec(text)?.[1];
  if (needs !== undefined && (await database.rows(`select 1 from ${needs} limit 1`)).length === 0) return;
  await database.run(
    `create or replace temp table guarded_crawl as ${guardedCrawls[scope]}`,
    scope === 'run' ? { guard } : {},
  );
  await database.run(
    `insert into refused by name
    select task, crawl, $guard as guard, whole_job, table_name, column_name, rows, total, examples,
      accept_job as for_job,
      $guard || ': ' || problem
        || if(len(examples) > 0, ', for example ' || array_to_string(examples, ', '), '') as reason
    from (${text}) found
    where not exists (
        from accepted_finding a
        where a.task = found.task and a.crawl = found.crawl and a.guard = $guard and a.for_job = found.accept_job
          and a.column_name is not distinct from found.column_name
      )
      -- A column is reported once: as one that would become NULL, if rows have it, else as one that is missing.
      and not ($guard = 'blank' and exists (
        from refused f
        where f.task = found.task and f.crawl = found.crawl and f.guard = $guard and f.table_name = found.table_name
          and f.column_name = found.column_name
      ))`,
    { guard },
  );
}

/** Filters refusals: leaves out those whose crawls a later crawl has replaced. */
export async function stillHeld(database: Database, refusals: readonly Refusal[]): Promise<Refusal[]> {
  const held = await database.rows<{ id: string }>('select distinct id from meta.held');
  return refusals.filter(({ id }) => id === null || held.some((one) => one.id === id));
}

/** Lists `refused`, one refusal for each id; audits give no id. */
function listRefusals(database: Database): Promise<Refusal[]> {
  return database.rows<Refusal>(readSql('publish/list-refused.sql'));
}
