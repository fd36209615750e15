-- guard: vanished
-- needs: vanished
-- More rows of a target would leave than its list loses in a night. Rows that can be looked up do not count: they are looked up instead.
-- grain: one row a crawl and table
-- Tables `gone_count`, `member_count`: src/publish/absence.ts. `threshold`: warehouse.guards
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
from gone_count as g
join member_count as m using (task, crawl, table_name)
join ready as r using (task, crawl)
cross join threshold as t
where g.rows > greatest(t.rows, m.rows * t.vanished_share)
