-- The crawls of a round that crawls anew what was reset: what they show replaces rows of before.
-- grain: one row a crawl
-- Table `refresh`: sql/publish/refresh.sql
-- since: the run of the reset. A crawl's name begins with that of the run that began it.
create or replace temp table refreshing as
select c.task, c.crawl, max(r.first_run) as since
from crawl_state as c
join refresh as r
  on r.name in (c.job, c.job || '/' || c.target)
  and c.crawl >= r.first_run
  and (r.last_run = '' or c.crawl <= r.last_run || '~')
group by
  c.task,
  c.crawl;
