-- The lines of a segment's page file, exactly, and which records they speak of.
-- grain: one row a line
-- $pages: the page file.
create or replace temp table page as
with numbered as (
  select row_number() over () as line_number, json
  from read_ndjson_objects($pages, maximum_object_size = 8388608)
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
  digests
from line;
