-- What this step refused, for the report.
-- grain: one row a refusal: the crawls of one id, or of a job and target that an audit refused. Of several targets, what was
-- counted over the job is shown; of one, what was counted over the target
-- Tables `refused`: src/publish/guards.ts; `crawl_state`: sql/publish/crawl-states.sql
with found as (
  select job, target, r.*,
    count(distinct target) over (partition by id) as targets,
    bool_or(whole_job) over (partition by id) as has_whole,
    bool_and(whole_job) over (partition by id) as only_whole
  from refused as r
  join crawl_state using (task, crawl)
)
select
  job,
  if(count(distinct target) = 1, any_value(target), '') as target,
  min(reason) as reason,
  guard,
  id,
  column_name as "column",
  max(rows)::double as rows,
  max(total)::double as total,
  arg_min(examples, reason) as examples,
  count(distinct target)::double as targets
from found
where guard is null or whole_job = (targets > 1 and has_whole or only_whole)
group by
  id,
  job,
  guard,
  column_name,
  if(id is null, target, '')
order by
  job,
  guard,
  target,
  column_name
