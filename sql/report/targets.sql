-- The targets of every job that are not complete, those never complete first.
-- grain: one row a target; at most 8 a job
-- Reads target_status and former: sql/status/
select
  job,
  target,
  state,
  coalesce(complete_as_of, covered_to)::varchar as slot,
  records::varchar as records,
  quarantined::varchar as quarantined,
  finished_at,
  left(reason, 300) as reason
from target_status
anti join former using (job, target)
where state <> 'complete'
qualify row_number() over (partition by job order by finished_at nulls first, target) <= 8
order by
  job,
  finished_at nulls first,
  target
