-- Records how many rows the ready crawls close, for the guard `vanished` of later ones. Runs before the rows are closed.
-- What somebody has accepted is not counted.
-- Tables `gone_count`: sql/publish/gone-count.sql; `unknown_count`: sql/publish/unknown.sql
with counted as (
  select
    r.job,
    r.target,
    r.range_name as range,
    g.table_name,
    false as by_look_up,
    g.rows,
    r.finished_at,
    crawl
  from gone_count as g
  join ready as r using (task, crawl)
  union all
  select
    u.job,
    '',
    '',
    u.table_name,
    true,
    max(u.closing),
    max(r.finished_at),
    max(crawl)
  from unknown_count as u
  join ready as r using (task, crawl)
  group by
    u.job,
    u.table_name
)
insert into meta.closed (job, target, range, table_name, by_look_up, rows, closed_at, crawl)
select
  job,
  target,
  range,
  table_name,
  by_look_up,
  rows,
  finished_at,
  crawl
from counted
where not exists (
  from accepted_finding as a
  where a.guard = 'vanished' and a.crawl = counted.crawl and a.for_job = counted.job
    and (by_look_up or a.target = counted.target)
);
