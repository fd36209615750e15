-- Missed rows whose look-up would count now: not looked up in this run, nor so shortly before it that the same outage would answer.
-- grain: one row a table and key
-- $run: the run that asks; $now: Unix ms
select
  lookup,
  options,
  key
from meta.absent
where lookup is not null
  and asked_run is distinct from $run
  and coalesce(asked_at + apart() <= make_timestamptz(($now * 1000)::bigint), true)
