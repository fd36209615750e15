-- Rows that the ready crawls would close because their lists, which nobody can ask further, do not show them.
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
  -- What a crawl is not sure of is closed when it is missed once more.
  and (not v.unsure or exists (
    from meta.absent as a
    where a.table_name = v.table_name and a.key = v.key
  ))
group by
  task,
  crawl,
  table_name
