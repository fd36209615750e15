import type { DataFolder } from '../data-folder.ts';
import { listFiles, type StagedSegment } from '../load/staged-segments.ts';
import { listSql, readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { readTableSpecs } from '../warehouse/table-spec.ts';
import { findVanished } from './absence.ts';
import { type Accepted, acceptOf, type GuardName } from './accepted.ts';
import { countChanges } from './guard-counts.ts';
import type { Refusal } from './published.ts';
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
  accept: Accepted,
): Promise<Refusal[]> {
  await auditRows(database, folder, staged, accept);
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
    'stale',
    'stale-feed',
  ])
    await applyGuard(database, name, accept);
  // Over all jobs of the run: many jobs of one target each may lose as much as one job of many targets.
  for (const name of ['quarantined-job', 'vanished-job', 'burnt', 'blank', 'required', 'stale'])
    await applyGuard(database, name, accept, 'run');
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
 * Makes `cast_error_count`, and `refused` with the crawls in `ready` whose rows fail an audit, or too many of whose records were
 * quarantined.
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
    where not list_contains($accepted, job)
      and not list_contains($accepted, job || '/' || target)
      and not exists (
        from refused as f where f.task = r.task and f.crawl = r.crawl and f.guard = $guard
      )`,
};

/**
 * Adds to `refused` what one guard finds, without what is accepted in this run or was accepted before.
 * @param name file of `sql/guards/`. Its header names the relation without a row of which it finds nothing (`needs`)
 */
async function applyGuard(
  database: Database,
  name: string,
  accept: Accepted,
  scope: Scope = 'job',
): Promise<void> {
  const text = readSql(`guards/${name}.sql`);
  const guard = /^-- guard: (\w+)$/m.exec(text)?.[1] as GuardName | undefined;
  if (guard === undefined) throw new Error(`sql/guards/${name}.sql has no "-- guard:" line`);
  // Looking first is much cheaper than the guard's statement, which finds nothing on most nights.
  const needs = /^-- needs: (.+)$/m.exec(text)?.[1];
  if (needs !== undefined && (await database.rows(`select 1 from ${needs} limit 1`)).length === 0) return;
  const accepted = accept[acceptOf(guard)];
  await database.run(
    `create or replace temp table guarded_crawl as ${guardedCrawls[scope]}`,
    scope === 'run' ? { guard, accepted } : {},
  );
  await database.run(
    `insert into refused by name
    select task, crawl, $guard as guard, whole_job, table_name, column_name, rows, total, examples,
      accept_job || case
        when $guard = 'blank' and column_name is not null then '/' || column_name
        when whole_job or target = '' then ''
        else '/' || target
      end as accept,
      $guard || ': ' || problem
        || if(len(examples) > 0, ', for example ' || array_to_string(examples, ', '), '') as reason
    from (${text}) found
    join (select task, crawl, target from ready) using (task, crawl)
    where not list_contains($accepted, accept_job)
      and not list_contains($accepted, accept_job || '/' || target)
      and not list_contains($accepted, accept_job || '/' || coalesce(column_name, ''))
      -- A column is reported once: as one that would become NULL, if rows have it, else as one that is missing.
      and not ($guard = 'blank' and exists (
        from refused f
        where f.task = found.task and f.crawl = found.crawl and f.guard = $guard and f.table_name = found.table_name
          and f.column_name = found.column_name
      ))
      and not exists (
        from meta.refusals before
        where before.task = found.task and before.crawl = found.crawl and before.guard = $guard
          and before.accepted_by is not null
      )`,
    { guard, accepted },
  );
}

/** Filters refusals: without those whose crawls a later one has replaced. */
export async function stillHeld(database: Database, refusals: readonly Refusal[]): Promise<Refusal[]> {
  const held = await database.rows<{ job: string; target: string; guard: string }>(
    'select distinct job, target, guard from meta.held',
  );
  return refusals.filter(
    ({ job, target, guard, targets }) =>
      guard === null ||
      held.some((one) => one.job === job && one.guard === guard && (targets > 1 || one.target === target)),
  );
}

/** Lists `refused`, once for the whole job where the guard counted over the job. */
function listRefusals(database: Database): Promise<Refusal[]> {
  return database.rows<Refusal>(`
    with found as (
      select job, target, r.*,
        count(*) filter (where not whole_job) over (partition by job, guard) as of_targets,
        count(distinct target) over (partition by job, guard) as targets,
        bool_or(whole_job) over (partition by job, guard) as has_whole
      from refused r join (select task, crawl, job, target from crawl_state) using (task, crawl)
    )
    select
      job,
      if(count(distinct target) = 1, any_value(target), '') as target,
      min(reason) as reason,
      guard,
      any_value(accept) as accept,
      column_name as "column",
      max(rows)::double as rows,
      max(total)::double as total,
      any_value(examples) as examples,
      count(distinct target)::double as targets
    from found
    -- What was counted over a job of several targets is not reported for each of them again.
    where guard is null or whole_job = (targets > 1 and has_whole or of_targets = 0)
    group by job, guard, column_name, coalesce(whole_job, false), if(coalesce(whole_job, false), '', target)
    order by job, guard, target, column_name`);
}
