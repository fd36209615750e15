-- The operation and parameters of the ready crawls' targets, which say what rows they should show (sql/members/, sql/asked/).
-- grain: one row a target
-- $operations: those that have such a file
-- Look-ups of built-in jobs have no target. Those of the latest crawl are kept, in whichever order crawls are published.
create or replace temp table crawled_target as
with batch as (
  select task, crawl, list(distinct id order by id) as ids
  from requested_id
  group by
    task,
    crawl
)
select
  r.job,
  r.target,
  r.operation,
  r.params::varchar as params,
  b.ids,
  r.crawl
from ready as r
left join batch as b using (task, crawl)
where r.operation in (select unnest($operations::varchar[]))
  and r.job not like '\_%' escape '\'
qualify row_number() over (partition by r.job, r.target order by r.crawl desc) = 1;
