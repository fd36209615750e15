-- Rows that the ready crawls would close because there is nothing under their keys, for the guard `vanished`.
-- grain: one row a crawl that asked for them, and job that missed them first
-- $table: their table. The condition under which one is closed stands in src/warehouse/settle-absent.ts. Table `looked_up`
-- A job has as many rows as its latest complete crawls brought, and as it misses.
insert into unknown_count
with unknown as (
  select
    l.asking.task as task,
    l.asking.crawl as crawl,
    a.job,
    count(distinct a.key) as rows,
    min(a.key, 3) as examples
  from looked_up as l
  join meta.absent as a using (key)
  where a.table_name = $table and {closes}
  group by all
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
missed as (
  select job, count(*) as records
  from meta.absent
  where table_name = $table
  group by job
)
select
  u.task,
  u.crawl,
  u.job,
  $table,
  u.rows,
  (coalesce(l.records, 0) + m.records)::bigint as total,
  u.examples
from unknown as u
join missed as m using (job)
left join listed as l using (job);
