-- guard: stale
-- needs: older_count
-- Most records of a job are older than what earlier answers brought: the source went back, and newer-wins would freeze
-- every row until its slots are where they were. Over all jobs of a run, jobs count whose own records are mostly older, and only these
-- are held.
-- grain: one row a crawl
-- Tables `guarded_crawl`: src/publish/guards.ts; `older_count`: src/publish/guard-counts.ts. `threshold`: warehouse.guards
with received as (
  select scope, shape, any_value(whole) as whole, sum(records)::bigint as total
  from guarded_crawl
  where end_reason is distinct from 'unchanged'
  group by
    scope,
    shape
),
job_records as (
  select job, shape, sum(records) as records
  from guarded_crawl
  where end_reason is distinct from 'unchanged'
  group by
    job,
    shape
),
older_job as (
  select
    r.scope,
    r.shape,
    r.job,
    o.table_name,
    sum(o.rows) as rows,
    sum(o.far_rows) as far_rows,
    min_by(o.examples, task) as examples
  from older_count as o
  join guarded_crawl as r using (task, crawl)
  group by
    r.scope,
    r.shape,
    r.job,
    o.table_name
),
counted_job as (
  select o.*
  from older_job as o
  join job_records as a using (job, shape)
  cross join threshold as t
  where o.scope <> '' or o.rows > a.records * t.stale_share
),
older as (
  select
    scope,
    shape,
    table_name,
    sum(rows)::bigint as rows,
    sum(far_rows)::bigint as far_rows,
    min_by(examples, job) as examples
  from counted_job
  group by
    scope,
    shape,
    table_name
)
select
  r.task,
  r.crawl,
  job as accept_job,
  true as whole_job,
  o.table_name,
  null::varchar as column_name,
  o.rows,
  a.total,
  o.examples,
  format('{} of {} records of {} are older than what the tables have', o.rows, a.total, a.whole) as problem
from older as o
join received as a using (scope, shape)
join (select scope, shape, table_name, job from counted_job) using (scope, shape, table_name)
join guarded_crawl as r using (scope, shape, job)
cross join threshold as t
where (a.total >= t.few_rows and o.rows > a.total * t.stale_share)
  -- Where records are few, all of them, by more than a replica lags.
  or o.far_rows >= a.total
