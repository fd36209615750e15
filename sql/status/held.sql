-- What guards hold back.
-- grain: one row a refusal. Its reason is the one that sql/publish/list-refused.sql shows
-- $job: name of the job, or NULL for all
select
  job,
  if(count(distinct target) = 1, any_value(target), '') as target,
  count(distinct target) as targets,
  guard,
  id,
  any_value(for_job) as for_job,
  coalesce(
    if(count(distinct target) > 1, min(reason) filter (where whole_job), min(reason) filter (where not whole_job)),
    min(reason)
  ) as reason,
  max(run_id) as run
from meta.held
where coalesce(job = $job, true)
group by
  job,
  guard,
  id
order by
  job,
  target,
  guard,
  id
