-- The lines of a segment's page file, exactly, and which records they speak of.
-- grain: one row a line
-- $pages: the page file. $longest_page_line: bytes of the longest line that may come. $segment: its number.
-- A page whose line has digests finds its records' texts by them, wherever they are kept; one without finds them here, by
-- its place.
create or replace temp table page as
with numbered as (
  select row_number() over () as line_number, json
  from read_ndjson_objects($pages, maximum_object_size = $longest_page_line)
),
-- One function on JSON: each holds the text of many lines several times over.
parsed as (
  select
    line_number,
    json::varchar as line,
    from_json(
      json,
      '{
        "kind": "VARCHAR", "task": "VARCHAR", "crawl": "VARCHAR", "run": "VARCHAR", "page": "BIGINT",
        "records": "BIGINT", "digests": "VARCHAR"
      }'
    ) as parsed
  from numbered
),
line as (
  select line_number, line, unnest(parsed)
  from parsed
)
select
  line_number,
  line,
  kind,
  task,
  crawl,
  run,
  page,
  records,
  digests,
  if(kind = 'page' and records > 0 and digests is null, $segment::bigint, null) as kept_segment,
  if(kept_segment is null, null, task) as kept_task,
  if(kept_segment is null, null, crawl) as kept_crawl,
  if(kept_segment is null, null, page) as kept_page
from line;
