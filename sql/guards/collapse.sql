-- guard: collapse
-- needs: collapse_count
-- A steady column would take one value in most rows of a job: what a server sends whose own look-up failed (every amount 0, every
-- owner the zero address). Few rows had the value before, because most change to it.
-- grain: one row a crawl, table and column
-- Table `collapse_count`: src/publish/guard-counts.ts. `threshold`: warehouse.guards
select
  r.task,
  r.crawl,
  r.job as accept_job,
  true as whole_job,
  c.table_name,
  c.column_name,
  c.rows,
  c.total,
  c.examples,
  format('the {} of {} of {} rows of {} would become {}', c.column_name, c.rows, c.total, c.table_name, left(c.value, 80)) as problem
from collapse_count as c
join ready as r using (job)
