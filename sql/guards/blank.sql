-- guard: blank
-- A column would become NULL in more rows that live on than a ledger empties: a member was renamed, dropped or retyped.
-- grain: one row a crawl, table and column
-- Table `blank_count`: src/warehouse/guard-counts.ts. `threshold`: warehouse.guards
select
  r.task,
  r.crawl,
  b.job as accept_job,
  true as whole_job,
  b.table_name,
  b.column_name,
  b.rows,
  b.total,
  b.examples,
  format('{} of {} rows of {} would lose their {}', b.rows, b.total, b.table_name, b.column_name) as problem
from blank_count as b
join ready as r using (job)
cross join threshold as t
where case
  when not b.steady then b.total >= t.rows and b.rows > b.total * t.blank_other_share
  -- The least share of a small job, where few rows are many.
  when b.total < t.rows then b.total >= t.few_rows and b.rows * 2 >= b.total
  else b.rows > greatest(t.rows, b.total * t.blank_share) or b.rows * 2 > b.total
end
