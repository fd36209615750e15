-- The lines of an archived segment's page file, and what each says of its page's records.
-- grain: one row a line
-- $pages: the archived page file
-- text_…: the names of texts that replace digests in archived lines
-- (sql/archive/archived-pages.sql); sql/archive/restored-lines.sql puts the digests back.
create or replace temp table restored_page as
with parsed as (
  -- One function on JSON: each holds the text of many lines several times over.
  select
    *,
    from_json(line, '{"slot": "VARCHAR", "end_offset": "BIGINT", "records": "BIGINT"}') as parsed
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
  text_segments,
  text_numbers
from parsed;
