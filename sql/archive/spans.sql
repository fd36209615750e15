-- Crawls and runs that have lines in more than one segment: their segments are replayed together.
-- grain: one row a crawl or run
-- Table `segment_line`: segment, task, crawl, run of every page, slice of ids or failure, archived or landed
select min(segment) as first, max(segment) as last
from segment_line
group by
  task,
  crawl
having first < last
union
select min(segment) as first, max(segment) as last
from segment_line
group by run
having first < last
