-- The texts of a segment's records: their digests, and where each is stored: the record file, and its name there.
-- grain: one row a text
-- $files: all of the archive's. Table `restored_text`: sql/archive/restored-texts.sql
create or replace temp table found_text as
with text as (
  -- Files of older versions name no texts.
  select
    null::bigint as text_segment,
    null::integer as text_number,
    null::uuid as digest,
    null::varchar as filename
  where false
  union all by name
  select * exclude (line)
  from read_parquet($files, filename = true, union_by_name = true)
)
-- A kill while texts were moved may have left one in two files.
select
  text_segment,
  text_number,
  any_value(digest) as digest,
  any_value(filename) as filename,
  text_segment as stored_segment,
  text_number as stored_number
from text
semi join restored_text using (text_segment, text_number)
group by text_segment, text_number;
