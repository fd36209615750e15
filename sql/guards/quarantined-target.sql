-- guard: quarantined
-- needs: cast_error_count
-- More records of a crawl have something that does not fit than odd records are.
-- grain: one row a crawl
-- Table `cast_error_count`: sql/publish/cast-errors.sql. `threshold`: warehouse.quarantine_limit
select
  task,
  crawl,
  r.job as accept_job,
  false as whole_job,
  null::varchar as table_name,
  null::varchar as column_name,
  m.quarantined as rows,
  r.records as total,
  m.examples,
  format('{} of {} records were quarantined, mostly because: {}', m.quarantined, r.records, m.problem) as problem
from ready as r
join cast_error_count as m using (task, crawl)
cross join threshold as t
where m.quarantined > greatest(t.rows, r.records * t.quarantine_limit)
