-- How fast the ledger's slots go up, from the slots of earlier runs: the median of the steps from run to run, so that
-- one wrong slot does not count. Runs less than an hour apart say little.
-- grain: one row; NULL where no two runs are that far apart
with seen as (
  select run_id, max(max_slot) as slot, max_by(finished_at, max_slot) as seen_at
  from meta.checkpoints
  where state = 'complete' and max_slot is not null and finished_at is not null
  group by run_id
),
step as (
  select
    slot - lag(slot) over (order by seen_at) as slots,
    epoch(seen_at) - epoch(lag(seen_at) over (order by seen_at)) as seconds
  from seen
)
select median(slots / seconds) as per_second
from step
where slots > 0 and seconds >= 3600
