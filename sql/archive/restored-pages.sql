-- The lines of an archived segment's page file, and what each says of its page's records.
-- grain: one row a line
-- $pages: the archived page file
-- kept_…: where the records of a page without digests stand
create or replace temp table restored_page as
with parsed as (
  -- One function on JSON: each holds the text of many lines several times over.
  select
    *,
    from_json(line, '{"slot": "VARCHAR", "end_offset": "BIGINT", "records": "BIGINT", "digests": "VARCHAR"}') as parsed
  from read_parquet($pages)
)
select
  line_number,
  line,
  line_md5,
  task,
  crawl,
  page,
  parsed.slot as slot,
  parsed.end_offset as end_offset,
  parsed.records as records,
  if(kept_segment is null, parsed.digests, null) as digests,
  kept_segment,
  kept_task,
  kept_crawl,
  kept_page
from parsed;
