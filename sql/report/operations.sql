-- What one run asked of the API.
-- grain: one row an operation
-- $run: the run
select
  operation,
  pool,
  requests::varchar as requests,
  retries::varchar as retries,
  throttles::varchar as throttles,
  failures::varchar as failures,
  credits::varchar as credits,
  coalesce(saved, 0)::varchar as saved,
  bytes::varchar as bytes,
  latency_p50_ms,
  latency_p95_ms
from meta.requests
where run_id = $run
order by
  meta.requests.requests desc,
  operation
