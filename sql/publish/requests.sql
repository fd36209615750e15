-- The requests of the runs in the request log.
-- grain: one row a run and operation
-- $requests: data/requests.ndjson; damaged lines are skipped
-- A line is an attempt, or (outcome `sum`) all attempts of a day. The latencies of several days are those of the slowest day.
insert into meta.requests (
  run_id, operation, pool, requests, retries, throttles, failures, credits, saved, bytes, latency_p50_ms,
  latency_p95_ms, latency_max_ms
)
select
  run,
  operation,
  any_value(pool),
  sum(case outcome when 'saved' then 0 when 'sum' then requests else 1 end)::bigint,
  sum(if(outcome = 'sum', retries, (attempt > 1)::bigint))::bigint,
  sum(if(outcome = 'sum', throttles, (outcome = 'throttled')::bigint))::bigint,
  sum(if(outcome = 'sum', failures, (outcome not in ('ok', 'saved'))::bigint))::bigint,
  sum(credits)::bigint,
  coalesce(sum(saved), 0)::bigint,
  coalesce(sum(bytes), 0)::bigint,
  coalesce(quantile_cont(latencyms, 0.5), max(latency.p50)),
  coalesce(quantile_cont(latencyms, 0.95), max(latency.p95)),
  greatest(max(latencyms), max(latency.max))
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
    attempt: 'BIGINT',
    requests: 'BIGINT',
    retries: 'BIGINT',
    throttles: 'BIGINT',
    failures: 'BIGINT',
    latency: 'STRUCT(p50 DOUBLE, p95 DOUBLE, max DOUBLE)'
  }
)
where run is not null
  and operation is not null
  and credits is not null
group by
  run,
  operation
