-- guard: blank
-- needs: blank_count
-- A column would become NULL in more rows that live on than a ledger empties: a member was renamed, dropped or retyped. Over all jobs
-- of a run, those rows of jobs count that would lose most of theirs, and only these jobs are held.
-- grain: one row a crawl, table and column
-- Tables `guarded_crawl`: src/publish/guards.ts; `blank_count`: src/publish/guard-counts.ts. `threshold`: warehouse.guards
with found as (
  select scope, scope <> '' or b.rows * 2 > b.total as counts, b.*
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
    sum(rows) filter (where counts)::bigint as rows,
    sum(total)::bigint as total,
    min_by(examples, job) filter (where counts) as examples
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
where found.counts and case
  when not w.steady then w.total >= t.rows and w.rows > w.total * t.blank_other_share
  -- The least share of a small job, where few rows are many.
  when w.total < t.rows then w.total >= t.few_rows and w.rows * 2 >= w.total
  else w.rows > greatest(t.rows, w.total * t.blank_share) or w.rows * 2 > w.total
end
