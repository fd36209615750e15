-- Rows that the ready crawls would close because there is nothing under their keys, for the guard `vanished`.
-- grain: one row a crawl that asked for them, and job that missed them first; `closing` are told so for the second time, the
--   other `rows` for the first; `rows` and `total` are those of the job, because
--   a target that is one look-up has one row only
-- $table: their table. The condition under which one is closed stands in src/publish/settle-absent.ts. Table `looked_up`
-- A job has as many rows as its latest complete crawls brought, and as it misses. What look-ups closed in the last days counts
-- beside (`before`): of a job whose look-ups are cut into many runs by small budgets, no run closes much.
insert into unknown_count
with unknown as (
  select
    l.asking.task as task,
    l.asking.crawl as crawl,
    a.job,
    a.key,
    coalesce({closes}, false) as closes
  from looked_up as l
  join meta.absent as a using (key)
  where a.table_name = $table and l.unknown
),
whole as (
  select
    job,
    count(distinct key) as rows,
    count(distinct key) filter (where closes) as closing,
    min(distinct key, 3) as examples
  from unknown
  group by job
  having bool_or(closes)
),
listed as (
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
closed as (
  select job, sum(rows)::bigint as rows
  from meta.closed
  where by_look_up
    and table_name = $table
    and closed_at > (select max(finished_at) from ready) - window_of_closed()
  group by job
),
missed as (
  select job, count(*) as records
  from meta.absent
  where table_name = $table
  group by job
)
select distinct
  u.task,
  u.crawl,
  u.job,
  $table,
  w.rows,
  w.closing,
  coalesce(c.rows, 0)::bigint as before,
  (coalesce(l.records, 0) + m.records + coalesce(c.rows, 0))::bigint as total,
  w.examples
from unknown as u
join whole as w using (job)
join missed as m using (job)
left join listed as l using (job)
left join closed as c using (job);
