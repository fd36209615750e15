-- guard: vanished
-- More rows would leave over all targets of a job than its lists lose in a night, or all of a small job's.
-- grain: one row a crawl that lost rows, and table
-- Tables `vanished`, `member_count`: src/warehouse/absence.ts. `threshold`: warehouse.guards
with gone as (
  select
    task,
    crawl,
    table_name,
    count(*) as rows,
    min(key, 3) as examples
  from vanished as v
  where v.lookup is null
    -- What a crawl is not sure of is closed when it is missed once more.
    and (not v.unsure or exists (
      from meta.absent as a
      where a.table_name = v.table_name and a.key = v.key
    ))
  group by
    task,
    crawl,
    table_name
),
whole as (
  select
    r.job,
    m.table_name,
    coalesce(sum(g.rows), 0)::bigint as rows,
    sum(m.rows)::bigint as total,
    count(distinct r.target) filter (where m.rows > 0) as targets,
    min_by(g.examples, m.task) filter (where g.examples is not null) as examples
  from member_count as m
  join ready as r using (task, crawl)
  left join gone as g using (task, crawl, table_name)
  group by
    r.job,
    m.table_name
)
select
  g.task,
  g.crawl,
  w.job as accept_job,
  true as whole_job,
  w.table_name,
  null::varchar as column_name,
  w.rows,
  w.total,
  w.examples,
  format('{} of {} rows of the job are not listed any more', w.rows, w.total) as problem
from whole as w
join ready as r using (job)
join gone as g on g.task = r.task and g.crawl = r.crawl and g.table_name = w.table_name
cross join threshold as t
where w.rows > greatest(t.rows, w.total * t.vanished_job_share)
  -- One empty wallet is a wallet that was emptied; all of them at once are not.
  or (w.rows = w.total and w.total >= t.few_rows and w.targets > 1)
