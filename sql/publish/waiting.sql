-- Jobs of which the guard of look-ups would refuse to close the rows that wait for a second look: their lists do not show them any
-- more, or a first look-up found nothing. They are kept until a second one, hours later, agrees. Rows that a guard then holds back are
-- left out: the refusal reports them.
-- grain: one row a job and table
-- $turning_over: tables whose rows are spent all the time
-- Tables meta.absent, meta.checkpoints. Macro: sql/publish/look-up-limits.sql
with waiting as (
  select
    job,
    table_name,
    count(*) as rows,
    min(key, 3) as examples
  from meta.absent
  where null_run is not null
  group by
    job,
    table_name
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
)
select
  w.job,
  w.table_name as "table",
  w.rows::double as rows,
  (w.rows + coalesce(l.records, 0))::double as total,
  w.examples
from waiting as w
left join latest_crawl as l using (job)
where too_many_unknown(w.rows, w.rows, w.rows + coalesce(l.records, 0), list_contains($turning_over, w.table_name))
  and not exists (
    from meta.held as h
    where h.for_job = w.job and h.table_name = w.table_name and h.guard = 'vanished'
  )
order by
  w.job,
  w.table_name
