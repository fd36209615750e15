-- The lines of a segment's record file whose text the archive does not have yet, exactly.
-- grain: one row a record
-- $records: the record file. $longest_line: bytes of the longest line that may come. Table `new_text`: sql/archive/new-texts.sql
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
  t.task,
  t.crawl,
  t.page,
  t.n,
  t.digest,
  t.text_segment,
  t.text_number,
  l.line
from line as l
join new_text as t
  on t.task = l.place.task
  and t.crawl = l.place.crawl
  and t.page = try_cast(l.place.page as bigint)
  and t.n = try_cast(l.place.n as bigint)
