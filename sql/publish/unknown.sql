-- Rows that the ready crawls would close because there is nothing under their keys, for the guard `vanished`.
-- grain: one row a crawl that requested them, and job that missed them first
-- rows: those of the job without a record; closing: those of them that had none before, so that they are closed now
-- total: rows of the job: those that its latest complete crawls brought, those that it misses, and those that look-ups closed in
--   the last days. Rows and total are the job's, not the target's, because a target that is one look-up has only one row
-- before: what look-ups closed in the last days. Where small budgets cut a job's look-ups into many runs, no run closes much
-- turns_over: rows of the table are spent all the time, so that null is what a ledger says of them
-- $table: their table; $turns_over; the condition `closes`: src/publish/settle-absent.ts. Table `looked_up`: sql/publish/lookups.sql
insert into unknown_count
with unknown as (
  select
    l.asking_crawl.task as task,
    l.asking_crawl.crawl as crawl,
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
lately_closed as (
  select job, sum(rows)::bigint as rows
  from meta.closed
  where by_look_up
    and table_name = $table
    and closed_at > (select max(finished_at) from ready) - window_of_closed()
  group by job
),
waiting as (
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
  $turns_over,
  w.examples
from unknown as u
join whole as w using (job)
join waiting as m using (job)
left join latest_crawl as l using (job)
left join lately_closed as c using (job);
