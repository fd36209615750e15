-- How far every job is, from its checkpoints.
-- grain: one row a job
-- complete_as_of: all data of the job up to this slot is in; NULL while a target was never complete
-- changes_seen_to: jobs with incremental crawls: changes up to this slot are in; says nothing of rows that left
-- quarantined: records of the latest crawl, or all that are in meta.quarantine when those are more
-- last_full: when the last full crawl of the target that waited longest ended
with latest as (
  select *
  from meta.checkpoints
  qualify row_number() over (partition by job, target order by crawl desc, state = 'complete' desc) = 1
),
complete as (
  select
    job,
    target,
    max(last_indexed_slot) filter (where kind <> 'incremental') as slot,
    max(last_indexed_slot) as changes_slot,
    bool_or(kind = 'incremental') as is_incremental,
    max(finished_at) as finished_at,
    max(finished_at) filter (where kind <> 'incremental') as full_at
  from meta.checkpoints
  where state = 'complete'
  group by
    job,
    target
),
quarantined as (
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
  l.job,
  count(*) as targets,
  count(*) filter (where l.state = 'complete') as complete,
  count(*) filter (where l.state = 'open') as open,
  count(*) filter (where l.state = 'failed') as failed,
  case when count(c.target) = count(*) then min(c.slot) end as complete_as_of,
  case
    when bool_or(c.is_incremental) and count(c.target) = count(*) then min(c.changes_slot)
  end as changes_seen_to,
  max(c.finished_at) as last_complete,
  min(c.full_at) as last_full,
  sum(greatest(l.quarantined, q.records))::bigint as quarantined
from latest as l
left join complete as c using (job, target)
left join quarantined as q using (job, target)
group by l.job
order by l.job
