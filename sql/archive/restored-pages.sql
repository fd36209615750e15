-- The lines of an archived segment's page file, and what each says of its page's records.
-- grain: one row a line
-- $pages: the archived page file
-- kept_…: where the records of a page without digests are. text_…: the names of texts that replace digests in archived lines
-- (sql/archive/archived-pages.sql); sql/archive/restored-lines.sql puts the digests back.
create or replace temp table restored_page as
with archived as (
  -- Files of older versions name no texts.
  select null::bigint[] as text_segments, null::integer[] as text_numbers
  where false
  union all by name
  select *
  from read_parquet($pages)
),
parsed as (
  -- One function on JSON: each holds the text of many lines several times over.
  select
    *,
    from_json(line, '{"slot": "VARCHAR", "end_offset": "BIGINT", "records": "BIGINT"}') as parsed
  from archived
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
  text_segments,
  text_numbers,
  kept_segment,
  kept_task,
  kept_crawl,
  kept_page
from parsed;
