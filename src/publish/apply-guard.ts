import { readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { type Accepted, acceptOf, type GuardName } from './accepted.ts';

/** What a guard counts over: each job by itself, or all jobs that a run published together. */
type Scope = 'job' | 'run';

/**
 * Makes `guarded_crawl`, what a guard counts over: the ready crawls by `scope` (the job; '' for all), which `whole` is in words. Over
 * all jobs, those count that the guard has neither refused nor been told to let pass.
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
 * Adds to `refused` what one guard finds, without what is accepted, in this run or when the crawl was published.
 * @param name file of `sql/guards/`: its header says what it needs a row of, to find any
 */
export async function applyGuard(
  database: Database,
  name: string,
  accept: Accepted,
  scope: Scope = 'job',
): Promise<void> {
  const text = readSql(`guards/${name}.sql`);
  const guard = /^-- guard: (\w+)$/m.exec(text)?.[1] as GuardName | undefined;
  if (guard === undefined) throw new Error(`sql/guards/${name}.sql has no "-- guard:" line`);
  // Looking is much cheaper than reading the guard's statement, which most nights finds nothing.
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
      -- What becomes NULL is said once: with what it was before, where that is known.
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
