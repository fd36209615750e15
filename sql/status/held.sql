-- What guards hold back, once for a job where a guard counted over it.
-- grain: one row a job (or target) and guard, and column
-- $job: name of the job, or NULL for all
select
  job,
  if(count(distinct target) = 1, any_value(target), '') as target,
  count(distinct target) as targets,
  guard,
  any_value(accept) as accept,
  any_value(reason) as reason,
  max(run_id) as run
from meta.held
where coalesce(job = $job, true)
group by
  job,
  guard,
  column_name,
  whole_job,
  if(whole_job, '', target)
order by
  job,
  target,
  guard
