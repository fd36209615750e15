-- Every target of one job.
-- grain: one row a target
-- $job: name of the job
-- The columns are those of sql/status/jobs.sql.
select
  target,
  state,
  complete_as_of,
  case when is_incremental then changes_slot end as changes_seen_to,
  last_full,
  pages,
  records,
  quarantined,
  finished_at,
  reason
from target_status
where job = $job
order by
  state = 'complete',
  target
