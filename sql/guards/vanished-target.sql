-- guard: vanished
-- More rows of a target would leave than its list loses in a night. Rows that can be looked up are asked about instead.
-- grain: one row a crawl and table
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
)
select
  task,
  crawl,
  r.job as accept_job,
  false as whole_job,
  table_name,
  null::varchar as column_name,
  g.rows,
  m.rows as total,
  g.examples,
  format('{} of {} rows are not listed any more', g.rows, m.rows) as problem
from gone as g
join member_count as m using (task, crawl, table_name)
join ready as r using (task, crawl)
cross join threshold as t
where g.rows > greatest(t.rows, m.rows * t.vanished_share)
