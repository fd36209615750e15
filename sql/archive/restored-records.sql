-- The lines of an archived segment's record file as they stood in the landing log. A text that is kept with another record
-- gets the head of this one, as src/landing/render-page.ts wrote it.
-- grain: one row a record, in the file's order
-- $files: the archived record files that have some of its texts, or records. Tables `restored_page`, `restored_text`,
-- `found_text`: sql/archive/
with text as (
  -- Files of older versions name no texts.
  select null::bigint as text_segment, null::integer as text_number
  where false
  union all by name
  select *
  from read_parquet($files, filename = true, union_by_name = true)
),
kept as (
  select
    regexp_extract(filename, '(\d+)\.parquet$', 1)::bigint as kept_segment,
    task,
    crawl,
    page,
    n,
    text_segment,
    text_number,
    line
  from text
),
-- A kill while texts were moved may have left one in two files.
by_name as (
  select f.text_segment, f.text_number, any_value(k.line) as line
  from kept as k
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
  union all
  select p.task, p.crawl, p.page, p.slot, p.end_offset, k.n, k.line
  from restored_page as p
  join kept as k
    on k.kept_segment = p.kept_segment
    and k.task = p.kept_task
    and k.crawl = p.kept_crawl
    and k.page = p.kept_page
)
select
  '{"task":"' || task || '","crawl":"' || crawl || '","page":' || page || ',"slot":' || coalesce(slot, 'null')
  || ',"n":' || n || regexp_extract(line, '^\{"task":"[^"]*","crawl":"[^"]*","page":\d+,"slot":[^,]*,"n":\d+(.*)$', 1, 's')
    as line
from record
order by end_offset, n
