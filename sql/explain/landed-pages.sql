-- As archived-pages.sql, of segments that are still in the landing log.
-- grain: one row a page
-- $pages: page files; $pattern: regular expression
select
  regexp_extract(filename, '(\d+)\.pages\.ndjson$', 1)::bigint as segment,
  json::varchar as line
from read_ndjson_objects($pages, filename = true, maximum_object_size = 8388608)
where starts_with(json::varchar, '{"kind":"page"') and regexp_matches(json::varchar, $pattern)
