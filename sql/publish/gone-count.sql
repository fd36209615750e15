-- How many rows the ready crawls would close because their lists do not show them, and no look-up can confirm it.
-- grain: one row a crawl and table
-- Table `vanished`: src/publish/absence.ts
select
  task,
  crawl,
  table_name,
  count(*) as rows,
  min(key, 3) as examples
from vanished
where closes
group by
  task,
  crawl,
  table_name
