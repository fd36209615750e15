-- The lines of a segment's record file, exactly, without the pages whose records are kept elsewhere.
-- grain: one row a record
-- $records: the record file. $segment: its number. Table `page`: sql/archive/pages.sql
with line as (
  select
    json::varchar as line,
    regexp_extract(
      json::varchar,
      '^\{"task":"([^"]*)","crawl":"([^"]*)","page":(\d+),"slot":[^,]*,"n":(\d+)',
      ['task', 'crawl', 'page', 'n']
    ) as place
  from read_ndjson_objects($records, maximum_object_size = $longest_line)
)
select
  p.task,
  p.crawl,
  p.page,
  l.place.n::bigint as n,
  l.line
from line as l
join page as p
  on p.task = l.place.task
  and p.crawl = l.place.crawl
  and p.page = l.place.page::bigint
where p.kept_segment = $segment
  and p.kept_task = p.task
  and p.kept_crawl = p.crawl
  and p.kept_page = p.page
