-- How many rows the ready crawls would close because their lists do not show them, and no look-up can confirm it.
-- grain: one row a crawl and table
-- Tables `vanished`: src/publish/absence.ts; meta.absent
select
  task,
  crawl,
  table_name,
  count(*) as rows,
  min(key, 3) as examples
from vanished as v
where v.lookup is null
  -- A row that an unsure crawl missed is closed when it is missed once more.
  and (not v.unsure or exists (
    from meta.absent as a
    where a.table_name = v.table_name and a.key = v.key
  ))
group by
  task,
  crawl,
  table_name
