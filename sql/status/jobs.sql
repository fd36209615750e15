-- How far every job is, from its checkpoints.
-- grain: one row a job
-- complete_as_of: all data of the job up to this slot is in; NULL while a target was never complete
with latest as (
  select *
  from meta.checkpoints
  qualify row_number() over (partition by job, target order by crawl desc, state = 'complete' desc) = 1
),
complete as (
  select
    job,
    target,
    max(last_indexed_slot) as slot,
    max(finished_at) as finished_at
  from meta.checkpoints
  where state = 'complete'
  group by
    job,
    target
)
select
  l.job,
  count(*) as targets,
  count(*) filter (where l.state = 'complete') as complete,
  count(*) filter (where l.state = 'open') as open,
  count(*) filter (where l.state = 'failed') as failed,
  case when count(c.target) = count(*) then min(c.slot) end as complete_as_of,
  max(c.finished_at) as last_complete,
  sum(l.quarantined)::bigint as quarantined
from latest as l
left join complete as c using (job, target)
group by l.job
order by l.job
