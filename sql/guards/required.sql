-- guard: blank
-- No record of a job has a member that every record of its kind has: judges first crawls, which nothing is known of.
-- grain: one row a crawl, table and column
-- Table `missing_count`: src/warehouse/guard-counts.ts. `threshold`: warehouse.guards
select
  r.task,
  r.crawl,
  m.job as accept_job,
  true as whole_job,
  m.table_name,
  m.column_name,
  m.rows,
  m.rows as total,
  m.examples,
  format('none of {} records has the {} of {}', m.rows, m.column_name, m.table_name) as problem
from missing_count as m
join ready as r using (job)
cross join threshold as t
where m.rows >= t.few_rows
