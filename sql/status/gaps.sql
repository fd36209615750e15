-- Slots of the feeds that are not in yet.
-- grain: one row a gap
select
  job,
  target,
  low_slot,
  high_slot,
  cursor
from meta.coverage
where state = 'gap'
order by
  job,
  target,
  low_slot
