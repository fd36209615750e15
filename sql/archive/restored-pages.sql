-- The lines of an archived segment's page file, and of each page where its records stand.
-- grain: one row a line
-- $pages: the archived page file
create or replace temp table restored_page as
with told as (
  -- One function on JSON: each holds the text of many lines several times over.
  select *, from_json(line, '{"slot": "VARCHAR", "end_offset": "BIGINT"}') as told
  from read_parquet($pages)
)
select
  line_number,
  line,
  line_md5,
  task,
  crawl,
  page,
  told.slot as slot,
  told.end_offset as end_offset,
  kept_segment,
  kept_task,
  kept_crawl,
  kept_page
from told;
