-- guard: blank
-- needs: missing_count
-- No record has a member that every record of its kind has. So first crawls are checked, too, which no stored row can be compared with.
-- grain: one row a crawl, table and column
-- Tables `guarded_crawl`: src/publish/guards.ts; `missing_count`: src/publish/guard-counts.ts. `threshold`: warehouse.guards
with found as (
  select scope, shape, m.*
  from missing_count as m
  join (select distinct scope, shape, job from guarded_crawl) using (job)
),
whole as (
  select
    scope,
    shape,
    table_name,
    column_name,
    sum(rows)::bigint as rows,
    min_by(examples, job) as examples
  from found
  group by
    scope,
    shape,
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
  w.rows as total,
  w.examples,
  format('none of {} records has the {} of {}', w.rows, w.column_name, w.table_name) as problem
from whole as w
join found using (scope, shape, table_name, column_name)
join guarded_crawl as r using (scope, shape, job)
cross join threshold as t
where w.rows >= t.few_rows
  -- Where other jobs' records have it, it is not the member that was renamed.
  and not exists (
    from guarded_crawl as o
    where o.scope = w.scope and o.shape = w.shape and o.records > 0
      and not exists (
        from missing_count as m
        where m.job = o.job and m.table_name = w.table_name and m.column_name = w.column_name
      )
  )
