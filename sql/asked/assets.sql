-- Assets that the ready crawls requested by id.
-- grain: one row a page and id
-- table: assets
-- answered in: assets
select
  a.task,
  a.crawl,
  a.page,
  a.id as key
from requested_id as a
join ready as r using (task, crawl)
where r.operation = 'getAssetBatch'
union all
select
  task,
  crawl,
  1 as page,
  params ->> '$.id' as key
from ready
where operation = 'getAsset'
