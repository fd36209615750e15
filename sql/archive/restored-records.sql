-- The lines of an archived segment's record file as they stood in the landing log. A text that is kept with another record
-- gets the head of this one, as src/landing/render-page.ts wrote it.
-- grain: one row a record, in the file's order
-- $files: the archived record files that have some of its texts. Tables `restored_text`, `found_text`: sql/archive/
with
-- A kill while texts were moved may have left one in two files.
by_name as (
  select f.text_segment, f.text_number, any_value(k.line) as line
  from read_parquet($files) as k
  join (
    -- Not all of the segment's: a thinned one has few.
    from found_text
    semi join restored_text using (text_segment, text_number)
  ) as f on f.stored_segment = k.text_segment and f.stored_number = k.text_number
  group by f.text_segment, f.text_number
),
record as (
  select r.task, r.crawl, r.page, r.slot, r.end_offset, r.n, k.line
  from restored_text as r
  join by_name as k using (text_segment, text_number)
)
select
  '{"task":"' || task || '","crawl":"' || crawl || '","page":' || page || ',"slot":' || coalesce(slot, 'null')
  || ',"n":' || n || regexp_extract(line, '^\{"task":"[^"]*","crawl":"[^"]*","page":\d+,"slot":[^,]*,"n":\d+(.*)$', 1, 's')
    as line
from record
order by end_offset, n
