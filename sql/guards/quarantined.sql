-- guard: quarantined
-- needs: cast_error_column
-- More records than before have a value that does not fit in a column: a format broke. Some metadata is always odd, so each target is
-- compared with its own last crawl. A first crawl has none to compare with: it may have any number of odd values, but not in a key or
-- a steady column, and not all records of a job may be refused.
-- grain: one row a crawl, table and column, counted over its target or (whole_job) its job
-- Table `cast_error_column`: sql/publish/cast-errors.sql; meta.checkpoints. `threshold`: warehouse.quarantine_limit
with last_crawl as (
  -- The latest one of enough records to have a share, else the latest.
  select c.*
  from (
    select job, target, crawl, sum(records) as records
    from meta.checkpoints
    where state = 'complete'
    group by
      job,
      target,
      crawl
  ) as c
  cross join threshold as t
  where c.records > 0
  qualify row_number() over (partition by c.job, c.target order by c.records >= t.rows desc, c.crawl desc) = 1
),
last_count as (
  select
    job,
    target,
    entry.key as name,
    sum(entry.value) as rows
  from (
    select c.job, c.target, unnest(map_entries(c.cast_errors)) as entry
    from meta.checkpoints as c
    semi join last_crawl using (job, target, crawl)
    where c.state = 'complete'
  )
  group by
    job,
    target,
    name
),
odd_column as (
  select distinct
    r.job,
    r.shape,
    e.table_name,
    e.column_name,
    e.name,
    e.steady,
    e.whole
  from cast_error_column as e
  join ready as r using (task, crawl)
),
counted as (
  select
    r.job,
    r.target,
    r.shape,
    o.table_name,
    o.column_name,
    o.name,
    o.whole,
    o.steady,
    coalesce(e.rows, 0) as rows,
    r.records as total,
    coalesce(r.records * b.rows / l.records, 0) as expected,
    if(l.records is null and not o.steady, coalesce(e.rows, 0), 0) as not_compared,
    e.reason,
    e.examples
  from ready as r
  join odd_column as o using (job, shape)
  left join cast_error_column as e using (task, crawl, name)
  left join last_crawl as l using (job, target)
  left join last_count as b using (job, target, name)
),
whole as (
  select
    job,
    shape,
    target,
    grouping(target) = 1 as whole_job,
    table_name,
    column_name,
    any_value(whole) as whole,
    any_value(steady) as steady,
    sum(rows)::bigint as rows,
    sum(total)::bigint as total,
    sum(expected) as expected,
    sum(not_compared) as not_compared,
    max_by(reason, rows) as reason,
    max_by(examples, rows) as examples
  from counted
  group by grouping sets (
    (job, shape, table_name, column_name),
    (job, shape, table_name, column_name, target)
  )
)
select
  r.task,
  r.crawl,
  r.job as accept_job,
  w.whole_job,
  w.table_name,
  w.column_name,
  w.rows,
  w.total,
  w.examples,
  format(
    '{} of {} records were quarantined, mostly because: {}; the last crawls lead to expect {}',
    w.rows,
    w.total,
    concat_ws(' ', if(w.whole, null, w.column_name), w.reason),
    round(w.expected)::bigint
  ) as problem
from whole as w
join ready as r on r.job = w.job and r.shape = w.shape and (w.whole_job or r.target = w.target)
cross join threshold as t
where w.rows - w.expected - w.not_compared > greatest(t.rows, w.total * t.quarantine_limit)
  or (w.whole_job and (w.whole or w.steady) and w.rows = w.total and w.rows >= t.few_rows and w.expected < w.rows)
