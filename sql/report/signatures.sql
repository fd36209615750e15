-- Signatures by the time of their slot, in 60 steps over the last 60 days that have some, or over less time where they do.
-- grain: one row a step with signatures, oldest first
with span as (
  select
    max(block_time) as last_at,
    greatest(min(block_time), max(block_time) - interval 60 days) as first_at
  from compression_signatures
),
step as (
  select *, greatest(1, ceil(epoch(last_at - first_at) / 60))::bigint as seconds
  from span
)
select
  to_timestamp(floor(epoch(s.block_time) / seconds) * seconds) as begun_at,
  count(*) as signatures
from compression_signatures as s, step
where s.block_time >= first_at
group by all
order by begun_at
