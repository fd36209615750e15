-- The lines of a segment's page file, each with where its records' text is kept: here, or with the first page that
-- had the same records.
-- grain: one row a line
-- $pages: the page file. $segment: its number. Table `kept`: pages whose records are archived already.
create or replace temp table page as
with line as (
  select
    json::varchar as line,
    json ->> '$.kind' as kind,
    json ->> '$.task' as task,
    json ->> '$.crawl' as crawl,
    (json ->> '$.page')::bigint as page,
    (json ->> '$.records')::bigint as records,
    json ->> '$.content' as content
  from read_ndjson_objects($pages, maximum_object_size = 16777216)
),
own as (
  select
    content,
    min_by(
      {'segment': $segment::bigint, 'task': task, 'crawl': crawl, 'page': page},
      (task, crawl, page)
    ) as place
  from line
  where kind = 'page' and records > 0
  group by content
)
select
  l.line,
  l.content,
  l.task,
  l.crawl,
  l.page,
  coalesce(k.kept_segment, o.place.segment) as kept_segment,
  coalesce(k.kept_task, o.place.task) as kept_task,
  coalesce(k.kept_crawl, o.place.crawl) as kept_crawl,
  coalesce(k.kept_page, o.place.page) as kept_page
from line as l
left join kept as k on k.content = l.content and l.kind = 'page' and l.records > 0
left join own as o on o.content = l.content and l.kind = 'page' and l.records > 0;
