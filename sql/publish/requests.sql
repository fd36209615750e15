-- What the runs of the request log asked of the API.
-- grain: one row a run and operation
-- $requests: data/requests.ndjson; lines that are none, on a damaged disk, are passed over
insert into meta.requests (
  run_id, operation, pool, requests, retries, throttles, failures, credits, saved, bytes, latency_p50_ms,
  latency_p95_ms, latency_max_ms
)
select
  run,
  operation,
  any_value(pool),
  count(*) filter (where outcome <> 'saved'),
  count(*) filter (where attempt > 1),
  count(*) filter (where outcome = 'throttled'),
  count(*) filter (where outcome not in ('ok', 'saved')),
  sum(credits)::bigint,
  coalesce(sum(saved), 0)::bigint,
  coalesce(sum(bytes), 0)::bigint,
  quantile_cont(latencyms, 0.5),
  quantile_cont(latencyms, 0.95),
  max(latencyms)
from read_json(
  $requests,
  format = 'newline_delimited',
  records = true,
  ignore_errors = true,
  columns = {
    run: 'VARCHAR',
    operation: 'VARCHAR',
    pool: 'VARCHAR',
    credits: 'BIGINT',
    outcome: 'VARCHAR',
    saved: 'BIGINT',
    latencyMs: 'DOUBLE',
    bytes: 'BIGINT',
    attempt: 'BIGINT'
  }
)
where run is not null
  and operation is not null
  and credits is not null
group by
  run,
  operation
