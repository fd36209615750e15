-- What did a priority fee cost, and how did it move?
-- A row a request: run the job priority-fees from a scheduler for a series. Fees are micro-lamports a compute unit.
select
  request_key,
  account_keys,
  time_bucket(interval '1 hour', seen_at) as hour,
  count(*) as answers,
  min(level_medium) as lowest,
  round(avg(level_medium), 1) as average,
  max(level_medium) as highest,
  max(level_very_high) as highest_very_high
from priority_fees
group by request_key, account_keys, hour
order by hour, request_key;
