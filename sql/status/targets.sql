-- Every target of one job.
-- grain: one row a target
-- $job: name of the job
select
  target,
  state,
  max(last_indexed_slot) over (partition by target) as complete_as_of,
  pages,
  records,
  quarantined,
  finished_at,
  reason
from meta.checkpoints
where job = $job
qualify row_number() over (partition by target order by crawl desc, state = 'complete' desc) = 1
order by
  state = 'complete',
  target
