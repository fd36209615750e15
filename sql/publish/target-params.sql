-- Notes what the ready crawls asked for: which rows their targets should show (sql/members/, sql/asked/).
-- grain: one row a target
-- $operations: those that such a file is of
-- Look-ups of built-in jobs are of no target. A later crawl's stand, in whichever order crawls are published.
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
