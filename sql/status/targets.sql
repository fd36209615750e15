-- Every target of one job.
-- grain: one row a target
-- $job: name of the job
-- complete_as_of, changes_seen_to, last_full, quarantined: as sql/status/jobs.sql
with quarantined as (
  -- An incremental crawl did not look at what an earlier one found.
  select
    c.job,
    c.target,
    count(distinct (q.table_name, coalesce(q.key, q.raw))) as records
  from meta.quarantine as q
  join (
    select job, target, task
    from meta.checkpoints
    qualify row_number() over (partition by job, target, range, kind order by crawl desc) = 1
  ) as c using (task)
  group by
    c.job,
    c.target
)
select
  target,
  state,
  max(last_indexed_slot) filter (where kind <> 'incremental') over every_crawl as complete_as_of,
  case
    when bool_or(state = 'complete' and kind = 'incremental') over every_crawl
      then max(last_indexed_slot) over every_crawl
  end as changes_seen_to,
  max(finished_at) filter (where state = 'complete' and kind <> 'incremental') over every_crawl as last_full,
  pages,
  records,
  greatest(quarantined, q.records) as quarantined,
  finished_at,
  reason
from meta.checkpoints
left join quarantined as q using (job, target)
where job = $job
window every_crawl as (partition by target)
qualify row_number() over (partition by target order by crawl desc, state = 'complete' desc) = 1
order by
  state = 'complete',
  target
