-- guard: stale
-- Most records of a job are older than what earlier answers brought: the source went back, and newer-wins would freeze
-- every row until its slots are where they were.
-- grain: one row a crawl
-- Table `older_count`: src/warehouse/guard-counts.ts. `threshold`: warehouse.guards
select
  r.task,
  r.crawl,
  o.job as accept_job,
  true as whole_job,
  o.table_name,
  null::varchar as column_name,
  o.rows,
  o.total,
  o.examples,
  format('{} of {} records of the job are older than what the tables have', o.rows, o.total) as problem
from older_count as o
join ready as r using (job)
cross join threshold as t
where o.total >= t.few_rows
  and o.rows > o.total * t.stale_share
