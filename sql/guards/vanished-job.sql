-- guard: vanished
-- needs: vanished
-- More rows would leave over all targets of a job than its lists lose in a night, or all rows of a small job. Targets without a crawl
-- in this publish count with the rows that their latest crawls closed, because small budgets may cut a night into several. Over all
-- jobs of a run, the losses of jobs count that would lose most of their rows, and only these jobs are held.
-- grain: one row a crawl that lost rows, and table
-- Tables `guarded_crawl`: src/publish/guards.ts; `gone_count`, `member_count`: src/publish/absence.ts; meta.closed.
-- `threshold`: warehouse.guards
with present_target as (
  select
    r.scope,
    r.whole,
    r.job,
    r.target,
    r.range_name as range,
    m.table_name,
    coalesce(g.rows, 0) as rows,
    m.rows as total,
    g.examples
  from member_count as m
  join guarded_crawl as r using (task, crawl)
  left join gone_count as g using (task, crawl, table_name)
),
closed_lately as (
  select k.*
  from meta.closed as k
  where not k.by_look_up
    and k.closed_at > (select max(finished_at) from guarded_crawl) - window_of_closed()
),
-- The jobs whose rows are counted together. Over all jobs of a run, jobs of earlier runs that closed rows of the same table, too.
scope_job as (
  select scope, whole, table_name, job
  from present_target
  union
  select o.scope, o.whole, table_name, k.job
  from closed_lately as k
  join present_target as o using (table_name)
  where o.scope = ''
),
latest_crawl as (
  select
    job,
    target,
    range,
    max_by(records, crawl) as records
  from meta.checkpoints
  where state = 'complete' and kind = 'full'
  group by
    job,
    target,
    range
),
other_target as (
  select
    p.scope,
    p.whole,
    l.job,
    l.target,
    p.table_name,
    coalesce(k.rows, 0) as rows,
    l.records + coalesce(k.rows, 0) as total,
    null::varchar[] as examples
  from scope_job as p
  join latest_crawl as l using (job)
  left join closed_lately as k
    on k.job = l.job and k.target = l.target and k.range = l.range and k.table_name = p.table_name
  where not exists (
    from present_target as o
    where o.job = l.job and o.target = l.target and o.range = l.range
  )
),
counted_job as (
  select
    scope,
    table_name,
    job,
    any_value(whole) as whole,
    sum(rows)::bigint as rows,
    sum(total)::bigint as total,
    count(distinct target) filter (where total > 0) as targets,
    min_by(examples, target) filter (where examples is not null) as examples,
    scope <> '' or sum(rows) * 2 > sum(total) as counts
  from (
    select * exclude (range)
    from present_target
    union all by name
    select *
    from other_target
  )
  group by
    scope,
    table_name,
    job
),
counted_scope as (
  select
    scope,
    table_name,
    any_value(whole) as whole,
    sum(rows) filter (where counts)::bigint as rows,
    sum(total)::bigint as total,
    sum(targets) as targets,
    min_by(examples, job) filter (where counts and examples is not null) as examples
  from counted_job
  group by
    scope,
    table_name
)
select
  g.task,
  g.crawl,
  job as accept_job,
  true as whole_job,
  w.table_name,
  null::varchar as column_name,
  w.rows,
  w.total,
  w.examples,
  format('{} of {} rows of {} are not listed any more', w.rows, w.total, w.whole) as problem
from counted_scope as w
join (select scope, table_name, job from counted_job where counts) using (scope, table_name)
join guarded_crawl as r using (scope, job)
join gone_count as g on g.task = r.task and g.crawl = r.crawl and g.table_name = w.table_name
cross join threshold as t
where w.rows > greatest(t.rows, w.total * t.vanished_job_share)
  -- One empty wallet is a wallet that was emptied; all of them at once are not.
  or (w.rows = w.total and w.total >= t.few_rows and w.targets > 1)
