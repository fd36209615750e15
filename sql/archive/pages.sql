-- The lines of a segment's page file, each with where its records' text is kept: here, or with the first page that
-- had the same records.
-- grain: one row a line
-- $pages: the page file. $longest_page_line: bytes of the longest line that may come. $segment: its number.
-- Table `kept`: pages whose records are archived already.
-- line_md5 shows, when the segment is restored, that the archive gave back what it was given.
create or replace temp table page as
with numbered as (
  select row_number() over () as line_number, json
  from read_ndjson_objects($pages, maximum_object_size = $longest_page_line)
),
-- One function on JSON: each holds the text of many lines several times over.
told as (
  select
    line_number,
    json::varchar as line,
    md5(json::varchar) as line_md5,
    from_json(
      json,
      '{
        "kind": "VARCHAR", "task": "VARCHAR", "crawl": "VARCHAR", "run": "VARCHAR", "page": "BIGINT",
        "records": "BIGINT", "content": "VARCHAR"
      }'
    ) as told
  from numbered
),
line as (
  select line_number, line, line_md5, unnest(told)
  from told
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
  l.line_number,
  l.line,
  l.line_md5,
  l.kind,
  l.task,
  l.crawl,
  l.run,
  l.page,
  l.content,
  coalesce(k.kept_segment, o.place.segment) as kept_segment,
  coalesce(k.kept_task, o.place.task) as kept_task,
  coalesce(k.kept_crawl, o.place.crawl) as kept_crawl,
  coalesce(k.kept_page, o.place.page) as kept_page
from line as l
left join kept as k on k.content = l.content and l.kind = 'page' and l.records > 0
left join own as o on o.content = l.content and l.kind = 'page' and l.records > 0;
