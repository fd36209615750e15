-- Every target of one job, the former ones last.
-- grain: one row a target
-- $job: name of the job
-- The columns are those of sql/status/jobs.sql.
select
  target,
  f.target is not null as former,
  state,
  complete_as_of,
  case when is_incremental then changes_slot end as changes_seen_to,
  covered_from,
  covered_to,
  covered_unit,
  last_full,
  pages,
  records,
  quarantined,
  keyless,
  stale,
  finished_at,
  reason
from target_status
left join former as f using (job, target)
where job = $job
order by
  former,
  state = 'complete',
  target
