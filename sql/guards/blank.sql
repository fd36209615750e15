-- guard: blank
-- needs: blank_count
-- A column would become NULL in more rows that live on than a ledger empties: a member was renamed, dropped or retyped.
-- grain: one row a crawl, table and column
-- Tables `guarded_crawl`: src/publish/guards.ts; `blank_count`: src/publish/guard-counts.ts. `threshold`: warehouse.guards
with found as (
  select scope, b.*
  from blank_count as b
  join (select distinct scope, job from guarded_crawl) using (job)
  where not exists (
    from accepted_finding as a
    where a.guard = 'blank' and a.for_job = b.job and a.column_name = b.column_name
  )
),
whole as (
  select
    scope,
    table_name,
    column_name,
    any_value(steady) as steady,
    sum(rows)::bigint as rows,
    sum(total)::bigint as total,
    min_by(examples, job) as examples
  from found
  group by
    scope,
    table_name,
    column_name
)
select
  r.task,
  r.crawl,
  r.job as accept_job,
  true as whole_job,
  w.table_name,
  w.column_name,
  w.rows,
  w.total,
  w.examples,
  format('{} of {} rows of {} would lose their {}', w.rows, w.total, w.table_name, w.column_name) as problem
from whole as w
join found using (scope, table_name, column_name)
join guarded_crawl as r using (scope, job)
cross join threshold as t
where case
  when not w.steady then w.total >= t.rows and w.rows > w.total * t.blank_other_share
  -- The least share of a small job, where few rows are many.
  when w.total < t.rows then w.total >= t.few_rows and w.rows * 2 >= w.total
  else w.rows > greatest(t.rows, w.total * t.blank_share) or w.rows * 2 > w.total
end
