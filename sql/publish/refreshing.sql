-- The crawls of a round that crawls anew what was reset (`run --full-refresh`, `state reset`): what they show replaces rows of before.
-- grain: one row a crawl
-- $names, $firsts, $lasts, in one order: job or job/target, the run of the reset, the last run of the round ('': it is open)
-- since: the run of the reset. A crawl's name begins with that of the run that began it.
create or replace temp table refreshing as
select c.task, c.crawl, max(r.first_run) as since
from crawl_state as c
join (
  select unnest($names::varchar[]) as name, unnest($firsts::varchar[]) as first_run, unnest($lasts::varchar[]) as last_run
) as r
  on r.name in (c.job, c.job || '/' || c.target)
  and c.crawl >= r.first_run
  and (r.last_run = '' or c.crawl <= r.last_run || '~')
group by
  c.task,
  c.crawl;
