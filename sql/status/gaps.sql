-- Slots (Unix times where `unit` is second) of the feeds that are not in yet; those of former targets never will be.
-- grain: one row a gap
-- $job: name of the job, or NULL for all
select
  job,
  target,
  low_slot,
  high_slot,
  unit,
  cursor
from meta.coverage
anti join former using (job, target)
where state = 'gap' and coalesce(job = $job, true)
order by
  job,
  target,
  low_slot
