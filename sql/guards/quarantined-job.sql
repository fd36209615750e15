-- guard: quarantined
-- needs: cast_error_count
-- More records of all crawls of a job have something that does not fit than odd records are, or all of them have: a
-- format that broke is no success.
-- grain: one row a crawl
-- Tables `guarded_crawl`: src/publish/guards.ts; `cast_error_count`: sql/publish/cast-errors.sql. `threshold`: warehouse.quarantine_limit
with whole as (
  select
    r.scope,
    r.shape,
    any_value(r.whole) as whole,
    coalesce(sum(m.quarantined), 0)::bigint as rows,
    sum(r.records)::bigint as total,
    max_by(m.problem, m.quarantined) as problem,
    max_by(m.examples, m.quarantined) as examples
  from guarded_crawl as r
  left join cast_error_count as m using (task, crawl)
  group by
    r.scope,
    r.shape
)
select
  r.task,
  r.crawl,
  r.job as accept_job,
  true as whole_job,
  null::varchar as table_name,
  null::varchar as column_name,
  w.rows,
  w.total,
  w.examples,
  format('{} of {} records of {} were quarantined, mostly because: {}', w.rows, w.total, w.whole, w.problem) as problem
from whole as w
join guarded_crawl as r using (scope, shape)
cross join threshold as t
where r.job in (select j.job from cast_error_count join guarded_crawl as j using (task, crawl))
  and (
    w.rows > greatest(t.rows, w.total * t.quarantine_limit)
    or (w.rows = w.total and w.total >= t.few_rows)
  )
