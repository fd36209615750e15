import type { DataFolder } from '../data-folder.ts';
import type { StagedSegment } from '../load/staged-segments.ts';
import type { Database } from '../warehouse/database.ts';
import { findVanished } from './absence.ts';
import type { Accepted } from './accepted.ts';
import { applyGuard } from './apply-guard.ts';
import { auditRows } from './audit.ts';
import { countChanges } from './guard-counts.ts';
import type { Refusal } from './published.ts';
import { countUnknown } from './settle-absent.ts';

/**
 * Looks at the ready crawls before they touch a table: audits their staged rows (sql/audits/), and compares each job's
 * crawls with what its tables have of the same keys and targets (sql/guards/). Takes those that are refused out of
 * `ready`, and notes them in `refused`.
 * @param staged segments of the ready crawls
 */
export async function judgeCrawls(
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
  // Many jobs of one target each are one job to what they ask.
  for (const name of ['quarantined-job', 'vanished-job', 'burnt', 'blank', 'required', 'stale'])
    await applyGuard(database, name, accept, 'run');
  await database.run(takeRefused);
  return listRefusals(database);
}

/** Crawls that are refused are not ready; those that somebody may accept are held. */
export const takeRefused = `
  update crawl_state set state = r.state
  from (
    select task, crawl, if(bool_or(guard is null), 'refused', 'held') as state from refused group by task, crawl
  ) r
  where r.task = crawl_state.task and r.crawl = crawl_state.crawl;
  delete from ready where exists (from refused where refused.task = ready.task and refused.crawl = ready.crawl);`;

/** Those of the refusals that still stand: no later crawl has taken their place. */
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

/** What is in `refused`, once for the whole job where the guard counted over it. */
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
    -- Counted over a job of several targets, it need not be told of each of them again.
    where guard is null or whole_job = (targets > 1 and has_whole or of_targets = 0)
    group by job, guard, column_name, coalesce(whole_job, false), if(coalesce(whole_job, false), '', target)
    order by job, guard, target, column_name`);
}
