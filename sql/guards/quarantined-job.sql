-- guard: quarantined
-- More records of all crawls of a job have something that does not fit than odd records are, or all of them have: a
-- format that broke is no success.
-- grain: one row a crawl
-- Table `misfit_count`: sql/publish/misfits.sql. `threshold`: warehouse.quarantine_limit
with whole as (
  select
    r.job,
    coalesce(sum(m.quarantined), 0)::bigint as rows,
    sum(r.records)::bigint as total,
    max_by(m.problem, m.quarantined) as problem,
    max_by(m.examples, m.quarantined) as examples
  from ready as r
  left join misfit_count as m using (task, crawl)
  group by r.job
)
select
  r.task,
  r.crawl,
  job as accept_job,
  true as whole_job,
  null::varchar as table_name,
  null::varchar as column_name,
  w.rows,
  w.total,
  w.examples,
  format('{} of {} records of the job were quarantined, mostly because: {}', w.rows, w.total, w.problem) as problem
from whole as w
join ready as r using (job)
cross join threshold as t
where w.rows > greatest(t.rows, w.total * t.quarantine_limit)
  or (w.rows = w.total and w.total >= t.few_rows)
