-- How far every job is: its targets together.
-- grain: one row a job
-- complete_as_of: all data of the job up to this slot is in; NULL while a target was never complete
-- changes_seen_to: jobs with incremental crawls: changes up to this slot are in; says nothing of rows that left
-- last_full: when the last full crawl of the target that waited longest ended
select
  job,
  count(*) as targets,
  count(*) filter (where state = 'complete') as complete,
  count(*) filter (where state = 'open') as open,
  count(*) filter (where state = 'failed') as failed,
  case when bool_and(was_complete) then min(complete_as_of) end as complete_as_of,
  case when bool_or(is_incremental) and bool_and(was_complete) then min(changes_slot) end as changes_seen_to,
  max(last_complete) as last_complete,
  min(last_full) as last_full,
  sum(quarantined)::bigint as quarantined
from target_status
group by job
order by job
