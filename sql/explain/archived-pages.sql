-- The lines of some archived pages whose text matches a pattern.
-- grain: one row a page
-- $pages: archived page files; $pattern: regular expression
select
  regexp_extract(filename, '(\d+)\.pages\.parquet$', 1)::bigint as segment,
  line
from read_parquet($pages, filename = true)
where kind = 'page' and regexp_matches(line, $pattern)
