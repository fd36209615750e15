-- The lines of an archived segment's page file, and of each page where its records stand.
-- grain: one row a line
-- $pages: the archived page file
create or replace temp table restored_page as
select
  line_number,
  line,
  line_md5,
  task,
  crawl,
  page,
  line::json ->> '$.slot' as slot,
  (line::json ->> '$.end_offset')::bigint as end_offset,
  kept_segment,
  kept_task,
  kept_crawl,
  kept_page
from read_parquet($pages);
