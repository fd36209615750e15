-- guard: vanished
-- needs: burnt_row
-- More rows of a job would be burnt than a ledger burns in a night: what is burnt never lives again.
-- grain: one row a crawl, and job that brought the rows or missed what a look-up found burnt
-- Table `burnt_row`: src/publish/guard-counts.ts. `threshold`: warehouse.guards
-- total: the rows of the job's latest complete crawls and those that it misses, or the records of the ready crawls, if these are more
with burnt as (
  select r.task, r.crawl, b.job, b.table_name, b.key
  from burnt_row as b
  join (select rowid as crawl_row, task, crawl from ready) as r using (crawl_row)
),
latest_crawl as (
  select job, sum(records) as records
  from (
    select job, target, range, max_by(records, crawl) as records
    from meta.checkpoints
    where state = 'complete' and kind = 'full'
    group by
      job,
      target,
      range
  )
  group by job
),
missed_count as (
  select job, count(*) as records
  from meta.absent
  group by job
),
ready_records as (
  select job, sum(records) as records
  from ready
  group by job
),
counted_job as (
  select
    f.table_name,
    f.job,
    count(distinct f.key) as rows,
    greatest(
      count(distinct f.key),
      any_value(r.records),
      any_value(coalesce(l.records, 0) + coalesce(m.records, 0))
    )::bigint as total,
    min(distinct f.key, 3) as examples
  from burnt as f
  left join latest_crawl as l using (job)
  left join missed_count as m using (job)
  left join ready_records as r using (job)
  group by
    f.table_name,
    f.job
)
select distinct
  f.task,
  f.crawl,
  f.job as accept_job,
  true as whole_job,
  w.table_name,
  null::varchar as column_name,
  w.rows,
  w.total,
  w.examples,
  format('{} of {} rows of the job would be burnt', w.rows, w.total) as problem
from counted_job as w
join burnt as f using (job, table_name)
cross join threshold as t
where w.rows > greatest(t.rows, w.total * t.vanished_job_share)
  or (w.rows >= t.few_rows and w.rows > w.total / 2)
