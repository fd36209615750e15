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
  c.target,
  c.state,
  max(c.last_indexed_slot) filter (where c.kind <> 'incremental') over every_crawl as complete_as_of,
  case
    when bool_or(c.state = 'complete' and c.kind = 'incremental') over every_crawl
      then max(c.last_indexed_slot) over every_crawl
  end as changes_seen_to,
  max(c.finished_at) filter (where c.state = 'complete' and c.kind <> 'incremental') over every_crawl as last_full,
  c.pages,
  c.records,
  greatest(c.quarantined, q.records) as quarantined,
  c.finished_at,
  c.reason
from meta.checkpoints as c
left join quarantined as q using (job, target)
where c.job = $job
window every_crawl as (partition by c.target)
qualify row_number() over (partition by c.target order by c.crawl desc, c.state = 'complete' desc) = 1
order by
  c.state = 'complete',
  c.target
