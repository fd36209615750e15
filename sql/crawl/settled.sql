-- Crawls that look open in the landing log and are not: their last pages are in the archive already, and another target's
-- open crawl keeps the first ones. A checkpoint says that they ended, or that a later crawl of the task is complete; a feed's
-- crawls follow each other down, so none takes another's place.
-- grain: one row a crawl (task, crawl)
-- $tasks, $crawls: the crawls that look open, in one order
select distinct looks_open.task, looks_open.crawl
from (select unnest($tasks) as task, unnest($crawls) as crawl) as looks_open
join meta.checkpoints as c using (task)
where c.crawl = looks_open.crawl and c.state <> 'open'
  or c.state = 'complete' and c.kind <> 'feed' and c.crawl > looks_open.crawl
